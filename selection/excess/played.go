package excess

import "slices"

const (
	// Game servers list round trips and 8 to 20 ms on top, by engine, frame rate and player (quetoo#877).
	// So an honest player may seem to play gameSpread ms below the others, but hardly more: fewer than one
	// of 200 does (bench/simulated TestOverstated).
	gameSpread = 13
	// Of players whose pings exceeded what their lines suggest less is enough.
	suspectSpread = 8
	// comparable is how many players it takes to compare. One in honestAbove is above all that can be
	// trusted, because somebody's line may be busy in the game.
	comparable, honestAbove = 4, 4
)

// Below returns who plays well below their claim, and by how many ms: those whose pings, as the game's
// server lists them, exceed the measured ones by much less than the others' do. All are by player, in
// ms; over is what was in excess before the launch. Players who are not in measured and played are left
// out, and fewer than four tell nothing.
func Below(measured, over, played map[string]float64) map[string]float64 {
	var more, all []float64
	for player, ms := range played {
		if measured[player] > 0 && ms > 0 {
			if all = append(all, ms-measured[player]); over[player] == 0 {
				more = append(more, ms-measured[player])
			}
		}
	}
	if len(all) < comparable {
		return nil
	}
	if len(more) < comparable {
		more = all
	}
	slices.Sort(more)
	usual := more[len(more)-1-(len(more)-1)/honestAbove]
	below := map[string]float64{}
	for player, ms := range played {
		least := float64(gameSpread)
		if over[player] > 0 {
			least = suspectSpread
		}
		if by := usual - (ms - measured[player]); measured[player] > 0 && ms > 0 && by > least {
			below[player] = by
		}
	}
	return below
}
