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

// usual returns where a game's program may be outside the system's path: in packages of Debian, Flatpak and Snap.
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

// openerTells says that the program that opens links fails if nothing handles one.
const openerTells = true

// opens reports whether something handles links of a scheme, or whether that is unknown.
func opens(ctx context.Context, scheme string) bool {
	asker, err := exec.LookPath("xdg-mime")
	if err != nil || runtime.GOOS == "darwin" || inSandbox() { // the sandbox does not know the machine's handlers
		return true
	}
	handler, err := exec.CommandContext(ctx, asker, "query", "default", "x-scheme-handler/"+scheme).Output()
	return err != nil || strings.TrimSpace(string(handler)) != ""
}

// hasOpener reports whether a handler for links of a scheme is known. Steam's is its own program or Flatpak's; others
// are unknown.
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
