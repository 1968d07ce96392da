package game

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"
)

// Muster itself may be a Flatpak. Its sandbox has no games, but shows the machine's programs under /run/host. A portal
// opens links, as the sandbox's own xdg-open asks it to; everything else starts by flatpak-spawn outside the sandbox.
//
//	xdg-open steam://connect/ADDRESS    as it is: the portal opens it
//	openarena +connect ADDRESS          flatpak-spawn --host openarena +connect ADDRESS
const (
	// flatpakInfo is the file that each Flatpak's sandbox has.
	flatpakInfo = "/.flatpak-info"
	// hostRoot is where the sandbox shows the machine's system.
	hostRoot = "/run/host"
	// spawner starts programs outside the sandbox.
	spawner = "flatpak-spawn"
)

// inSandbox reports whether this program runs in a Flatpak's sandbox.
var inSandbox = sync.OnceValue(func() bool {
	_, err := os.Stat(flatpakInfo)
	return runtime.GOOS == "linux" && err == nil
})

// outsideCommand returns the command that starts a program outside the sandbox, where it is at path. It runs in a folder, if
// that is not empty, and with the environment env added. A link's opener stays inside.
func outsideCommand(argv []string, path string, env []string, folder string) []string {
	if _, isLink := linkOf(argv); isLink {
		return argv
	}
	spawn := []string{spawner, "--host"}
	if folder != "" {
		spawn = append(spawn, "--directory="+folder)
	}
	for _, variable := range env {
		spawn = append(spawn, "--env="+variable)
	}
	return append(append(spawn, path), argv[1:]...)
}

// hostFolders are the folders of the machine's programs.
var hostFolders = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// locateOutside returns a program's path on the machine. sees reports whether the sandbox sees a path.
func locateOutside(program string, sees func(path string) bool) (string, error) {
	places := []string{program}
	if !strings.Contains(program, "/") {
		places = nil
		for _, folder := range hostFolders {
			places = append(places, filepath.Join(folder, program))
		}
		places = append(places, usual(program)...)
	}
	for _, place := range places {
		if sees(hostRoot+place) || sees(place) && !isOwnSystem(place) {
			return place, nil
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// isOwnSystem reports whether the sandbox has a folder of its own in a path's place.
func isOwnSystem(path string) bool {
	for _, folder := range []string{"/usr/", "/bin/", "/app/"} {
		if strings.HasPrefix(path, folder) {
			return true
		}
	}
	return false
}

// isThere reports whether there is a file, or a link whose target the sandbox cannot see.
func isThere(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeDir == 0
}

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
