package game

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Place is where a game lies on this machine.
type Place struct {
	// Path is its program, or its id in Flatpak, or the folder in which Steam has it, or the scheme of the links
	// that open it.
	Path string
	// By is what installed it, as far as its place tells: "Steam", "Flatpak", "Snap", or
	// empty.
	By string
}

// Where is where a game lies, without anything being started. Steam may be in any of the
// folders, and notes in its libraries which games it has. What else a link opens is known
// by its scheme alone.
func (g Game) Where(steam []string) (place Place, isHere bool) {
	if id := g.flatpak(context.Background(), g.Template(runtime.GOOS)); id != "" {
		return Place{Path: id, By: "Flatpak"}, true
	}
	program, isHere := g.Here()
	if program == "steam" {
		if libraries := librariesOf(steam); len(libraries) > 0 {
			return g.inSteam(libraries)
		}
		return Place{By: "Steam"}, isHere
	}
	path, err := locate(program)
	if err != nil { // a link's scheme, or a program that lies where one is
		return Place{Path: program}, isHere
	}
	place.Path = path
	switch slashed := filepath.ToSlash(path); {
	case strings.Contains(slashed, "/flatpak/"):
		place.By = "Flatpak"
	case strings.HasPrefix(slashed, "/snap/"):
		place.By = "Snap"
	}
	return place, isHere
}

// librariesOf are the folders in which Steam has games.
func librariesOf(steam []string) (libraries []string) {
	for _, folder := range steam {
		if info, err := os.Stat(filepath.Join(folder, "steamapps")); err == nil && info.IsDir() {
			libraries = append(append(libraries, folder), noted(filepath.Join(folder, "steamapps", "libraryfolders.vdf"), "path")...)
		}
	}
	return libraries
}

// inSteam looks for what Steam has noted of the game in one of its libraries.
func (g Game) inSteam(libraries []string) (place Place, isHere bool) {
	if g.AppID == 0 {
		return place, false
	}
	for _, library := range libraries {
		apps := filepath.Join(library, "steamapps")
		if dirs := noted(filepath.Join(apps, fmt.Sprintf("appmanifest_%d.acf", g.AppID)), "installdir"); len(dirs) > 0 {
			return Place{filepath.Join(apps, "common", filepath.Base(dirs[0])), "Steam"}, true
		}
	}
	return place, false
}

// mostNoted is the longest of Steam's notes that is read, in bytes: a library of thousands
// of games has far less.
const mostNoted = 1 << 20

// noted are the values of a key in one of Steam's text files, none if it cannot be read.
func noted(file, key string) (values []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostNoted))
	if err != nil {
		return nil
	}
	for _, found := range regexp.MustCompile(`"`+key+`"\s+"((?:[^"\\]|\\.)*)"`).FindAllSubmatch(text, -1) {
		values = append(values, strings.ReplaceAll(string(found[1]), `\\`, `\`))
	}
	return values
}
