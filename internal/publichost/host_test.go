package publichost

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/public"
	"muster/internal/game"
)

// TestSearching checks that a search finds what rooms may be opened for, and says where the number is another.
func TestSearching(t *testing.T) {
	games, err := game.LoadFile("")
	if err != nil {
		t.Fatal(err)
	}
	var choices []public.Game
	for _, g := range games.All() {
		choices = append(choices, public.Game{Game: g.Choice(), Listed: g.ID == "openarena"})
	}
	find := searching(games, choices)
	for text, want := range map[string]public.Game{
		"open ar": {Listed: true}, "openarenna": {Listed: true}, "xonot": {}, "open arena 2": {Listed: true, OtherNumber: true},
	} {
		if found := find(text); len(found) == 0 || found[0].Listed != want.Listed || found[0].OtherNumber != want.OtherNumber {
			t.Errorf("%s finds %+v", text, found)
		}
	}
}

// TestServeInTime checks that a host ends at the latest when it has promised to, whatever it still does.
func TestServeInTime(t *testing.T) {
	failed := errors.New("the store is damaged")
	for _, tt := range []struct {
		name  string
		takes time.Duration // from the moment it is told to end
		err   error
		want  time.Duration
		is    error
	}{
		{"at once", 0, nil, 0, nil},
		{"with an error", time.Second, failed, time.Second, failed},
		{"barely", endsWithin - 1, nil, endsWithin - 1, nil},
		{"too slow", time.Hour, nil, endsWithin, errCut},
		{"too slow, with an error", time.Hour, failed, endsWithin, errCut},
		{"before it is told to", -time.Minute, failed, -time.Minute, failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const told = 2 * time.Minute
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), told)
				defer cancel()
				err := serveInTime(ctx, func() error {
					time.Sleep(told + tt.takes)
					return tt.err
				})
				defer time.Sleep(time.Hour) // what was left behind ends here
				if took := time.Since(began) - told; took != tt.want || !errors.Is(err, tt.is) {
					t.Errorf("it took %v, and returned %v", took, err)
				}
			})
		})
	}
}
