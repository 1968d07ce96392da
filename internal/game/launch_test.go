package game

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary act as the game, which records how it was started.
func TestMain(m *testing.M) {
	if out := os.Getenv("GAME_WRITES"); out != "" {
		dir, _ := os.Getwd()
		lines := append([]string{dir, os.Getenv("MUSTER_SERVER"), os.Getenv("MUSTER_SERVER_NAME")}, os.Args[1:]...)
		if err := os.WriteFile(out, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestLaunch(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "started")
	env := append(Game{ID: "g"}.environ(target, "x\x1b\ny"), "GAME_WRITES="+out)
	p, err := start(t.Context(), []string{program, "+connect", "a b;$HOME"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil || p.Process.Pid <= 0 {
		t.Fatalf("process %d ended with %v", p.Process.Pid, err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir, "192.0.2.1:27960", "x y", "+connect", "a b;$HOME"}
	lines := strings.Split(string(got), "\n")
	if lines[0], err = filepath.EvalSymlinks(lines[0]); err != nil || !slices.Equal(lines, want) {
		t.Errorf("the game was started with %q, want %q", lines, want)
	}
}

func TestLaunchOfNoSuchProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := Start(t.Context(), []string{"no-such-game", "x"}, nil)
	var start *StartError
	if !errors.As(err, &start) || !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("got error %v, want a StartError", err)
	}
	if want := "game: there is no program no-such-game in " + dir; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !strings.Contains(start.Hint(), "games.toml") {
		t.Errorf("the hint is %q", start.Hint())
	}
	if _, err = Start(t.Context(), []string{filepath.Join(dir, "nor-this")}, nil); !errors.As(err, &start) {
		t.Errorf("a path: got error %v, want a StartError", err)
	}
}

func TestLaunchOfNothing(t *testing.T) {
	if _, err := Start(t.Context(), nil, nil); err == nil {
		t.Error("nothing was started")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, []string{"x"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestPlainStartError checks that other people in the room see no path of the player's machine.
// Such a path usually contains the user's name.
func TestPlainStartError(t *testing.T) {
	for _, c := range []struct {
		err  StartError
		want string
	}{
		{StartError{Program: `C:\Users\zoe\game.bat`, Err: errors.New("an argument holds '&'")}, "can't start game.bat: an argument holds '&'"},
		{StartError{
			Program: "/home/zoe/game",
			Err:     &fs.PathError{Op: "fork/exec", Path: "/home/zoe/game", Err: errors.New("exec format error")},
		}, "can't start game: exec format error"},
		{StartError{
			Program: "/home/zoe/game",
			Err:     &exec.Error{Name: "/home/zoe/game", Err: &fs.PathError{Op: "stat", Path: "/home/zoe/game", Err: fs.ErrNotExist}},
		}, "can't start game: file does not exist"},
		{StartError{Program: "game", Err: exec.ErrNotFound}, "there's no program game on this machine"},
		{StartError{Program: "/home/zoe/game", Err: exec.ErrNotFound}, "there's no program game on this machine"},
		{StartError{Program: "steam://", Err: errNoHandler}, "nothing on this machine opens steam:// links"},
	} {
		if got := c.err.Plain(); got.Error() != c.want {
			t.Errorf("%v: %q, want %q", c.err.Err, got, c.want)
		}
	}
}

// TestGap checks that only servers known to tolerate it are asked several times a second.
func TestGap(t *testing.T) {
	table := load(t, "")
	for id, want := range map[string]time.Duration{
		"openarena": 300 * time.Millisecond, "tf2": 300 * time.Millisecond, "ddnet": 300 * time.Millisecond,
		"xonotic": 0, "minecraft": 0, "mindustry": 0, "no such game": 0,
	} {
		if gap := table.Gap(id); gap != want {
			t.Errorf("%s: %v, want %v", id, gap, want)
		}
	}
	slow := Game{ID: "slow", Name: "Slow", ProtocolName: "a2s", Port: 27015, GapMS: 900}
	if slow.Gap() != 900*time.Millisecond {
		t.Errorf("a game with a gap of its own has %v", slow.Gap())
	}
}

// TestNoPasswordIsLost checks that each game gets its server's password, or that the player is told to type it.
func TestNoPasswordIsLost(t *testing.T) {
	// The launches of these games have no place for a password.
	typed := []string{"beammp", "bedrock", "bf2", "bf2142", "bfv", "bzflag", "ddnet", "descent3", "dopewars", "fear",
		"fivem", "freeciv", "gtasam", "hedgewars", "iw4x", "jamulus", "luanti", "manaplus", "megaglest", "mindustry",
		"minecraft", "netpanzer", "netrek", "nwn2", "openra", "openra-cnc", "openra-d2k", "pioneers", "ragemp", "redm",
		"serioussam2", "soldat", "ss14", "swat4", "tibia", "ultimaonline", "vcm", "veloren", "vietcong", "wesnoth"}
	for _, g := range load(t, "").All() {
		if len(g.Template("linux")) == 0 {
			continue // the player starts it, and types all
		}
		for _, goos := range []string{"linux", "darwin", "windows"} {
			argv, isTyped, err := g.commandFor(g.Template(goos), withPassword("s3cret"))
			if err != nil {
				t.Errorf("%s on %s: %v", g.ID, goos, err)
			}
			isPassed := slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, "s3cret") })
			if isTyped == isPassed || isTyped != slices.Contains(typed, g.ID) {
				t.Errorf("%s on %s: %q, typed: %v", g.ID, goos, argv, isTyped)
			}
			// If a password is unsafe for a console, the player types it, and the game still starts.
			if argv, isTyped, err = g.commandFor(g.Template(goos), withPassword(`a"b`)); err != nil || !isTyped ||
				slices.ContainsFunc(argv, func(arg string) bool {
					return strings.Contains(arg, `a"b`)
				}) {
				t.Errorf("%s on %s: %q, typed: %v, %v", g.ID, goos, argv, isTyped, err)
			}
			if _, isTyped, err = g.commandFor(g.Template(goos), target); isTyped || err != nil {
				t.Errorf("%s on %s without a password: typed: %v, %v", g.ID, goos, isTyped, err)
			}
		}
	}
}

// TestTypes checks that the room can say before the vote which players will type a password.
func TestTypes(t *testing.T) {
	for _, tt := range []struct {
		l    *Launcher
		id   string
		want bool
	}{
		{&Launcher{}, "openarena", false},
		{&Launcher{}, "cs2", false},
		{&Launcher{}, "ddnet", true},
		{&Launcher{}, "nosuch", true},
		{&Launcher{Starts: StartNever}, "openarena", true},
		{&Launcher{Command: "mine {address}"}, "openarena", true},
		{&Launcher{Command: "mine {address} {password}"}, "ddnet", false},
	} {
		l := tt.l
		if l.Games = load(t, ""); l.Types(t.Context(), tt.id) != tt.want {
			t.Errorf("%s by %q, %s: typed is %v", tt.id, l.Command, l.Starts, !tt.want)
		}
	}
}

// TestInSteam checks that Steam's games are found in its libraries, which it records in a file of its own.
func TestInSteam(t *testing.T) {
	steam, library := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(steam, "steamapps",
			"libraryfolders.vdf"): "\"libraryfolders\"\n{\n\t\"0\"\n\t{\n\t\t\"path\"\t\t\"" + library +
			"\"\n\t\t\"apps\"\n\t\t{\n\t\t\t\"440\"\t\t\"1\"\n\t\t}\n\t}\n}\n",
		filepath.Join(library, "steamapps",
			"appmanifest_440.acf"): "\"AppState\"\n{\n\t\"appid\"\t\t\"440\"\n\t\"name\"\t\t\"Team Fortress " +
			"2\"\n\t\"installdir\"\t\t\"Team Fortress 2\"\n}\n",
		filepath.Join(steam, "steamapps", "appmanifest_70.acf"):     "\"AppState\"\n{\n\t\"installdir\"\t\t\"..\\\\..\\\\evil\"\n}\n",
		filepath.Join(steam, "steamapps", "appmanifest_730.acf"):    "\xff\xfe nothing",
		filepath.Join(library, "steamapps", "appmanifest_4400.acf"): "\"installdir\" \"other\"",
	} {
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[uint32]string{440: filepath.Join(library, "steamapps", "common", "Team Fortress 2"), 730: "", 10: "", 0: ""} {
		g := Game{Launch: []string{"steam://connect/{address}"}, AppID: id}
		place, isHere := g.Where([]string{t.TempDir(), steam})
		if isHere != (want != "") || isHere && (place.Path != want || place.By != "Steam") {
			t.Errorf("%d: %+v, %v, want %q", id, place, isHere, want)
		}
	}
	if place, isHere := (Game{Launch: []string{"steam://connect/{address}"}, AppID: 70}).
		Where([]string{steam}); isHere && filepath.Dir(place.Path) != filepath.Join(steam, "steamapps", "common") {
		t.Errorf("a folder out of the library: %+v", place)
	}
	if _, isHere := (Game{}).Where(nil); isHere {
		t.Error("a game that nothing starts is here")
	}
}
