package selection

import (
	"math"
	"slices"
)

// nobody is left out of a view.
const nobody = -1

// view is a table under some criteria: with weights, and perhaps without one of
// the players.
type view struct {
	table   *Table
	dropped int
	// sums are the table's, without the dropped player's cells.
	sums []sums
	// measure is what the criteria's rule minimises.
	measure Rule
	weights []float64
	// weight and weight2 are the sums of the weights and of their squares.
	weight, weight2 float64
	// players are the columns in view by name: in that order, rounded sums do
	// not depend on the order of columns.
	players []int
	// needed is how many have to reach a server, at least one.
	needed int32
	// lonely: fewer than two players have a say.
	lonely bool
	// scores, if somebody's weight is not 1, are the servers', in microseconds.
	scores []float64
}

func newView(table *Table, criteria Criteria, dropped int) *view {
	v := &view{table: table, dropped: dropped, measure: criteria.By.measure()}
	v.sums = table.without(dropped)
	v.weights = weightsOf(table.players, criteria.Weights, dropped)
	v.players = slices.DeleteFunc(slices.Clone(table.byName), func(p int) bool { return p == dropped })
	v.needed = max(1, int32(len(v.players)))
	voices, equal := 0, true
	for _, player := range v.players {
		w := v.weights[player]
		v.weight += w
		v.weight2 += w * w
		equal = equal && w == 1
		if w > 0 {
			voices++
		}
	}
	v.lonely = voices < 2
	if !equal {
		v.scores = v.weigh()
	}
	return v
}

// weightsOf gives every column its weight: 1 unless the criteria say otherwise.
func weightsOf(players []string, wanted map[string]float64, dropped int) []float64 {
	weights := slices.Repeat([]float64{1}, len(players))
	for player, name := range players {
		if w, ok := wanted[name]; ok && validWeight(w) {
			weights[player] = w
		}
	}
	for player, w := range weights {
		if player != dropped && w > 0 {
			return weights
		}
	}
	return slices.Repeat([]float64{1}, len(players))
}

// weigh scores all servers column by column. Cells without an RTT spoil only
// servers that are culled anyway.
func (v *view) weigh() []float64 {
	scores := make([]float64, v.table.Servers())
	for _, player := range v.players {
		if column, w := v.table.column(player), v.weights[player]; v.measure == Minimax {
			raise(scores, column, w)
		} else {
			add(scores, column, w/v.weight)
		}
	}
	if v.measure == Fairness && !v.lonely {
		return v.spreads(scores)
	}
	return scores
}

func raise(worst []float64, column []cell, w float64) {
	worst = worst[:len(column)]
	for server, c := range column {
		worst[server] = max(worst[server], w*float64(c))
	}
}

func add(total []float64, column []cell, w float64) {
	total = total[:len(column)]
	for server, c := range column {
		total[server] += w * float64(c)
	}
}

func addSquares(total, means []float64, column []cell, w float64) {
	total, means = total[:len(column)], means[:len(column)]
	for server, c := range column {
		off := float64(c) - means[server]
		total[server] += w * off * off
	}
}

// spreads are the servers' weighted deviations from their means.
func (v *view) spreads(means []float64) []float64 {
	spreads := make([]float64, len(means))
	for _, player := range v.players {
		addSquares(spreads, means, v.table.column(player), v.weights[player])
	}
	for server, squares := range spreads {
		spreads[server] = math.Sqrt(squares / v.freedom())
	}
	return spreads
}

// freedom divides the weighted squares for the deviation of a sample: with all
// weights 1 it is n−1.
func (v *view) freedom() float64 { return v.weight - v.weight2/v.weight }

// score is what the rule makes of a server's RTTs, in microseconds. It is
// meaningful only for a server that everyone measured.
func (v *view) score(server int) float64 {
	s := &v.sums[server]
	switch {
	case v.scores != nil:
		return v.scores[server]
	case v.measure == Minimax:
		return float64(s.worst)
	case v.measure == Fairness && !v.lonely:
		return s.deviation()
	}
	return s.mean()
}

// costed is the score of a finalist whose RTTs are raised by what their quality
// costs.
func (v *view) costed(server int) float64 {
	players, qualities := v.players, v.table.quality[server]
	costs := make([]float64, len(players))
	mean, worst := 0.0, 0.0
	for i, player := range players {
		quality := qualities[player].Cost().Microseconds()
		costs[i] = float64(v.table.cell(player, server)) + float64(quality)
		mean += v.weights[player] * costs[i] / v.weight
		worst = max(worst, v.weights[player]*costs[i])
	}
	switch {
	case v.measure == Minimax:
		return worst
	case v.measure != Fairness || v.lonely:
		return mean
	}
	squares := 0.0
	for i, player := range players {
		squares += v.weights[player] * (costs[i] - mean) * (costs[i] - mean)
	}
	return math.Sqrt(squares / v.freedom())
}

// any tells a server that one of the players' cells is so.
func (v *view) any(server int, so func(cell) bool) bool {
	for player := range v.table.players {
		if player != v.dropped && so(v.table.cell(player, server)) {
			return true
		}
	}
	return false
}

// where names the players of the view whose cell of a server is so, in the
// order of names.
func (v *view) where(server int, so func(cell) bool) []string {
	var names []string
	for player, name := range v.table.players {
		if player != v.dropped && so(v.table.cell(player, server)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
