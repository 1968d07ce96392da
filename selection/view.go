package selection

import (
	"cmp"
	"slices"
)

// nobody is left out of a view.
const nobody = -1

// view is a table as one wish sees it: with weights, and perhaps without one of
// the players.
type view struct {
	table   *Table
	dropped int
	// sums are the table's, without the dropped player's cells.
	sums []sums
	// measure is what the wish's rule minimises.
	measure Rule
	weights []float64
	// weight and weight2 are the sums of the weights and of their squares.
	weight, weight2 float64
	// players is how many have to reach a server, at least one.
	players int32
	// lonely: fewer than two players have a say.
	lonely bool
	// excess, if somebody's weight is not 1, is what the weights change.
	excess []excess
}

// excess is what weights change of one server's sums: what they add to the
// total and to the squares, or the highest weighted RTT, as the rule needs it.
type excess struct{ total, squares, worst float64 }

func newView(table *Table, wish Wish, dropped int) *view {
	v := &view{table: table, dropped: dropped, measure: wish.By.measure()}
	v.sums = table.without(dropped)
	v.weights = weightsOf(table.players, wish.Weights, dropped)
	voices, equal := 0, true
	for player, w := range v.weights {
		if player == dropped {
			continue
		}
		v.players++
		v.weight += w
		v.weight2 += w * w
		equal = equal && w == 1
		if w > 0 {
			voices++
		}
	}
	v.players = max(1, v.players)
	v.lonely = voices < 2
	if !equal {
		v.weigh()
	}
	return v
}

// weightsOf gives every column its weight: 1 unless the wish says otherwise.
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

// weigh finds what the weights change, player by player in the order of their
// names, so that the order of columns leaves no trace in rounded sums. Cells
// without an RTT spoil only servers that are culled anyway.
func (v *view) weigh() {
	v.excess = make([]excess, v.table.Servers())
	for _, player := range byName(v.table.players) {
		switch w := v.weights[player]; {
		case player == v.dropped:
		case v.measure == Minimax:
			for server, c := range v.table.column(player) {
				e := &v.excess[server]
				e.worst = max(e.worst, w*float64(c))
			}
		case w != 1:
			for server, c := range v.table.column(player) {
				e, rtt := &v.excess[server], float64(c)
				e.total += (w - 1) * rtt
				e.squares += (w - 1) * rtt * rtt
			}
		}
	}
}

// byName lists the columns in the order of the players' names.
func byName(players []string) []int {
	order := make([]int, len(players))
	for player := range order {
		order[player] = player
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(players[a], players[b]) })
	return order
}

// score is what the rule makes of a server's RTTs, in microseconds. It is
// meaningful only for a server that everyone measured.
func (v *view) score(server int) float64 {
	s := &v.sums[server]
	if v.excess == nil {
		return v.rule(float64(s.total), float64(s.squares), float64(s.worst))
	}
	e := &v.excess[server]
	return v.rule(float64(s.total)+e.total, float64(s.squares)+e.squares, e.worst)
}

// rule is what the rule minimises, given the weighted RTTs' total, squares and
// highest.
func (v *view) rule(total, squares, worst float64) float64 {
	switch {
	case v.measure == Minimax:
		return worst
	case v.measure == Fairness && !v.lonely:
		return deviation(v.weight, v.weight2, total, squares)
	}
	return total / v.weight
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

// where names the players of the view whose cell of a server is so.
func (v *view) where(server int, so func(cell) bool) []string {
	var names []string
	for player, name := range v.table.players {
		if player != v.dropped && so(v.table.cell(player, server)) {
			names = append(names, name)
		}
	}
	return names
}
