package rules

import (
	"math"
	"time"
)

// Fairness is the rule of the smallest sample standard deviation. A single player deviates
// from nobody and takes the lowest RTT.
const Fairness Name = "fairness"

var fairness = Rule{
	Name: Fairness, Measure: Fairness, Alone: Mean,
	Deviates: true, Multiplies: true,
	Estimates: 6 * time.Millisecond, // an error counts in full
	Score:     deviation,
	Lean: func(p Pings) []float64 {
		lean, mean := make([]float64, len(p.RTT)), 0.0
		for _, rtt := range p.RTT {
			mean += rtt / float64(len(p.RTT))
		}
		for player, rtt := range p.RTT {
			lean[player] = rtt - mean
		}
		return lean
	},
	Sum: func(s Sums) float64 {
		if s.Players < 2 {
			return 0
		}
		n, total, squares := float64(s.Players), float64(s.Total), float64(s.Squares)
		return math.Sqrt(max(0, n*squares-total*total) / (n * (n - 1)))
	},
	Bound: func(Pings) float64 { return 0 }, // the missing RTTs may equal the others
	Docs: Docs{
		Does:      "everyone has about the same ping",
		Minimises: "the weighted sample deviation", Note: "alone it likes servers that are far from everybody: better with a limit",
	},
}

// deviation returns the weighted sample standard deviation. Squares are divided by n−1 where all
// weights are 1, as in MUSST's Table 2.
func deviation(p Pings) float64 {
	weight, squared, voices := 0.0, 0.0, 0
	for player := range p.RTT {
		if w, counts := p.count(player); counts {
			weight += w
			squared += w * w
			voices++
		}
	}
	mean := average(p)
	if voices < 2 {
		return mean
	}
	squares := 0.0
	for player, rtt := range p.RTT {
		if w, counts := p.count(player); counts {
			squares += w * (rtt - mean) * (rtt - mean)
		}
	}
	return math.Sqrt(squares / (weight - squared/weight))
}
