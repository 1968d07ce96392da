package discovery

import (
	"cmp"
	"slices"
	"time"
)

// nearest has the adaptive plan look for so many nearest servers. The limit is
// then a little under the RTT of the last of them so far, and moves with it.
type nearest struct {
	count    int
	rtts     []time.Duration // sorted
	kth      []time.Duration // of each batch, when there were enough
	dry      int             // replies since one was under the limit
	surveyed bool
}

const (
	// nearestMargin is how much nearer a server has to be to be worth a search.
	nearestMargin = 5 * time.Millisecond
	// patience is how many probes may be under way when the next batch is
	// planned: a batch that knows too little is wasted.
	patience = 24
	// nearestLeft is the share of the nearest that may be nearer and unfound.
	nearestLeft = 0.3
	// nearestDry is how many replies without a nearer one are enough: what comes
	// after them is less likely still.
	nearestDry = 200
	// surveyCells more networks of each country are asked, in the nearer third of
	// the countries nearCells: the first server may have answered by way of the
	// other side of the world.
	surveyCells = 2
	nearCells   = 3
)

func (n *nearest) add(rtt time.Duration, near bool) {
	n.dry++
	if near {
		n.dry = 0
	}
	at, _ := slices.BinarySearch(n.rtts, rtt)
	n.rtts = slices.Insert(n.rtts, at, rtt)
}

// survey asks, once, a server of each of the largest networks of the countries.
// With few near servers, all in one of a country's networks, one probe a country
// is likely to miss them.
func (n *nearest) survey(s *search) []Probe {
	if n.surveyed {
		return nil
	}
	n.surveyed = true
	countries := s.byRTT(country)
	var probes []Probe
	for i, c := range countries {
		cells := surveyCells
		if 3*i < len(countries) {
			cells = nearCells
		}
		probes = append(probes, s.largest(c, cells)...)
	}
	return probes
}

// byRTT are the branches of a level, the nearest first. Those that have not
// answered could be.
func (s *search) byRTT(l level) []int32 {
	best := make(map[int32]time.Duration)
	for _, o := range s.seen {
		b := s.branchOf(o.server, l)
		if rtt, ok := best[b]; !ok || o.rtt < rtt {
			best[b] = o.rtt
		}
	}
	var branches []int32
	for i := range s.nodes {
		if s.nodes[i].level == l {
			branches = append(branches, int32(i))
		}
	}
	slices.SortStableFunc(branches, func(a, b int32) int { return cmp.Compare(best[a], best[b]) })
	return branches
}

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
// limit are left.
func (n *nearest) enough(left float64) bool {
	const batches, improvement = 3, 2 * time.Millisecond
	if len(n.kth) < batches || n.kth[len(n.kth)-batches]-n.kth[len(n.kth)-1] >= improvement {
		return false
	}
	return left <= nearestLeft*float64(n.count) || n.dry >= nearestDry
}
