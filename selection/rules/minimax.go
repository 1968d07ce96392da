package rules

import "time"

// Minimax is the rule of the lowest worst RTT.
const Minimax Name = "minimax"

var minimax = Rule{
	Name: Minimax, Measure: Minimax,
	Estimates: 10 * time.Millisecond,
	Score:     highest,
	Sum:       func(s Sums) float64 { return float64(s.Worst) },
	Bound:     highest,
	Docs: Docs{
		Does:      "the highest ping is as low as can be; one who is far from everything moves everybody",
		Minimises: `$\max_p w_p r_p$`, Note: "for the worst off",
	},
}

// highest returns the highest RTT times its player's weight.
func highest(p Pings) float64 {
	worst := 0.0
	for player, rtt := range p.RTT {
		if w, counts := p.count(player); counts {
			worst = max(worst, w*rtt)
		}
	}
	return worst
}
