package discovery

import (
	"cmp"
	"slices"
	"time"
)

// A survey looks into several networks of each country, because one may answer
// by way of the other side of the world, or not at all. In the nearer third of
// the countries it looks into nearNetworks, elsewhere into surveyNetworks.
const (
	surveyNetworks = 3
	nearNetworks   = 4
)

// survey asks one server of each of the largest networks of the countries of
// which too few were asked.
func (s *search) survey() []Probe {
	var probes []Probe
	countries := s.countriesByRTT()
	for i, c := range countries {
		networks := surveyNetworks
		if 3*i < len(countries) {
			networks = nearNetworks
		}
		probes = append(probes, s.askLargest(c, networks)...)
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

// askLargest asks one server of each of a branch's largest twigs, until n of
// them were asked.
func (s *search) askLargest(branch int32, n int) []Probe {
	best := newTop(n)
	for i := branch + 1; i < s.nodes[branch].after; i = s.nodes[i].after {
		if s.nodes[i].asked() > 0 {
			n--
			continue
		}
		best.offer(candidate{i, float64(s.nodes[i].size)})
	}
	var probes []Probe
	for _, c := range best.sorted() {
		if len(probes) < n {
			probes = append(probes, s.ask(s.draw(c.node), Calibration))
		}
	}
	return probes
}
