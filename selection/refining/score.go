package refining

import (
	"math"
	"slices"

	"muster/selection"
)

// scorer is a rule as a number for each vector of RTTs, lower is better, also for
// servers that the rule would cull: for those it says how far they are from
// being any good.
type scorer struct {
	by      selection.Rule
	limits  []float64 // ms, the strictest first
	weights []float64 // by player
}

// overLimit is what a broken limit costs, in ms: more than any RTT gains.
const overLimit = 1000

func newScorer(wish selection.Wish) scorer {
	s := scorer{by: wish.By}
	for _, limit := range wish.Limits {
		s.limits = append(s.limits, limit.Seconds()*1000)
	}
	slices.Sort(s.limits)
	climbs := wish.By == selection.Threshold || wish.By == selection.FairThreshold
	if n := len(s.limits); n > 1 && !climbs {
		s.limits = s.limits[n-1:]
	}
	return s
}

// score is that of RTTs in ms, by player; players whose RTT is 0 do not count.
func (s *scorer) score(rtts []float64) float64 {
	worst, total, heaviest, weight := 0.0, 0.0, 0.0, 0.0
	for player, ms := range rtts {
		if ms > 0 {
			w := s.weights[player]
			worst, heaviest = max(worst, ms), max(heaviest, w*ms)
			total += w * ms
			weight += w
		}
	}
	if weight == 0 {
		return 0
	}
	score := total / weight
	switch s.by {
	case selection.Minimax:
		score = heaviest
	case selection.Fairness, selection.FairThreshold:
		score = s.deviation(rtts, score, weight)
	}
	for _, limit := range s.limits {
		if worst > limit {
			score += overLimit + worst - limit
		}
	}
	return score
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
