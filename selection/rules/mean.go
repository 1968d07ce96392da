package rules

import "time"

// Mean is the rule of the lowest average RTT.
const Mean Name = "mean"

var mean = Rule{
	Name: Mean, Measure: Mean,
	Multiplies: true, Averages: true,
	Estimates: 12 * time.Millisecond,
	Score:     average,
	Sum:       func(s Sums) float64 { return float64(s.Total) / float64(s.Players) },
	Bound: func(p Pings) float64 {
		total, weight := 0.0, 0.0
		for player, rtt := range p.RTT {
			total += p.Weight[player] * rtt
			weight += p.Weight[player]
		}
		if weight == 0 {
			return 0
		}
		return total / weight
	},
	Docs: Docs{
		Does:      "the best for the group as a whole; one who is far away pays for it",
		Minimises: `$\sum_p w_p r_p / \sum_p w_p$`, Note: "$w_p$: what a player counts for",
	},
}

// average returns the weighted mean of the RTTs that count.
func average(p Pings) float64 {
	total, weight := 0.0, 0.0
	for player, rtt := range p.RTT {
		if w, counts := p.count(player); counts {
			total += w * rtt
			weight += w
		}
	}
	if weight == 0 {
		return 0
	}
	return total / weight
}
