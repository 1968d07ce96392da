// Package steam keeps the user's key for Steam's Web API, and finds Steam's folders on this machine and the servers
// that it remembers.
package steam

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"muster/discovery/lists/master"
	"muster/internal/game"
	"muster/internal/hint"
)

// Variable is the environment variable with a key for Steam's Web API.
const Variable = "MUSTER_STEAM_KEY"

// howToKey says how to get a key.
const howToKey = "get one for nothing at https://steamcommunity.com/dev/apikey, and store it with muster games --steam-key"

// keyFileMode lets only the user read the key.
const keyFileMode fs.FileMode = 0o600

// Steam is what one user has of Steam.
type Steam struct {
	// File keeps the key.
	File string
	// Env looks up an environment variable.
	Env func(string) string
}

// Key returns the key from the environment or else from the user's file; empty if there is none.
func (s Steam) Key() (master.SteamKey, error) {
	if text := s.Env(Variable); text != "" {
		key, err := master.ParseSteamKey(text)
		if err != nil {
			return "", hint.With(fmt.Errorf("%s: %w", Variable, err), howToKey)
		}
		return key, nil
	}
	f, err := os.Open(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", hint.With(fmt.Errorf("%s can be read by others on this machine", s.File), "chmod 600 "+s.File)
	}
	key, err := readKey(f)
	if err != nil {
		return "", hint.With(fmt.Errorf("%s: %w", s.File, err), howToKey)
	}
	return key, nil
}

// readKey reads a key from the first line.
func readKey(r io.Reader) (master.SteamKey, error) {
	const most = 1 << 10
	line, err := bufio.NewReader(io.LimitReader(r, most)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return master.ParseSteamKey(line)
}

// Store keeps the key from the first line of a text. A command line would show it to everybody on the machine.
func (s Steam) Store(from io.Reader) error {
	key, err := readKey(from)
	if err != nil {
		return hint.With(err, howToKey)
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return err
	}
	// The key goes into a private file that replaces the old one, so that others can never read it.
	f, err := os.OpenFile(s.File+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, keyFileMode)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, string(key))
	err = errors.Join(err, f.Chmod(keyFileMode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.File)
	}
	return err
}

// Forget removes the user's file. It cannot change the environment, so isGiven reports whether that still has a key.
func (s Steam) Forget() (isGiven bool, err error) {
	if err := os.Remove(s.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return s.Env(Variable) != "", nil
}

// Kept says where the key comes from, and what is wrong with it. It never contains the key.
type Kept struct {
	// Kept is where the key is: "environment", "file", or empty for none.
	Kept    string `json:"kept"`
	Trouble string `json:"trouble,omitempty"`
}

// Kept returns what may be shown about the key.
func (s Steam) Kept() (kept Kept) {
	key, err := s.Key()
	if err != nil {
		kept.Trouble = strings.Join([]string{hint.Plain(err), hint.Of(err)}, ": ")
	}
	switch {
	case s.Env(Variable) != "":
		kept.Kept = "environment"
	case key != "" || err != nil:
		kept.Kept = "file"
	}
	return kept
}

// Machine returns what a public host contributes: its own key, and nobody's favourites.
func (s Steam) Machine() (game.User, error) {
	key, err := s.Key()
	return game.User{Steam: key}, err
}

// User returns what this machine's user contributes to get lists.
func (s Steam) User() (game.User, error) {
	key, err := s.Key()
	return game.User{Steam: key, SteamFiles: files(s.Folders())}, err
}

// Folders returns where Steam may be on this machine, and its libraries: a user may have moved it into one.
func (s Steam) Folders() []string {
	home, _ := os.UserHomeDir()
	folders := append(registered(),
		filepath.Join(xdg.DataHome, "Steam"),
		filepath.Join(home, ".local", "share", "Steam"),                // the same, unless Muster is a Flatpak
		filepath.Join(home, "Library", "Application Support", "Steam"), // macOS
	)
	flatpak, snap := filepath.Join(home, ".var", "app", "com.valvesoftware.Steam"), filepath.Join(home, "snap", "steam", "common")
	folders = append(folders, filepath.Join(flatpak, "data", "Steam"))
	for _, in := range []string{home, flatpak, snap} {
		folders = append(folders,
			filepath.Join(in, ".steam", "steam"), // a link to where Steam really is
			filepath.Join(in, ".steam", "root"),
			filepath.Join(in, ".steam", "debian-installation"),
			filepath.Join(in, ".local", "share", "Steam"))
	}
	for _, programs := range []string{s.Env("ProgramFiles(x86)"), s.Env("ProgramFiles")} {
		if programs != "" {
			folders = append(folders, filepath.Join(programs, "Steam"))
		}
	}
	return append(folders, game.SteamLibraries(folders)...)
}

// files returns Steam's files of remembered servers, newest first: one for each Steam user on this machine.
func files(folders []string) []string {
	type found struct {
		path string
		info fs.FileInfo
	}
	var all []found
	for _, folder := range folders {
		paths, _ := filepath.Glob(filepath.Join(folder, "userdata", "*", "7", "remote", "serverbrowser_hist.vdf"))
		for _, path := range paths {
			info, err := os.Stat(path)
			same := func(f found) bool { return os.SameFile(f.info, info) }
			if err == nil && !slices.ContainsFunc(all, same) { // ~/.steam/steam links to the real folder
				all = append(all, found{path, info})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	paths := make([]string, len(all))
	for i, f := range all {
		paths[i] = f.path
	}
	return paths
}
