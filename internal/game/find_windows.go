package game

import (
	"context"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// usual are the files that a game's program may be where the system does not look: what
// installers have noted of it.
func usual(program string) (files []string) {
	if filepath.Ext(program) == "" {
		program += ".exe"
	}
	for _, root := range []registry.Key{registry.CURRENT_USER, registry.LOCAL_MACHINE} {
		key, err := registry.OpenKey(root, `Software\Microsoft\Windows\CurrentVersion\App Paths\`+program, registry.QUERY_VALUE)
		if err != nil {
			continue
		}
		if file, _, err := key.GetStringValue(""); err == nil {
			files = append(files, strings.Trim(file, `"`))
		}
		key.Close()
	}
	return files
}

// openerTells: what opens links ends well here whatever comes of one.
const openerTells = false

// opens reports whether something is there for links of a scheme.
func opens(_ context.Context, scheme string) bool { return hasOpener(scheme) }

// hasOpener reports whether the program that opens links of a scheme is known to be there:
// the registry has all of them, and Steam is in no PATH here.
func hasOpener(scheme string) bool {
	key, err := registry.OpenKey(registry.CLASSES_ROOT, scheme, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer key.Close()
	_, _, err = key.GetStringValue("URL Protocol")
	return err == nil
}
