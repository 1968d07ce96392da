package coordinate

import (
	"math"
	"slices"

	"muster/selection"
)

// scorer makes of the objective a number for each vector of RTTs, lower is better,
// also for servers that the limits cull.
type scorer struct {
	objective *selection.Objective
	limits    []float64 // ms, the strictest first
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

func newScorer(objective *selection.Objective) scorer {
	s := scorer{objective: objective}
	for _, limit := range objective.Limits() {
		s.limits = append(s.limits, limit.Seconds()*1000)
	}
	return s
}

// score is that of RTTs in ms, by player; players whose RTT is 0 do not count.
func (s *scorer) score(rtts []float64) float64 {
	return s.objective.Score(rtts) + overLimit*float64(s.broken(highest(rtts)))
}

// promise is what RTTs say of a server's neighbours: the score, but smooth around
// the limit that the best keeps.
func (s *scorer) promise(rtts []float64) float64 {
	score := s.objective.Score(rtts)
	if len(s.limits) == 0 {
		return score
	}
	worst := highest(rtts)
	limit := s.limits[min(s.rung, len(s.limits)-1)]
	kept := s.rung - min(s.rung, s.broken(worst))
	return score + overLimit*float64(s.rung) - stricter*float64(kept) + overBy*max(0, worst-limit)
}

// highest is the highest RTT.
func highest(rtts []float64) float64 { return max(0, slices.Max(rtts)) }

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
