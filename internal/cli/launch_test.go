package cli

import (
	"strings"
	"testing"

	"muster/host/wire"
	"muster/internal/game"
)

// TestPasswordByHand: who has to type the game server's password is told it, and
// nobody else.
func TestPasswordByHand(t *testing.T) {
	games, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		how      launching
		password string
		told     bool
	}{
		{"by hand", launching{mode: launchNever}, "club", true},
		{"there is no such program", launching{mode: launchAuto, template: "no-such-program {address}"}, "club", true},
		{"no password", launching{mode: launchNever}, "", false},
	} {
		s, out := testScreen()
		l := &launcher{launching: tt.how, games: games, screen: s}
		l.launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960", Password: tt.password}, func(wire.LaunchState, string) {})
		if got := strings.Contains(out.String(), "password, *** above: club\n"); got != tt.told {
			t.Errorf("%s: told %v, want %v:\n%s", tt.name, got, tt.told, out)
		}
	}
}
