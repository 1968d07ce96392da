package simulated

import (
	"hash/fnv"
	"time"

	"muster/internal/sim"
)

const ms = time.Millisecond

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(ms)) }

// cities are those of the generated worlds.
var cities = sim.Cities()

// hash makes a seed of a text.
func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
