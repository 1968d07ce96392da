package netfab

import (
	"math/rand/v2"
	"time"
)

// Line is one direction of a site's link to the internet. The zero value passes everything at once.
type Line struct {
	// Delay is each packet's delay. Jitter is the most that is added, evenly distributed. Packets
	// stay in order.
	Delay, Jitter time.Duration
	// Loss is the share of lost packets, and Burst the mean length of a run of losses. Up to 1 the
	// losses are independent.
	Loss, Burst float64
	// Duplicate is the share of packets that arrive twice. Reorder is the share that is held back
	// so that later ones overtake it.
	Duplicate, Reorder float64
	// Rate is in bytes a second, 0 without limit. Queue is the most bytes that wait for their turn,
	// 0 without limit.
	Rate, Queue int
	// MTU is the longest packet in bytes, 0 without limit. A longer packet is lost, and ICMP tells
	// its sender: nothing is fragmented.
	MTU int
}

// heldBack is how late a reordered packet is. Some packets of a probing player pass it, and no
// program takes it for lost.
const heldBack = 25 * time.Millisecond

// lane is a line with its state.
type lane struct {
	Line
	rng    *rand.Rand
	losing bool
	// free is when the queue will be empty. last is the arrival of the packet that must not be
	// overtaken.
	free, last time.Duration
	passed     Passed
}

// pass takes a packet, and returns its arrivals: none, one or two.
func (l *lane) pass(size int, now time.Duration) (at []time.Duration) {
	l.passed.Entered++
	l.free = max(l.free, now)
	if l.Rate > 0 {
		waiting := int(int64(l.free-now) * int64(l.Rate) / int64(time.Second))
		if l.Queue > 0 && waiting+size > l.Queue {
			l.passed.Overflowed++
			return nil
		}
		l.free += time.Duration(size) * time.Second / time.Duration(l.Rate)
	}
	if l.loses() {
		l.passed.Lost++
		return nil
	}
	arrival := l.free + l.Delay
	if l.Jitter > 0 {
		arrival += time.Duration(l.rng.Int64N(int64(l.Jitter)))
	}
	arrival = max(arrival, l.last)
	if l.hits(l.Reorder) {
		arrival += heldBack
	} else {
		l.last = arrival
	}
	if at = append(at, arrival); l.hits(l.Duplicate) {
		at = append(at, arrival)
	}
	return at
}

// loses draws whether the next packet is lost. It is Gilbert's model: a chain of a good state that
// loses nothing and a bad one that loses everything. Loss is the share of the bad state and Burst
// its mean length.
func (l *lane) loses() bool {
	if l.Loss <= 0 || l.Loss >= 1 || l.Burst <= 1 {
		return l.hits(l.Loss)
	}
	if l.losing {
		l.losing = !l.hits(1 / l.Burst)
	} else {
		l.losing = l.hits(l.Loss / (1 - l.Loss) / l.Burst)
	}
	return l.losing
}

func (l *lane) hits(share float64) bool { return share > 0 && l.rng.Float64() < share }
