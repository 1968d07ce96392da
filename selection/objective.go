package selection

import (
	"math"
	"slices"
	"time"
)

// Objective scores servers by the players' RTTs to them: lower is better. It is a
// rule with the players' weights, and the limits on anybody's RTT.
//
// The limits are constraint levels: of two servers the one that keeps a stricter
// limit is better, whatever the scores.
type Objective struct {
	measure Rule
	weights []float64
	limits  []time.Duration
	// own are what the players' extras count from, in the unit of what is scored.
	own []float64
}

// Objective is what the criteria make of the RTTs of these players. A weight that
// is none counts as 1, as all do if nobody has one above 0.
func (c Criteria) Objective(players []string) *Objective {
	o := &Objective{measure: c.By.measure(), limits: slices.Sorted(slices.Values(c.Limits))}
	if n := len(o.limits); n > 1 && !c.By.climbs() {
		o.limits = o.limits[n-1:]
	}
	say := false
	for _, name := range players {
		w, given := c.Weights[name]
		if !given || !ValidWeight(w) {
			w = 1
		}
		o.weights = append(o.weights, w)
		say = say || w > 0
	}
	if !say {
		o.weights = slices.Repeat([]float64{1}, len(players))
	}
	return o
}

// Limits are the constraint levels, the strictest first.
func (o *Objective) Limits() []time.Duration { return o.limits }

// Deviates reports whether scores are deviations, to which it does not matter what all
// RTTs have in common.
func (o *Objective) Deviates() bool { return o.measure == Fairness && len(o.weights) > 1 }

// Sacrifices reports whether scores are extras over players' own bests: see [Objective.Above].
func (o *Objective) Sacrifices() bool { return o.measure == LeastSacrifice }

// Above is the objective with extras that count from these own bests, one a player, in
// the unit of the RTTs that it scores. Without, they count from nothing.
func (o *Objective) Above(own []float64) *Objective {
	above := *o
	above.own = own
	return &above
}

// best is what a player's extra counts from.
func (o *Objective) best(player int) float64 {
	if o.own == nil {
		return 0
	}
	return o.own[player]
}

// Weight is what a player counts for.
func (o *Objective) Weight(player int) float64 { return o.weights[player] }

// Score is what the rule makes of the RTTs to a server, limits apart, in their unit.
// They are by player; one that is 0 does not count.
func (o *Objective) Score(rtts []float64) float64 {
	total, worst, weight, squared, voices := 0.0, math.Inf(-1), 0.0, 0.0, 0
	for player, rtt := range rtts {
		if w := o.weights[player]; rtt > 0 && w > 0 {
			total += w * rtt
			worst = max(worst, w*(rtt-o.best(player)))
			weight += w
			squared += w * w
			voices++
		}
	}
	switch {
	case voices == 0:
		return 0
	case o.measure == Minimax || o.measure == LeastSacrifice:
		return worst
	case o.measure == Mean || voices == 1: // who is alone deviates from nobody
		return total / weight
	}
	mean, squares := total/weight, 0.0
	for player, rtt := range rtts {
		if rtt > 0 {
			squares += o.weights[player] * (rtt - mean) * (rtt - mean)
		}
	}
	return math.Sqrt(squares / freedom(weight, squared))
}

// freedom is what the weighted squares of a sample are divided by for its deviation,
// given the sum of the weights and that of their squares: n−1 if all are 1, as in
// MUSST's Table 2.
func freedom(weight, squared float64) float64 { return weight - squared/weight }

// scores are those of many servers, of which all players have an RTT: column by
// column, as a table keeps them.
func (o *Objective) scores(columns [][]cell) []float64 {
	weight, squared, voices := 0.0, 0.0, 0
	for _, w := range o.weights {
		weight += w
		squared += w * w
		if w > 0 {
			voices++
		}
	}
	scores := make([]float64, len(columns[0]))
	for player, w := range o.weights {
		column := columns[player][:len(scores)]
		if o.measure == Minimax || o.measure == LeastSacrifice {
			own := o.best(player)
			for row, c := range column {
				scores[row] = max(scores[row], w*(float64(c)-own))
			}
			continue
		}
		w /= weight
		for row, c := range column {
			scores[row] += w * float64(c)
		}
	}
	if o.measure != Fairness || voices == 1 {
		return scores
	}
	squares := make([]float64, len(scores))
	for player, w := range o.weights {
		column := columns[player][:len(scores)]
		for row, c := range column {
			off := float64(c) - scores[row]
			squares[row] += w * off * off
		}
	}
	free := freedom(weight, squared)
	for row, sum := range squares {
		scores[row] = math.Sqrt(sum / free)
	}
	return scores
}
