package game

import (
	"context"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// usual returns where a game's program may be outside the system's path: where installers have registered it.
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

// openerTells says that here the program that opens links succeeds, whatever happens to the link.
const openerTells = false

// opens reports whether something handles links of a scheme.
func opens(_ context.Context, scheme string) bool { return hasOpener(scheme) }

// hasOpener reports whether a handler for links of a scheme is known. The registry lists all of them; Steam is not in
// the PATH here.
func hasOpener(scheme string) bool {
	key, err := registry.OpenKey(registry.CLASSES_ROOT, scheme, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer key.Close()
	_, _, err = key.GetStringValue("URL Protocol")
	return err == nil
}
