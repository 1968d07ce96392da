package adaptive

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"muster/discovery"
)

// A survey has several networks of each country answer, because one may do so by
// way of the other side of the world. In the nearer third of the countries they
// are nearNetworks, elsewhere surveyNetworks.
const (
	surveyNetworks = 4
	nearNetworks   = 6
	// Where nobody is near, all of the player's own country may be reached that
	// way so far: in every country further networks have to answer.
	lonelyNetworks = 4
)

// survey asks one server of each of the largest networks of the countries of
// which too few have answered, may yet, or are remembered. So many further ones
// are asked in each.
func (s *search) survey(further int) []discovery.Probe {
	var probes []discovery.Probe
	countries := s.countriesByRTT()
	for i, c := range countries {
		networks := surveyNetworks
		if 3*i < len(countries) {
			networks = nearNetworks
		}
		probes = append(probes, s.askLargest(c, networks+further)...)
	}
	return probes
}

// countriesByRTT are the countries' branches, the nearest first. Those that have
// not answered could be.
func (s *search) countriesByRTT() []int32 {
	best := make(map[int32]time.Duration)
	for _, o := range s.seen {
		b := s.branchOf(o.server, country)
		if rtt, ok := best[b]; !ok || o.rtt < rtt {
			best[b] = o.rtt
		}
	}
	var branches []int32
	for i, n := range s.open() {
		if n.level == country {
			branches = append(branches, i)
		}
	}
	slices.SortStableFunc(branches, func(a, b int32) int { return cmp.Compare(best[a], best[b]) })
	return branches
}

// askLargest asks one server of each of a country's largest networks, and of its
// /16s if it has too few networks, until n of them have answered, may yet, or
// are remembered.
func (s *search) askLargest(branch int32, n int) []discovery.Probe {
	var probes []discovery.Probe
	for _, l := range []level{cell, block} {
		best, left := newTop(n), n
		for i, b := range s.twigs(branch, l) {
			switch {
			case b.asked() > b.lost || s.memory.surveyed(i):
				left--
			case b.asked() == 0:
				best.offer(candidate{i, float64(b.size)})
			}
		}
		largest := best.sorted()
		for _, c := range largest[:min(max(0, left), len(largest))] {
			probes = append(probes, s.ask(s.draw(c.node), discovery.Calibration))
		}
	}
	return probes
}

// twigs are the nodes of a level in a branch.
func (s *search) twigs(branch int32, l level) iter.Seq2[int32, *node] {
	return func(yield func(int32, *node) bool) {
		for i := branch + 1; i < s.nodes[branch].after; {
			n := &s.nodes[i]
			switch {
			case n.level < l:
				i++
			case !yield(i, n):
				return
			default:
				i = n.after
			}
		}
	}
}
