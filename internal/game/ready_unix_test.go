//go:build unix

package game

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/hint"
)

// script puts a program of a few lines into a folder.
func script(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestReady: a player's machine knows before the launch whether it can start the game.
func TestReady(t *testing.T) {
	games, err := Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	home, folder := t.TempDir(), t.TempDir()
	flatpaks := filepath.Join(home, ".local/share/flatpak/exports/bin")
	if err := os.MkdirAll(flatpaks, 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, folder, "here", "")
	script(t, folder, "xdg-open", "exit 3")
	script(t, folder, "xdg-mime", `test "$3" = x-scheme-handler/opened && echo some.desktop; exit 0`)
	script(t, flatpaks, "org.example.Game", "")
	t.Setenv("PATH", folder)
	t.Setenv("HOME", home)
	for _, c := range []struct{ command, why string }{
		{"here {address}", ""},
		{filepath.Join(folder, "here") + " {address}", ""},
		{"org.example.Game +connect {address}", ""},
		{"nowhere {address}", "there is no program nowhere on this machine"},
		{filepath.Join(folder, "nowhere") + " {address}", "no such file"},
		{"xdg-open opened://{address}", ""},
		{"xdg-open unopened://{address}", "nothing on this machine opens unopened:// links"},
		{"here unopened://{address}", ""}, // it knows what to do with it
	} {
		l := &Launcher{Starts: StartAsk, Command: c.command, Games: games}
		err := l.Ready(t.Context(), "openarena")
		if start, is := err.(*StartError); is {
			err = start.Plain()
		}
		switch {
		case (err == nil) != (c.why == ""):
			t.Errorf("%s: %v, want %q", c.command, err, c.why)
		case err != nil && (!strings.Contains(err.Error(), c.why) || hint.Of(err) == ""):
			t.Errorf("%s: %v, hint %q, want %q", c.command, err, hint.Of(err), c.why)
		}
	}
	if err := (&Launcher{Starts: StartNever, Command: "nowhere {address}", Games: games}).Ready(t.Context(), "openarena"); err != nil {
		t.Errorf("who starts the game is told %v", err)
	}
	if err := (&Launcher{Games: games}).Ready(t.Context(), "no such game"); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Errorf("of an unknown game %v", err)
	}
}

// TestFailedStart: a game that ends at once with an error has not started, and who goes
// by a link that nothing opens is nowhere.
func TestFailedStart(t *testing.T) {
	games, err := Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script(t, folder, "broken", "exit 1")
	script(t, folder, "works", "exec /bin/sleep 0.2")
	script(t, folder, "passes-on", "exit 0")
	script(t, folder, "xdg-open", "exit 3")
	t.Setenv("PATH", folder)
	for command, want := range map[string]struct {
		state wire.LaunchState
		says  string
	}{
		"broken {address}":               {wire.LaunchFailed, "cannot start broken"},
		"works {address}":                {wire.LaunchStarted, "have fun"},
		"passes-on {address}":            {wire.LaunchStarted, "have fun"},
		"xdg-open nobodys://x/{address}": {wire.LaunchFailed, "nothing on this machine opens nobodys:// links"},
	} {
		console, out := testConsole()
		l := &Launcher{Starts: StartAuto, Command: command, Games: games, Console: console, settle: 20 * time.Second}
		if command == "works {address}" {
			l.settle = time.Millisecond
		}
		var last wire.LaunchState
		l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960"}, "", func(s wire.LaunchState, _ string) { last = s })
		if last != want.state || !strings.Contains(out.String(), want.says) || (last == wire.LaunchFailed) == strings.Contains(out.String(), "have fun") {
			t.Errorf("%s: %s, want %s and %q:\n%s", command, last, want.state, want.says, out)
		}
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			l.mu.Lock()
			over := l.running == 0
			l.mu.Unlock()
			if over {
				break
			}
		}
	}
}

// TestHere: a game is found where Muster would find it when it starts it.
func TestHere(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	flatpaks := filepath.Join(home, ".local/share/flatpak/exports/bin")
	if err := os.MkdirAll(flatpaks, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	t.Setenv("HOME", home)
	script(t, folder, "here", "")
	script(t, flatpaks, "org.example.Game", "")
	for _, c := range []struct {
		launch  []string
		program string
		isHere  bool
	}{
		{[]string{"here", "{address}"}, "here", true},
		{[]string{"org.example.Game"}, "org.example.Game", true},
		{[]string{"nowhere"}, "nowhere", false},
		{[]string{"steam://connect/{address}"}, "steam", false},
		{[]string{"here://{address}"}, "here", false}, // nobody knows who opens that
		{nil, "", false},
	} {
		if program, isHere := (Game{Launch: c.launch}).Here(); program != c.program || isHere != c.isHere {
			t.Errorf("%q: %s, %v", c.launch, program, isHere)
		}
	}
	script(t, folder, "steam", "")
	if _, isHere := (Game{Launch: []string{"steam://connect/{address}"}}).Here(); !isHere {
		t.Error("Steam is not found")
	}
}
