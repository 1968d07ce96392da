package wire

import (
	"fmt"
	"math"

	"muster/selection"
)

// Search is how far a coordinated search is.
type Search struct {
	Rounds int `json:"rounds"`
	// Found: a server that suits everyone was measured by all. The best so far has
	// these RTTs in ms.
	Found   bool    `json:"found"`
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	StdevMS float64 `json:"stdev_ms"`
	// GainMS is how much better a server may yet be found, as far as the host can
	// tell; nil before it can.
	GainMS *float64 `json:"gain_ms,omitempty"`
}

// Sentence tells of the search in a room with such a rule.
func (s *Search) Sentence(by selection.Rule) string {
	if !s.Found {
		return "no server suits everyone so far"
	}
	best := fmt.Sprintf("%.0f ms on average", s.MeanMS)
	switch by {
	case selection.Minimax:
		best = fmt.Sprintf("%.0f ms for the worst off", s.MaxMS)
	case selection.Fairness, selection.FairThreshold:
		best = fmt.Sprintf("%.0f ms on average, ± %.0f between players", s.MeanMS, s.StdevMS)
	}
	if s.GainMS == nil {
		return "best so far, " + best
	}
	return fmt.Sprintf("best so far, %s; at most %.0f ms better is to be had", best, math.Ceil(*s.GainMS))
}
