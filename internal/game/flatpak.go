package game

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/adrg/xdg"
)

// flatpakID matches the ids of Flatpak's applications.
var flatpakID = regexp.MustCompile(`^[A-Za-z_][0-9A-Za-z_]*(\.[0-9A-Za-z_-]+){2,}$`)

// flatpakWait is how long flatpak may take to say whether something is installed.
const flatpakWait = 3 * time.Second

// template returns how the game starts on this machine: by its program, or through Flatpak if only Flatpak has it.
func (g Game) template(ctx context.Context) []string {
	template := g.Template(runtime.GOOS)
	if id := g.flatpak(ctx, template); id != "" {
		return slices.Concat([]string{"flatpak", "run", id}, template[1:])
	}
	return template
}

// flatpak returns the game's Flatpak id on this machine. It is empty if the game's own program is here, or if Flatpak
// does not have it.
func (g Game) flatpak(ctx context.Context, template []string) string {
	if len(g.Flatpak) == 0 || runtime.GOOS != "linux" || len(template) == 0 || isURL(template[len(template)-1]) {
		return ""
	}
	if _, err := locate(template[0]); err == nil {
		return ""
	}
	if _, err := locate("flatpak"); err != nil {
		return ""
	}
	at := slices.IndexFunc(g.Flatpak, func(id string) bool { return hasFlatpak(ctx, id) })
	if at < 0 {
		return ""
	}
	return g.Flatpak[at]
}

// hasFlatpak reports whether an application is installed system-wide, for the user, or in another of flatpak's
// installations.
func hasFlatpak(ctx context.Context, id string) bool {
	if inSandbox() {
		_, err := locate(id)
		return err == nil
	}
	for _, folder := range []string{"/var/lib/flatpak", filepath.Join(xdg.DataHome, "flatpak")} {
		if _, err := os.Stat(filepath.Join(folder, "exports", "bin", id)); err == nil {
			return true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, flatpakWait)
	defer cancel()
	return exec.CommandContext(ctx, "flatpak", "info", id).Run() == nil
}

// programOf returns the program that a command starts.
func programOf(argv []string) string {
	if len(argv) > 2 && argv[0] == "flatpak" && argv[1] == "run" {
		return argv[2]
	}
	return argv[0]
}
