package adaptive

import (
	"slices"
	"time"
)

// nearest makes the plan look for a number of nearest servers. The limit is a little under the RTT
// of the last of them so far, and moves with it.
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
	nearestMargin = 5 * time.Millisecond
	// needLeft is the share of the missing servers that the plan may expect to be left under the
	// limit. By Markov's inequality, all of them are left with at most this probability. The share
	// is bounded by minNeeded and maxNeeded servers. Where memories proved right, warmLeft of the
	// wanted servers may be left.
	needLeft  = 0.15
	minNeeded = 0.3
	maxNeeded = 3
	warmLeft  = 0.3
	// nearestDry replies without a nearer one are enough: later servers are even less
	// likely. It takes up to doubtDry more if labels are missing or often wrong.
	nearestDry = 70
	doubtDry   = 100
	// doubtfulLabels is the share of wrong labels from which on they are doubted.
	doubtfulLabels = 0.1
	// The limit at first, while fewer than openingShare times the wanted servers have
	// replied: one reply in openingShare is under it. It is at least minLimit.
	openingShare = 3
	minLimit     = time.Millisecond
	// The last of the nearest must have improved by less than steadyBy in the last
	// steadyBatches, or warmBatches where memories proved right.
	steadyBatches = 3
	warmBatches   = 2
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

// limit returns the limit of the next batch.
func (n *nearest) limit(before time.Duration) time.Duration {
	known := len(n.rtts)
	if known == 0 {
		return before
	}
	if known < openingShare*n.count {
		return max(n.rtts[known/openingShare], minLimit)
	}
	kth := n.rtts[n.count-1]
	n.kth = append(n.kth, kth)
	return max(kth-nearestMargin, kth/2)
}

// missing returns how many of the nearest may still be under the limit.
func (n *nearest) missing(limit time.Duration) float64 {
	under, _ := slices.BinarySearch(n.rtts, limit)
	return float64(max(1, n.count-under))
}

// hasEnough reports whether the nearest servers are found. left is what is still under the limit.
// doubt says how doubtful the labels are, from 0 to 1. A warm start searches less.
func (n *nearest) hasEnough(left remaining, doubt float64, warm bool) bool {
	steady, dry := steadyBatches, nearestDry+int(doubt*doubtDry)
	if warm { // the visit before has looked elsewhere
		steady, dry = warmBatches, nearestDry
	}
	if len(n.kth) < steady || n.kth[len(n.kth)-steady]-n.kth[len(n.kth)-1] >= steadyBy {
		return false
	}
	enough := left.needed <= min(max(needLeft*left.need, minNeeded), maxNeeded)
	return enough || warm && left.near <= warmLeft*float64(n.count) || n.dry >= dry
}
