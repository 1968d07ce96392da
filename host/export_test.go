package host

import (
	"math"
	"time"

	"muster/host/room"
)

// SearchAtOnce has so many rooms search at the same time, for measurements.
func (h *Host) SearchAtOnce(n int) { h.turns = newTurns(n) }

// Occupy has a host that does nothing else search for others, until it is told.
func (h *Host) Occupy() (leave func()) {
	var mine []*turn
	for range h.turns.free {
		mine = append(mine, h.turns.wait(room.Plan{Since: time.Unix(math.MinInt32, 0)}))
	}
	return func() {
		for _, t := range mine {
			t.over()
		}
	}
}
