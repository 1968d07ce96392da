//go:build unix

package game

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// usual are the files that a game's program may be where the system does not look: of
// the packages of Debian, of Flatpak and of Snap.
func usual(program string) []string {
	folders := []string{"/usr/games", "/usr/local/games", "/var/lib/flatpak/exports/bin", "/snap/bin"}
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, filepath.Join(home, ".local/share/flatpak/exports/bin"))
	}
	if runtime.GOOS == "darwin" {
		folders = append(folders, "/opt/homebrew/bin", "/usr/local/bin")
	}
	for i := range folders {
		folders[i] = filepath.Join(folders[i], program)
	}
	return folders
}

// openerTells: what opens links ends badly where nothing opens one.
const openerTells = true

// opens reports whether something is there for links of a scheme, or nobody can tell.
func opens(ctx context.Context, scheme string) bool {
	asker, err := exec.LookPath("xdg-mime")
	if err != nil || runtime.GOOS == "darwin" {
		return true
	}
	handler, err := exec.CommandContext(ctx, asker, "query", "default", "x-scheme-handler/"+scheme).Output()
	return err != nil || strings.TrimSpace(string(handler)) != ""
}

// hasOpener reports whether the program that opens links of a scheme is known to be there:
// Steam is a program like any other, or Flatpak's, and of the others nobody knows.
func hasOpener(scheme string) bool {
	if scheme != "steam" {
		return false
	}
	_, err := locate(scheme)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		_, err = locate("com.valvesoftware.Steam")
	}
	return err == nil || errors.Is(err, exec.ErrDot)
}
