package coordinate

import (
	"math"
	"slices"

	"muster/selection"
)

// scorer is a rule as a number for each vector of RTTs, lower is better, also for
// servers that the rule would cull.
type scorer struct {
	by      selection.Rule
	limits  []float64 // ms, the strictest first
	weights []float64 // by player
	// rung is how many of the limits the best so far breaks.
	rung int
}

const (
	// overLimit is what a broken limit costs, in ms: more than any RTT gains, even
	// one with a weight.
	overLimit = 1e6
	// stricter is what a limit stricter than the best's promises, in ms. Where a
	// prediction may keep it or not, much more would drown what is known.
	stricter = 1000
	// overBy punishes what promises to be good by how far it is over the limit, as
	// its neighbours may keep it.
	overBy = 1.5
)

func newScorer(criteria selection.Criteria) scorer {
	s := scorer{by: criteria.By}
	for _, limit := range criteria.Limits {
		s.limits = append(s.limits, limit.Seconds()*1000)
	}
	slices.Sort(s.limits)
	climbs := criteria.By == selection.Threshold || criteria.By == selection.FairThreshold
	if n := len(s.limits); n > 1 && !climbs {
		s.limits = s.limits[n-1:]
	}
	return s
}

// score is that of RTTs in ms, by player; players whose RTT is 0 do not count.
func (s *scorer) score(rtts []float64) float64 {
	score, worst := s.plain(rtts)
	return score + overLimit*float64(s.broken(worst))
}

// promise is what RTTs say of a server's neighbours: the score, but smooth around
// the limit that the best keeps.
func (s *scorer) promise(rtts []float64) float64 {
	score, worst := s.plain(rtts)
	if len(s.limits) == 0 {
		return score
	}
	limit := s.limits[min(s.rung, len(s.limits)-1)]
	kept := s.rung - min(s.rung, s.broken(worst))
	return score + overLimit*float64(s.rung) - stricter*float64(kept) + overBy*max(0, worst-limit)
}

// stretch is what a promise is punished by in a round that looks for what keeps
// the next stricter limit.
func (s *scorer) stretch(worst float64) float64 {
	if s.rung == 0 {
		return 0
	}
	limit, next := s.limits[min(s.rung, len(s.limits)-1)], s.limits[s.rung-1]
	return overBy * (max(0, worst-next) - max(0, worst-limit))
}

// broken is how many of the limits are.
func (s *scorer) broken(worst float64) int {
	n, _ := slices.BinarySearch(s.limits, worst)
	return n
}

// rungOf is how many limits a score has broken.
func (s *scorer) rungOf(score float64) int { return min(int(score/overLimit), len(s.limits)) }

// within is a score in ms, whichever limits it breaks.
func within(score float64) float64 { return math.Mod(score, overLimit) }

// plain is the score without limits, and the highest RTT.
func (s *scorer) plain(rtts []float64) (score, worst float64) {
	total, heaviest, weight := 0.0, 0.0, 0.0
	for player, ms := range rtts {
		if ms > 0 {
			w := s.weights[player]
			worst, heaviest = max(worst, ms), max(heaviest, w*ms)
			total += w * ms
			weight += w
		}
	}
	if weight == 0 {
		return 0, 0
	}
	switch s.by {
	case selection.Minimax:
		return heaviest, worst
	case selection.Fairness, selection.FairThreshold:
		return s.deviation(rtts, total/weight, weight), worst
	}
	return total / weight, worst
}

// deviation is that of a weighted sample, as in [selection.Select].
func (s *scorer) deviation(rtts []float64, mean, weight float64) float64 {
	squares, weights, voices := 0.0, 0.0, 0
	for player, ms := range rtts {
		if w := s.weights[player]; ms > 0 && w > 0 {
			squares += w * (ms - mean) * (ms - mean)
			weights += w * w
			voices++
		}
	}
	if voices < 2 {
		return mean
	}
	return math.Sqrt(squares / (weight - weights/weight))
}
