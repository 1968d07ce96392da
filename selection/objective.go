package selection

import (
	"slices"
	"time"

	"muster/selection/rules"
)

// Objective scores servers by the players' RTTs to them: lower is better. It is a rule with the
// players' weights, and the limits on anybody's RTT.
//
// The limits are constraint levels: of two servers the one that keeps a stricter limit is better,
// whatever the scores.
type Objective struct {
	rule    *rules.Rule
	weights []float64
	limits  []time.Duration
	// sides are the players' sides, nil if nobody is on one.
	sides []Side
	// own are the RTTs that the players' extras count from, in the unit of the scored RTTs.
	own []float64
}

// Objective returns the criteria's objective for the RTTs of these players. An invalid weight
// counts as 1, and so do all weights if none is above 0.
func (c Criteria) Objective(players []string) *Objective {
	by := rules.Of(c.By)
	o := &Objective{rule: by.For(len(players)), limits: slices.Sorted(slices.Values(c.Limits))}
	if n := len(o.limits); n > 1 && !by.HasLadder() {
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
	o.sides = c.sidesOf(players)
	if !say {
		o.weights = slices.Repeat([]float64{1}, len(players))
	}
	if o.rule.Sides && !(o.hasSay(SideA) && o.hasSay(SideB)) {
		o.rule = rules.Of(o.rule.Alone)
	}
	return o
}

// Limits returns the constraint levels, the strictest first.
func (o *Objective) Limits() []time.Duration { return o.limits }

// Deviates reports whether scores are deviations, which do not change with what all RTTs have in
// common.
func (o *Objective) Deviates() bool { return o.rule.Deviates }

// IsLinear reports whether the score grows in proportion to its lean, down to 0.
func (o *Objective) IsLinear() bool { return o.rule.Sides }

// Sacrifices reports whether scores count from the players' own bests: see [Objective.Above].
func (o *Objective) Sacrifices() bool { return o.rule.OwnBests }

// Above returns the objective with extras that count from these own bests, one for each player, in
// the unit of the scored RTTs. Without own bests they count from 0.
func (o *Objective) Above(own []float64) *Objective {
	above := *o
	above.own = own
	return &above
}

// Weight returns a player's weight.
func (o *Objective) Weight(player int) float64 { return o.weights[player] }

func (o *Objective) hasSay(side Side) bool {
	for player, of := range o.sides {
		if of == side && o.weights[player] > 0 {
			return true
		}
	}
	return false
}

// LimitsItself reports whether the rule sets a limit of its own, because the group has none.
func (o *Objective) LimitsItself() bool { return o.rule.Limit != nil && len(o.limits) == 0 }

// Limit returns the limit that the rule sets itself. lowestWorst is the lowest worst RTT of a server
// that suits, and ms is how much of its unit a millisecond is.
func (o *Objective) Limit(lowestWorst, ms float64) float64 { return o.rule.Limit(lowestWorst, ms) }

// Lean returns the slope of the deviation in each RTT, up to a common factor.
func (o *Objective) Lean(rtts []float64) []float64 {
	return o.rule.Lean(rules.Pings{RTT: rtts, Weight: o.weights, Side: o.sides})
}

// Order returns the figure that orders servers: mostly the score. ms is how much of the RTTs' unit a
// millisecond is.
func (o *Objective) Order(rtts []float64, ms float64) float64 {
	score := o.Score(rtts)
	if o.rule.Rank == nil {
		return score
	}
	return o.rule.Rank(score, rules.Of(Mean).Score(rules.Pings{RTT: rtts, Weight: o.weights}), ms)
}

// mean returns the objective of the lowest mean with the same weights.
func (o *Objective) mean() *Objective { return &Objective{rule: rules.Of(Mean), weights: o.weights} }

// Score returns the rule's score of the RTTs to a server, without limits, in their unit. They are
// by player. An RTT of 0 does not count.
func (o *Objective) Score(rtts []float64) float64 {
	return o.rule.Score(rules.Pings{RTT: rtts, Weight: o.weights, Own: o.own, Side: o.sides})
}

// rowsAtOnce is how many servers are turned from columns into rows at once: few enough to stay in
// the processor's cache.
const rowsAtOnce = 32

// scores returns the scores of many servers that all players have RTTs of. The RTTs come column by
// column, as a table keeps them.
func (o *Objective) scores(columns [][]cell) []float64 {
	scores, n := make([]float64, len(columns[0])), len(columns)
	rtts := make([]float64, rowsAtOnce*n)
	for first := 0; first < len(scores); first += rowsAtOnce {
		rows := min(rowsAtOnce, len(scores)-first)
		for player, column := range columns {
			for row, c := range column[first : first+rows] {
				rtts[row*n+player] = float64(c)
			}
		}
		for row := range rows {
			scores[first+row] = o.Score(rtts[row*n : (row+1)*n])
		}
	}
	return scores
}
