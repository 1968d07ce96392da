//go:build unix

package game

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/hint"
)

// script writes a short program into a folder.
func script(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestReady checks that a player's machine knows before the launch whether it can start the game.
func TestReady(t *testing.T) {
	games := load(t, "")
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
		{"nowhere {address}", "there's no program nowhere on this machine"},
		{filepath.Join(folder, "nowhere") + " {address}", "no such file"},
		{"xdg-open opened://{address}", ""},
		{"xdg-open unopened://{address}", "nothing on this machine opens unopened:// links"},
		{"here unopened://{address}", ""}, // the program handles the link itself
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
	for command, want := range map[string]string{"xdg-open steam://connect/{address}": "is Steam installed?",
		"xdg-open unopened://{address}": "is the program that opens unopened:// links installed?"} {
		err := (&Launcher{Starts: StartAsk, Command: command, Games: games}).Ready(t.Context(), "openarena")
		if !strings.Contains(hint.Of(err), want) {
			t.Errorf("%s: hint %q, want %q", command, hint.Of(err), want)
		}
	}
	if err := (&Launcher{Starts: StartNever, Command: "nowhere {address}", Games: games}).Ready(t.Context(), "openarena"); err != nil {
		t.Errorf("who starts the game is told %v", err)
	}
	if err := (&Launcher{Games: games}).Ready(t.Context(), "no such game"); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Errorf("of an unknown game %v", err)
	}
}

// TestFailedStart checks that a game which ends at once with an error has not started, and that a link without a
// handler leads nowhere.
func TestFailedStart(t *testing.T) {
	games := load(t, "")
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
		"broken {address}":               {wire.LaunchFailed, "can't start broken"},
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
		l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960"}, sentence.Sentence{}, func(s wire.LaunchState, _ sentence.Sentence) { last = s })
		if last != want.state || !strings.Contains(out.String(), want.says) ||
			(last == wire.LaunchFailed) == strings.Contains(out.String(), "have fun") {
			t.Errorf("%s: %s, want %s and %q:\n%s", command, last, want.state, want.says, out)
		}
		allEnd(t, l)
	}
}

// TestHere checks that a game is found where Muster would start it.
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
		{[]string{"here://{address}"}, "here", false}, // its handler is unknown
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

// TestFlatpak checks that a game in Flatpak alone is found and started there, and suggested where it is not installed.
// The player's own command takes precedence.
func TestFlatpak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Flatpak is Linux'")
	}
	home, folder := t.TempDir(), t.TempDir()
	t.Setenv("PATH", folder)
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	games := load(t, "")
	ran := filepath.Join(folder, "ran")
	asked := filepath.Join(folder, "asked")
	l := func(command string) (*Launcher, *bytes.Buffer) {
		console, out := testConsole()
		return &Launcher{Starts: StartAuto, Command: command, Games: games, Console: console, settle: 20 * time.Second}, out
	}
	goes := func(l *Launcher, game string) (last wire.LaunchState, why string) {
		l.Launch(t.Context(), wire.Launch{Game: game, Address: "192.0.2.1:27960", Password: "pw"}, sentence.Sentence{}, func(s wire.LaunchState, text sentence.Sentence) {
			last, why = s, catalogue.InEnglish().Say(text)
		})
		return last, why
	}

	bare, said := l("")
	why := bare.Ready(t.Context(), "xonotic")
	if why == nil || !strings.Contains(hint.Of(why), "flatpak install flathub org.xonotic.Xonotic") {
		t.Errorf("without flatpak: %v, hint %q", why, hint.Of(why))
	}
	if state, text := goes(bare, "xonotic"); state != wire.LaunchFailed ||
		text != "there's no program xonotic on this machine" || !strings.Contains(said.String(), "flatpak install flathub org.xonotic.Xonotic") {
		t.Errorf("without flatpak: %s, %s\n%s", state, text, said)
	}

	script(t, folder, "flatpak", `case "$1" in
info) echo "$2" >>`+asked+`; test "$2" = net.minetest.Minetest;;
run) shift; for arg; do echo "$arg"; done >`+ran+`; test "$1" != com.etlegacy.ETLegacy;;
esac`)
	exports := filepath.Join(home, "data", "flatpak", "exports", "bin")
	if err := os.MkdirAll(exports, 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, exports, "org.xonotic.Xonotic", "")
	script(t, exports, "com.etlegacy.ETLegacy", "")
	for _, c := range []struct{ game, ran string }{
		{"xonotic", "org.xonotic.Xonotic\n+password\npw\n+connect\n192.0.2.1:27960\n"},   // found by its exported program
		{"luanti", "net.minetest.Minetest\n--go\n--address\n192.0.2.1\n--port\n27960\n"}, // found by asking flatpak
	} {
		l, out := l("")
		if err := l.Ready(t.Context(), c.game); err != nil {
			t.Errorf("%s: %v", c.game, err)
		}
		state, _ := goes(l, c.game)
		text, _ := os.ReadFile(ran)
		if state != wire.LaunchStarted || string(text) != c.ran {
			t.Errorf("%s: %s, run with\n%s\n%s", c.game, state, text, out)
		}
		g, _ := games.Find(c.game)
		if place, isHere := g.Where(nil); !isHere || place.By != "Flatpak" || !strings.HasPrefix(c.ran, place.Path+"\n") {
			t.Errorf("%s lies in %+v, %v", c.game, place, isHere)
		}
	}
	if state, text := goes(bare, "et"); state != wire.LaunchFailed || !strings.HasPrefix(text, "can't start com.etlegacy.ETLegacy: ") {
		t.Errorf("one that ends at once: %s, %s", state, text)
	}
	if why := bare.Ready(t.Context(), "openarena"); why == nil || !strings.Contains(hint.Of(why), "ws.openarena.OpenArena") {
		t.Errorf("one that is not installed: %v", why)
	}
	if questions, _ := os.ReadFile(asked); strings.Contains(string(questions), "xonotic") {
		t.Errorf("flatpak is asked for what its exports tell:\n%s", questions)
	}

	script(t, folder, "mine", "exit 0")
	script(t, folder, "xonotic", "echo own >"+ran)
	for _, command := range []string{"", "mine {address}"} {
		os.Remove(ran)
		l, _ := l(command)
		state, _ := goes(l, "xonotic")
		if text, _ := os.ReadFile(ran); state != wire.LaunchStarted || strings.Contains(string(text), "org.xonotic") {
			t.Errorf("by %q: %s, run with %s", command, state, text)
		}
	}
	if own, err := Load(strings.NewReader("[game.xonotic]\nlaunch = [\"mine\"]\n"), "own"); err != nil {
		t.Error(err)
	} else if g, _ := own.Find("xonotic"); g.Flatpak != nil {
		t.Errorf("the player's own launch may start %q", g.Flatpak)
	}
	if _, err := Load(strings.NewReader("[game.xonotic]\nflatpak = [\"--command=sh\"]\n"), "own"); err == nil {
		t.Error("an option is taken for an id")
	}
}
