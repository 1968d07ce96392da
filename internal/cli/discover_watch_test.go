package cli

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/game"
)

// TestWatchPause: a watch asks little, and less when it goes on for long.
func TestWatchPause(t *testing.T) {
	for looks, want := range map[int]time.Duration{0: 5 * time.Second, 59: 5 * time.Second, 60: 15 * time.Second, 1000: 15 * time.Second} {
		if got := watchPause(looks); got != want {
			t.Errorf("after %d looks: %v", looks, got)
		}
	}
}

// TestIsFull: bots take seats; who does not tell the seats is not full.
func TestIsFull(t *testing.T) {
	for _, tt := range []struct {
		players, seats int
		state          discovery.State
		want           bool
	}{{8, 8, discovery.Answered, true}, {9, 8, discovery.Answered, true}, {7, 8, discovery.Answered, false}, {5, 0, discovery.Answered, false}, {8, 8, discovery.Lost, false}} {
		if got := isFull(report.Measurement{State: tt.state, Players: tt.players, MaxPlayers: tt.seats}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestGamesLike: the whole name means one game, a part of it all that have it.
func TestGamesLike(t *testing.T) {
	all := []game.Game{{ID: "quake3", Name: "Quake III Arena"}, {ID: "quakelive", Name: "Quake Live"}, {ID: "xonotic", Name: "Xonotic"}}
	for text, want := range map[string]int{"quake3": 1, "QUAKE LIVE": 1, "quake": 2, "xono": 1, "": 0, "chess": 0, " arena ": 1} {
		if got := gamesLike(all, text); len(got) != want {
			t.Errorf("%q means %d games", text, len(got))
		}
	}
}
