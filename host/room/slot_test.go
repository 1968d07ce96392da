package room

import (
	"slices"
	"testing"
	"time"
)

// TestTurns: of a group of any size, no more than a wave looks at one server
// within the same half second, however many samples there are.
func TestTurns(t *testing.T) {
	const own = 1100 * time.Millisecond // a peer's own time between samples
	for players := 1; players <= maxPlayers; players++ {
		var looks []time.Duration
		for place := range players {
			t := slotOf(0, 1, place, players)
			for n := range t.samples {
				looks = append(looks, t.after+time.Duration(n)*max(t.every, own))
			}
		}
		slices.Sort(looks)
		for i := range looks {
			if i+wave < len(looks) && looks[i+wave]-looks[i] < betweenWaves {
				t.Errorf("%d players: %d look at a server between %v and %v", players, wave+1, looks[i], looks[i+wave])
				break
			}
		}
		if last := looks[len(looks)-1]; players <= 10 && last > 3*time.Second {
			t.Errorf("%d players are done looking after %v", players, last)
		}
	}
}
