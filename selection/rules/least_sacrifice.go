package rules

import (
	"math"
	"time"
)

// LeastSacrifice is the rule of the lowest worst extra: the RTT over the player's own best.
const LeastSacrifice Name = "least-sacrifice"

var leastSacrifice = Rule{
	Name: LeastSacrifice, Measure: LeastSacrifice,
	OwnBests:  true,
	Estimates: 6 * time.Millisecond, // an error of an own best counts, too
	Score:     worstExtra,
	Bound:     func(p Pings) float64 { return max(0, worstExtra(p)) },
	Docs: Docs{
		Does: "each compares with their own best among the servers that suit everyone, and what anybody " +
			"gives up of it is as little as can be",
		Minimises: `$\max_p w_p (r_p - o_p)$, where $o_p = \min_s r_p(s)$ over the servers that suit everyone`,
		Note:      "who is far from everything drags nobody along",
	},
}

// worstExtra returns the highest RTT over its player's own best, times the player's weight.
func worstExtra(p Pings) float64 {
	worst, voices := math.Inf(-1), 0
	for player, rtt := range p.RTT {
		if w, counts := p.count(player); counts {
			if p.Own != nil {
				rtt -= p.Own[player]
			}
			worst = max(worst, w*rtt)
			voices++
		}
	}
	if voices == 0 {
		return 0
	}
	return worst
}
