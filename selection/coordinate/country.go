package coordinate

import (
	"math"
	"slices"

	"muster/discovery/plan/topology"
)

// countryStats holds what is known of a country.
type countryStats struct {
	at topology.Node
	// rtts are each player's lowest RTTs, in ms, to each AS that the player measured.
	rtts [][]float64
	// clean is each player's RTT without bad routes, and cleanValue the value of those, if somebody
	// has measured more than one AS.
	clean      []float64
	cleanValue float64
	isClean    bool
	// detoured are the players whose bad routes may hide how near the country is, and bound is the
	// value that it may have if they do.
	detoured []int
	bound    float64
}

const (
	// neighbours is how many countries tell what a player's RTT to one should be.
	neighbours = 3
	// sameWay is the largest ratio between RTTs over the same way.
	sameWay = 1.15
	// At most one player in detourShare may have a bad route to a country.
	detourShare = 8
	// Up to fewASes ASes, the lowest of a player's RTTs to them counts, not the lower median.
	fewASes = 3
	// Two countries are equally far for a player if the RTTs differ by less than some 6 ms plus 6 %
	// of the lower one.
	apartBy, apartShare = 6, 0.06
)

// countryStats summarises what is known of each country.
func (e *estimator) countryStats() []countryStats {
	players := len(e.candidates.questions)
	tree := e.candidates.tree
	var all []countryStats
	as, lowest := topology.Node(-1), make([]float64, players)
	closeAS := func() {
		for player, ms := range lowest {
			if ms > 0 {
				of := &all[len(all)-1]
				of.rtts[player] = append(of.rtts[player], ms)
			}
		}
		clear(lowest)
	}
	for _, c := range e.candidates.all {
		n := tree.Above(c.at, topology.AS)
		if n != as {
			closeAS()
			as = n
		}
		if country := tree.Parent(n); len(all) == 0 || all[len(all)-1].at != country {
			all = append(all, countryStats{at: country, rtts: make([][]float64, players)})
		}
		for player, ms := range c.rtts {
			if ms > 0 && (lowest[player] == 0 || ms < lowest[player]) {
				lowest[player] = ms
			}
		}
	}
	closeAS()
	for i := range all {
		e.findClean(&all[i])
	}
	for i := range all {
		e.findDetours(&all[i], all)
	}
	return all
}

// findClean finds what a country is like without bad routes.
func (e *estimator) findClean(s *countryStats) {
	most := 0
	var sorted []float64
	for player, rtts := range s.rtts {
		most = max(most, len(rtts))
		clean := 0.0
		if n := len(rtts); n > 0 {
			if clean = slices.Min(rtts); n > fewASes {
				sorted = append(sorted[:0], rtts...)
				slices.Sort(sorted)
				clean = sorted[(n-1)/2]
			}
		} else {
			clean, _ = e.predictor.predictOn(player, e.predictor.line(s.at))
		}
		s.clean = append(s.clean, clean)
	}
	if s.isClean = most > 1; s.isClean {
		s.cleanValue = e.value(e.figureOf(e.guested(slices.Clip(s.clean), s.at)))
	}
}

// findDetours finds the players whose RTT alone speaks against a country that the others reach
// well. Only RTTs above most of the group's are considered.
func (e *estimator) findDetours(s *countryStats, all []countryStats) {
	sorted := slices.Sorted(slices.Values(s.clean))
	most := sorted[max(0, len(sorted)-1-(len(sorted)+detourShare-1)/detourShare)]
	likely := slices.Clone(s.clean)
	for player, ms := range s.clean {
		if ms <= most {
			continue
		}
		if expected := s.expected(player, all); ms > sameWay*expected {
			likely[player] = expected
			s.detoured = append(s.detoured, player)
		}
	}
	s.bound = e.value(e.figureOf(e.guested(likely, s.at)))
}

// expected returns the lowest of a player's RTTs to this country and to those that are most like it
// for all others.
func (s *countryStats) expected(player int, all []countryStats) float64 {
	if len(s.clean) == 1 {
		return s.clean[player]
	}
	var near []valued // the best first, at most as many as neighbours
	for i := range all {
		o := &all[i]
		if o == s {
			continue
		}
		most := math.Inf(1)
		if len(near) == neighbours {
			most = near[neighbours-1].value
		}
		apart := 0.0 // how different the two are
		for other, ms := range s.clean {
			if other != player {
				d := (ms - o.clean[other]) / (apartBy + apartShare*min(ms, o.clean[other]))
				if apart += d * d; apart >= most {
					break
				}
			}
		}
		if apart < most {
			near = append(near[:min(len(near), neighbours-1)], valued{topology.Node(i), apart})
			sortValued(near)
		}
	}
	lowest := s.clean[player]
	for _, v := range near {
		lowest = min(lowest, all[v.at].clean[player])
	}
	return lowest
}
