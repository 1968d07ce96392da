package cli

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
	"muster/internal/home"
)

// steamKeyVariable is the environment's name for a key to Steam's Web API.
const steamKeyVariable = "MUSTER_STEAM_KEY"

// keyFileMode lets nobody but the user read the key.
const keyFileMode fs.FileMode = 0o600

func steamKeyFile() string { return configFile("steam-key") }

// steamKey is the key of the environment, or else that of the user's file; empty if
// there is none.
func (p *program) steamKey() (master.SteamKey, error) {
	if text := p.env(steamKeyVariable); text != "" {
		key, err := master.ParseSteamKey(text)
		if err != nil {
			return "", hint.With(fmt.Errorf("%s: %w", steamKeyVariable, err), howToKey)
		}
		return key, nil
	}
	f, err := os.Open(steamKeyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", hint.With(fmt.Errorf("%s can be read by others on this machine", steamKeyFile()), "chmod 600 "+steamKeyFile())
	}
	key, err := readKey(f)
	if err != nil {
		return "", hint.With(fmt.Errorf("%s: %w", steamKeyFile(), err), howToKey)
	}
	return key, nil
}

const howToKey = "get one for nothing at https://steamcommunity.com/dev/apikey, and store it with muster games --steam-key"

// readKey reads a key from the first line.
func readKey(r io.Reader) (master.SteamKey, error) {
	const most = 1 << 10
	line, err := bufio.NewReader(io.LimitReader(r, most)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return master.ParseSteamKey(line)
}

// storeSteamKey keeps the key that comes on standard input. A command line could be
// read by everybody on the machine.
func (p *program) storeSteamKey() error {
	p.screen.Say("paste your key to Steam's Web API and press Enter (https://steamcommunity.com/dev/apikey):")
	key, err := readKey(p.in)
	if err != nil {
		return hint.With(err, howToKey)
	}
	file := steamKeyFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	// Written beside and put in its place, so that it is never there for others to read.
	f, err := os.OpenFile(file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, keyFileMode)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, string(key))
	err = errors.Join(err, f.Chmod(keyFileMode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return err
	}
	p.screen.Say("stored in %s, which only you can read; it stays on this machine", file)
	return nil
}

// forgetSteamKey removes the user's file. The environment is not Muster's to change.
func (p *program) forgetSteamKey() error {
	if err := os.Remove(steamKeyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.screen.Say("no key to Steam's Web API is stored any more")
	if p.env(steamKeyVariable) != "" {
		p.screen.Say("%s in the environment still gives one", steamKeyVariable)
	}
	return nil
}

// keptSteamKey is what Home shows of the key.
func (p *program) keptSteamKey() (kept home.SteamKey) {
	key, err := p.steamKey()
	if err != nil {
		kept.Trouble = strings.Join([]string{hint.Plain(err.Error()), hint.Of(err)}, ": ")
	}
	switch {
	case p.env(steamKeyVariable) != "":
		kept.Kept = "environment"
	case key != "" || err != nil:
		kept.Kept = "file"
	}
	return kept
}

// machine is what a host for everybody brings along: its own key, and nobody's favourites.
func (p *program) machine() (game.User, error) {
	key, err := p.steamKey()
	return game.User{Steam: key}, err
}

// user is what the user of this machine brings along to get lists.
func (p *program) user() (game.User, error) {
	key, err := p.steamKey()
	return game.User{Steam: key, SteamFiles: steamFiles(p.env)}, err
}

// steamFolders are where Steam may be on this machine.
func steamFolders(env func(string) string) []string {
	home, _ := os.UserHomeDir()
	folders := []string{
		filepath.Join(xdg.DataHome, "Steam"),
		filepath.Join(home, ".steam", "steam"),
		filepath.Join(home, ".var", "app", "com.valvesoftware.Steam", ".local", "share", "Steam"), // Flatpak
		filepath.Join(home, "snap", "steam", "common", ".local", "share", "Steam"),
		filepath.Join(home, "Library", "Application Support", "Steam"), // macOS
	}
	for _, programs := range []string{env("ProgramFiles(x86)"), env("ProgramFiles")} {
		if programs != "" {
			folders = append(folders, filepath.Join(programs, "Steam"))
		}
	}
	return folders
}

// steamFiles are the files in which Steam remembers servers, the newest first: one for
// each of its users on this machine.
func steamFiles(env func(string) string) []string {
	folders := steamFolders(env)
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
			if err == nil && !slices.ContainsFunc(all, same) { // ~/.steam/steam leads to the folder proper
				all = append(all, found{path, info})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	files := make([]string, len(all))
	for i, f := range all {
		files[i] = f.path
	}
	return files
}
