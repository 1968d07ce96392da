package game

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
