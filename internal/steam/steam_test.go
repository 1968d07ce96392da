package steam

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/internal/hint"
)

const (
	someKey  = "0123456789ABCDEF0123456789ABCDEF"
	otherKey = "FEDCBA9876543210FEDCBA9876543210"
)

// TestKey checks where the key comes from: the environment before the file, and the file's first line.
func TestKey(t *testing.T) {
	for name, c := range map[string]struct {
		env, file string
		mode      os.FileMode
		key, from string // the key, and its place in words for programs
		trouble   string // a part of the error
	}{
		"none":                  {},
		"environment":           {env: someKey, key: someKey, from: "environment"},
		"environment first":     {env: someKey, file: otherKey, mode: 0o600, key: someKey, from: "environment"},
		"file":                  {file: otherKey + "\nanything", mode: 0o600, key: otherKey, from: "file"},
		"small letters":         {file: strings.ToLower(otherKey), mode: 0o600, key: otherKey, from: "file"},
		"no key in environment": {env: "secret", file: otherKey, mode: 0o600, from: "environment", trouble: Variable},
		"no key in file":        {file: "secret", mode: 0o600, from: "file", trouble: "32 digits"},
		"readable by others":    {file: someKey, mode: 0o644, from: "file", trouble: "read by others"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mode == 0o644 && runtime.GOOS == "windows" {
				t.Skip("Windows has no such mode")
			}
			s := Steam{File: filepath.Join(t.TempDir(), "key"), Env: func(name string) string {
				if name == Variable {
					return c.env
				}
				return ""
			}}
			if c.file != "" {
				if err := os.WriteFile(s.File, []byte(c.file), c.mode); err != nil {
					t.Fatal(err)
				}
			}
			key, err := s.Key()
			if string(key) != c.key || (err != nil) != (c.trouble != "") {
				t.Errorf("the key is %q, %v, want %q", string(key), err, c.key)
			}
			if err != nil && (!strings.Contains(err.Error(), c.trouble) || strings.Contains(err.Error(), "secret") || hint.Of(err) == "") {
				t.Errorf("the error is %q, want %q, a hint and no secret", err, c.trouble)
			}
			kept := s.Kept()
			if kept.Kept != c.from || (kept.Trouble != "") != (c.trouble != "") {
				t.Errorf("it is kept in %+v, want %q", kept, c.from)
			}
		})
	}
}

// TestStore checks that a key is stored for the user alone, that a bad one changes nothing, and that Forget removes it.
func TestStore(t *testing.T) {
	env := ""
	s := Steam{File: filepath.Join(t.TempDir(), "muster", "key"), Env: func(string) string { return env }}
	for _, text := range []string{someKey, otherKey + "\n"} {
		if err := s.Store(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Store(strings.NewReader("none")); err == nil || hint.Of(err) == "" {
		t.Errorf("a bad key is stored: %v", err)
	}
	if key, err := s.Key(); string(key) != otherKey || err != nil {
		t.Errorf("the key is %q, %v", string(key), err)
	}
	info, err := os.Stat(s.File)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != keyFileMode {
		t.Errorf("the file is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.File), "*")); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
	for range 2 { // a missing file is no error
		if isGiven, err := s.Forget(); isGiven || err != nil {
			t.Errorf("forgotten: %v, %v", isGiven, err)
		}
	}
	if key, err := s.Key(); key != "" || err != nil {
		t.Errorf("there is still a key: %v", err)
	}
	env = someKey
	if isGiven, _ := s.Forget(); !isGiven {
		t.Error("the environment still has a key")
	}
}

// TestFolders checks that Steam's files are found wherever it was installed: by a package, by snap, as a Flatpak, or in a
// library that its own list names.
func TestFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the registry tells")
	}
	home, library := t.TempDir(), filepath.Join(t.TempDir(), "games")
	t.Setenv("HOME", home)
	var want []string
	for i, folder := range []string{filepath.Join(home, ".steam", "debian-installation"), filepath.Join(home, "snap", "steam", "common", ".local", "share", "Steam"),
		filepath.Join(home, ".var", "app", "com.valvesoftware.Steam", "data", "Steam"), library} {
		path := filepath.Join(folder, "userdata", "1", "7", "remote", "serverbrowser_hist.vdf")
		writeAt(t, path, "")
		when := time.Date(2026, 11, 22-i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	writeAt(t, filepath.Join(home, ".local", "share", "Steam", "config", "libraryfolders.vdf"),
		`"libraryfolders" { "0" { "path" "`+library+`" } }`)
	got := files(Steam{Env: func(string) string { return "" }}.Folders())
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the files are %v, want %v", got, want)
	}
}

// writeAt writes a file and its folders.
func writeAt(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFiles checks that each Steam user's file is found once, the newest first, even by two paths to one folder.
func TestFiles(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "steam")
	var want []string
	for i, user := range []string{"22", "11", "33"} {
		path := filepath.Join(folder, "userdata", user, "7", "remote", "serverbrowser_hist.vdf")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Date(2026, 11, 22-i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	folders := []string{filepath.Join(home, "none"), folder}
	if link := filepath.Join(home, "link"); os.Symlink(folder, link) == nil {
		folders = append(folders, link)
	}
	if got := files(folders); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the files are %v, want %v", got, want)
	}
}
