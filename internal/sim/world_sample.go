package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Some packet pairs meet a full queue on the way.
const (
	spikeShare = 0.015
	spikeMin   = 20 * time.Millisecond
	spikeSpan  = 130 * time.Millisecond
	// jitterSpread is the standard deviation of the jitter's logarithm.
	jitterSpread = 0.7
)

// Sample returns the n-th packet pair between a place and a server: its RTT, and whether it got
// lost, as all pairs to a silent or refusing server do. The same n is always the same packet pair.
// The RTT is the floor plus lognormal jitter, with a rare spike.
func (w *World) Sample(place, server int, n uint64) (rtt time.Duration, lost bool) {
	s := &w.Servers[server]
	var draw rand.PCG
	draw.Seed(w.Seed^n*0x9e3779b97f4a7c15, uint64(place)<<32|uint64(server))
	rng := rand.New(&draw)
	if s.Silent || s.Refusing || rng.Float64() < s.Loss {
		return 0, true
	}
	rtt = w.RTT(place, server)
	rtt += time.Duration(float64(w.jitter) * math.Exp(jitterSpread*rng.NormFloat64()))
	if rng.Float64() < spikeShare {
		rtt += spikeMin + time.Duration(rng.Float64()*float64(spikeSpan))
	}
	return rtt, false
}
