package adaptive

import (
	"slices"
	"time"
)

// nearest makes the plan look for this many nearest servers. The limit is then a little
// under the RTT of the last of them so far, and moves with it.
type nearest struct {
	count int
	rtts  []time.Duration // sorted
	kth   []time.Duration // of each batch, when there were enough
	dry   int             // replies since one was under the limit
}

// Tuned: probes spent against the distance of the servers found, on synthetic worlds
// with seeds that no benchmark uses.
const (
	// nearestMargin is how much nearer a server must be to be worth a search.
	nearestMargin = 3 * time.Millisecond
	// nearestLeft is the share of the nearest that may be nearer and not found. It is
	// small because such servers are expected in few places. It is warmLeft where
	// memories proved right.
	nearestLeft = 0.01
	warmLeft    = 0.3
	// nearestDry replies without a nearer one are enough: later servers are even less
	// likely. It is warmDry where memories proved right, because the visit before has
	// looked elsewhere.
	nearestDry = 200
	warmDry    = 150
	// The limit at first, while fewer than openingShare times the wanted servers have
	// replied: one reply in openingShare is under it. It is at least leastLimit.
	openingShare = 3
	leastLimit   = time.Millisecond
	// The last of the nearest must have improved by less than steadyBy in the last
	// steadyBatches.
	steadyBatches = 3
	steadyBy      = 2 * time.Millisecond
	// lonelyRTT is more than the RTT of the nearest server for most players.
	lonelyRTT = 60 * time.Millisecond
)

func (n *nearest) add(rtt time.Duration, near bool) {
	n.dry++
	if near {
		n.dry = 0
	}
	at, _ := slices.BinarySearch(n.rtts, rtt)
	n.rtts = slices.Insert(n.rtts, at, rtt)
}

// restart forgets the search so far, except the replies.
func (n *nearest) restart(replies []reply) {
	n.rtts, n.kth, n.dry = n.rtts[:0], nil, 0
	for _, r := range replies {
		n.rtts = append(n.rtts, r.rtt)
	}
	slices.Sort(n.rtts)
}

// lonely reports whether nobody near has replied.
func (n *nearest) lonely() bool { return len(n.rtts) == 0 || n.rtts[0] > lonelyRTT }

// limit returns the limit of the next batch.
func (n *nearest) limit(before time.Duration) time.Duration {
	known := len(n.rtts)
	if known == 0 {
		return before
	}
	if known < openingShare*n.count {
		return max(n.rtts[known/openingShare], leastLimit)
	}
	kth := n.rtts[n.count-1]
	n.kth = append(n.kth, kth)
	return max(kth-nearestMargin, kth/2)
}

// enough reports whether the nearest are found, if about this many servers under the
// limit are left. A warm start searches less.
func (n *nearest) enough(left float64, warm bool) bool {
	if len(n.kth) < steadyBatches || n.kth[len(n.kth)-steadyBatches]-n.kth[len(n.kth)-1] >= steadyBy {
		return false
	}
	dry, share := nearestDry, nearestLeft
	if warm {
		dry, share = warmDry, warmLeft
	}
	return left <= share*float64(n.count) || n.dry >= dry
}
