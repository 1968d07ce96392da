package game

import (
	"bytes"
	"strings"
	"testing"

	"muster/host/wire"
	"muster/internal/term"
)

// TestPasswordByHand: who has to type the game server's password is told it, and
// nobody else.
func TestPasswordByHand(t *testing.T) {
	games, err := Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
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
		l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960", Password: tt.password}, func(wire.LaunchState, string) {})
		if got := strings.Contains(out.String(), "password, *** above: club\n"); got != tt.told {
			t.Errorf("%s: told %v, want %v:\n%s", tt.name, got, tt.told, out)
		}
	}
}

// testConsole is one at which nobody is, and what it shows.
func testConsole() (*term.Console, *bytes.Buffer) {
	var out bytes.Buffer
	screen := term.NewScreen(term.New(&out, func(string) string { return "" }))
	return term.NewConsole(strings.NewReader(""), screen, func() {}, func() {}), &out
}
