// Package register has the system open muster:// links with this program.
//
//	Linux      ~/.local/share/applications/muster-open.desktop, and xdg-mime
//	Windows    HKEY_CURRENT_USER\Software\Classes\muster
//	macOS      ~/Applications/Muster Links.app, which osascript makes (untested)
//
// It is the user's own: nobody else's on this machine, and no administrator's affair.
package register

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Add registers a program, given by its path, in the place of any other. The system
// calls it with the word open and the link. Where is what was written.
func Add(program string) (where string, err error) {
	if !filepath.IsAbs(program) || strings.ContainsFunc(program, unicode.IsControl) || strings.ContainsRune(program, '"') {
		return "", fmt.Errorf("register: no path that the system could start: %q", program)
	}
	return add(program)
}

// Remove takes back what Add has done. Where is what was removed; it is empty if there
// was nothing.
func Remove() (where string, err error) { return remove() }
