package game

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/term"
)

// TestTakesAddress checks that a command without the server's address is told from one with it.
func TestTakesAddress(t *testing.T) {
	for command, want := range map[string]bool{
		"mindustry":                             false,
		"quake3 +connect 192.0.2.7:27960":       true,
		"steam://connect/[2001:db8::7]:27015/x": false,
		"luanti --address 192.0.2.7 --port 1":   true,
	} {
		if got := takesAddress(strings.Fields(command), "192.0.2.7:27960"); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
}

// TestPasswordByHand checks that only a player who has to type the game server's password is shown it.
func TestPasswordByHand(t *testing.T) {
	games := load(t, "")
	for _, tt := range []struct {
		name     string
		how      *Launcher
		password string
		told     bool
	}{
		{"by hand", &Launcher{Starts: StartNever}, "club", true},
		{"there is no such program", &Launcher{Starts: StartAuto, Command: "no-such-program {address}"}, "club", true},
		{"no password", &Launcher{Starts: StartNever}, "", false},
	} {
		console, out := testConsole()
		l := tt.how
		l.Games, l.Console = games, console
		l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960", Password: tt.password}, sentence.Sentence{},
			func(wire.LaunchState, sentence.Sentence) {})
		if got := strings.Contains(out.String(), "the server's password: club\n"); got != tt.told {
			t.Errorf("%s: told %v, want %v:\n%s", tt.name, got, tt.told, out)
		}
	}
}

// TestGameWithoutALaunch checks that the player gets the address and the password of a server whose game the table
// cannot start, and that this is no failure.
func TestGameWithoutALaunch(t *testing.T) {
	console, out := testConsole()
	l := &Launcher{Starts: StartAuto, Games: load(t, "[game.mine]\nprotocol='a2s'\nport=1\n"), Console: console}
	var states []wire.LaunchState
	l.Launch(t.Context(), wire.Launch{Game: "mine", Address: "192.0.2.1:27960", Password: "club"}, sentence.Sentence{},
		func(s wire.LaunchState, _ sentence.Sentence) { states = append(states, s) })
	if !slices.Equal(states, []wire.LaunchState{wire.LaunchByHand}) || !strings.Contains(out.String(), "192.0.2.1:27960") ||
		!strings.Contains(out.String(), "club") {
		t.Errorf("%v:\n%s", states, out)
	}
	if err := l.Ready(t.Context(), "mine"); err != nil || !l.Types(t.Context(), "mine") {
		t.Errorf("it is not ready: %v", err)
	}
}

// testConsole returns a console without a user, and its output.
func testConsole() (*term.Console, *bytes.Buffer) {
	var out bytes.Buffer
	screen := term.NewScreen(term.New(&out, func(string) string { return "" }), catalogue.InEnglish())
	return term.NewConsole(strings.NewReader(""), screen, func(string) {}, func() {}), &out
}

// TestDoubtfulServer checks that a player is asked before going to a server that their own measuring does not confirm.
func TestDoubtfulServer(t *testing.T) {
	games := load(t, "")
	console, out := testConsole()
	l := &Launcher{Starts: StartAuto, Command: "no-such-program {address}", Games: games, Console: console}
	var states []wire.LaunchState
	l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:22"},
		sentence.Of("start.doubt-elsewhere"), func(s wire.LaunchState, _ sentence.Sentence) {
			states = append(states, s)
		})
	if want := []wire.LaunchState{wire.LaunchAsking, wire.LaunchByHand}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	for _, want := range []string{"careful: no server of the room’s list is at this address\n", "start it anyway? [y/N]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the player does not read %q:\n%s", want, out)
		}
	}
}

// TestBatch checks arguments that cmd.exe would parse again for a batch file.
func TestBatch(t *testing.T) {
	for _, tt := range []struct {
		goos, path, arg string
		refused         bool
	}{
		{"windows", `C:\Games\play.bat`, "a&calc", true},
		{"windows", `C:\Games\PLAY.CMD`, "%PATH%", true},
		{"windows", `C:\Games\play.bat. .`, `"`, true},
		{"windows", `C:\Games\play.bat`, "192.0.2.1:27960", false},
		{"windows", `C:\Games\play.bat`, "[2001:db8::1]:27960", false},
		{"windows", `C:\Games\play.exe`, "a&calc", false},
		{"linux", "/games/play.bat", "a&b", false},
	} {
		err := checkBatch(tt.goos, tt.path, []string{"+connect", tt.arg})
		if (err != nil) != tt.refused {
			t.Errorf("%s %s %s: %v, refused should be %v", tt.goos, tt.path, tt.arg, err, tt.refused)
		}
	}
}
