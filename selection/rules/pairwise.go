package rules

import (
	"math"
	"time"
)

// Pairwise is the rule of the lowest sum of the two highest RTTs: lockstep games, voice and
// music pay for the slowest pair of players.
const Pairwise Name = "pairwise"

var pairwise = Rule{
	Name: Pairwise, Measure: Pairwise,
	Multiplies: true,
	Estimates:  6 * time.Millisecond, // nobody has measured that larger errors help
	Score:      slowestPair,
	Sum:        func(s Sums) float64 { return float64(s.Worst) + float64(s.Second) },
	Bound:      slowestPair,
	Docs: Docs{
		Does:      "the two highest pings together are as low as can be, for lockstep games, voice and music, which wait for the slowest pair",
		Minimises: `$\max_{p \ne q} (r_p + r_q)$`, Note: "who has weight 2 may be both of the pair",
	},
}

// slowestPair returns the sum of the two highest RTTs. Players share the two places by weight.
func slowestPair(p Pings) float64 {
	sum, places := 0.0, 2.0
	for last, at := math.Inf(1), -1; places > 0; {
		next := -1
		for player, rtt := range p.RTT {
			isLeft := rtt < last || rtt == last && player > at
			if _, counts := p.count(player); counts && isLeft && (next < 0 || rtt > p.RTT[next]) {
				next = player
			}
		}
		if next < 0 {
			return sum
		}
		last, at = p.RTT[next], next
		share := min(p.Weight[next], places)
		sum += share * last
		places -= share
	}
	return sum
}
