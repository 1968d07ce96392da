package cli

import (
	"testing"

	"muster/internal/game"
)

// TestGamesLike: the whole name means one game, a part of it all that have it.
func TestGamesLike(t *testing.T) {
	all := []game.Game{{ID: "quake3", Name: "Quake III Arena"}, {ID: "quakelive", Name: "Quake Live"}, {ID: "xonotic", Name: "Xonotic"}}
	for text, want := range map[string]int{"quake3": 1, "QUAKE LIVE": 1, "quake": 2, "xono": 1, "": 0, "chess": 0, " arena ": 1} {
		if got := gamesLike(all, text); len(got) != want {
			t.Errorf("%q means %d games", text, len(got))
		}
	}
}
