// Package register makes the system open muster:// links with this program.
//
//	Linux      ~/.local/share/applications/muster-open.desktop, and xdg-mime
//	Windows    HKEY_CURRENT_USER\Software\Classes\muster
//	macOS      ~/Applications/Muster Links.app, which osascript makes (untested)
//
// The registration is the user's own. It affects nobody else on this machine and needs no administrator.
package register

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Add registers a program, given by its path, and replaces any other. The system calls it with the word open and the
// link. where says what was written.
func Add(program string) (where string, err error) {
	if !filepath.IsAbs(program) || strings.ContainsFunc(program, unicode.IsControl) || strings.ContainsRune(program, '"') {
		return "", fmt.Errorf("register: no path that the system could start: %q", program)
	}
	return add(program)
}

// Remove undoes Add. where says what was removed; it is empty if there was nothing.
func Remove() (where string, err error) { return remove() }
