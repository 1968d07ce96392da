package adaptive

import (
	"slices"
	"time"
)

// nearest has the adaptive plan look for so many nearest servers. The limit is
// then a little under the RTT of the last of them so far, and moves with it.
type nearest struct {
	count int
	rtts  []time.Duration // sorted
	kth   []time.Duration // of each batch, when there were enough
	dry   int             // replies since one was under the limit
}

const (
	// nearestMargin is how much nearer a server has to be to be worth a search.
	nearestMargin = 3 * time.Millisecond
	// nearestLeft is the share of the nearest that may be nearer and unfound.
	nearestLeft = 0.3
	// nearestDry is how many replies without a nearer one are enough: what comes
	// after them is less likely still.
	nearestDry = 200
	// warmDry is that number where memories proved right: the visit before has
	// looked elsewhere.
	warmDry = 150
	// lonelyRTT is more than the nearest server takes for most who play.
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

// lonely says that nobody near has replied.
func (n *nearest) lonely() bool { return len(n.rtts) == 0 || n.rtts[0] > lonelyRTT }

// limit is the next batch's.
func (n *nearest) limit(before time.Duration) time.Duration {
	known := len(n.rtts)
	if known == 0 {
		return before
	}
	if known < 3*n.count {
		return max(n.rtts[known/3], time.Millisecond)
	}
	kth := n.rtts[n.count-1]
	n.kth = append(n.kth, kth)
	return max(kth-nearestMargin, kth/2)
}

// enough says that the nearest are found, when about so many servers under the
// limit are left. A warm start needs to look less.
func (n *nearest) enough(left float64, warm bool) bool {
	const batches, improvement = 3, 2 * time.Millisecond
	if len(n.kth) < batches || n.kth[len(n.kth)-batches]-n.kth[len(n.kth)-1] >= improvement {
		return false
	}
	dry := nearestDry
	if warm {
		dry = warmDry
	}
	return left <= nearestLeft*float64(n.count) || n.dry >= dry
}
