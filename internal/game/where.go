package game

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Place is where a game lies on this machine.
type Place struct {
	// Path is its program, its id in Flatpak, its folder in Steam, or the scheme of the links that open
	// it.
	Path string
	// By says what installed it, if its place tells: "Steam", "Flatpak", "Snap", or empty.
	By string
}

// Installed returns the ids of the games on this computer, see [Game.Where].
func (t Table) Installed(steam []string) (ids []string) {
	for _, g := range t.games {
		if _, isHere := g.Where(steam); isHere {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// Where returns where a game lies, without starting anything. Steam may be in any of the folders, and records its games
// in its libraries. Other games that start by a link are known only by its scheme.
func (g Game) Where(steam []string) (place Place, isHere bool) {
	if id := g.flatpak(context.Background(), g.Template(runtime.GOOS)); id != "" {
		return Place{Path: id, By: "Flatpak"}, true
	}
	program, isHere := g.Here()
	if program == "steam" {
		if libraries := SteamLibraries(steam); len(libraries) > 0 {
			return g.inSteam(libraries)
		}
		return Place{By: "Steam"}, isHere
	}
	path, err := locate(program)
	if err != nil { // it starts by a link's scheme, or by a program found where one would be
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

// SteamLibraries returns the folders where Steam has games: Steam's own, and those that it notes in its two lists of
// libraries.
func SteamLibraries(steam []string) (libraries []string) {
	for _, folder := range steam {
		for _, part := range []string{"steamapps", "config"} {
			info, err := os.Stat(filepath.Join(folder, part))
			if err != nil || !info.IsDir() {
				continue
			}
			for _, library := range append([]string{folder}, noted(filepath.Join(folder, part, "libraryfolders.vdf"), "path")...) {
				if !slices.Contains(libraries, library) {
					libraries = append(libraries, library)
				}
			}
		}
	}
	return libraries
}

// inSteam looks for Steam's record of the game in its libraries.
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

// maxNoted bounds the records of Steam that are read, in bytes. A library of thousands of games has far less.
const maxNoted = 1 << 20

// noted returns the values of a key in one of Steam's text files, none if the file cannot be read.
func noted(file, key string) (values []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNoted))
	if err != nil {
		return nil
	}
	for _, found := range regexp.MustCompile(`"`+key+`"\s+"((?:[^"\\]|\\.)*)"`).FindAllSubmatch(text, -1) {
		values = append(values, strings.ReplaceAll(string(found[1]), `\\`, `\`))
	}
	return values
}
