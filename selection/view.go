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
	// unequal are the players whose weight is not 1, by name, so that the
	// players' order leaves no trace in rounded sums.
	unequal          []weighted
	weights          []float64
	weight, weight2  float64
	heaviest         []float64
	lonely, balanced bool
}

type weighted struct {
	player int
	weight float64
}

func newView(table *Table, wish Wish, dropped int) *view {
	v := &view{table: table, dropped: dropped}
	v.weights = weightsOf(table.players, wish.Weights, dropped)
	voices := 0
	for player, w := range v.weights {
		if player == dropped {
			continue
		}
		v.weight += w
		v.weight2 += w * w
		if w > 0 {
			voices++
		}
		if w != 1 {
			v.unequal = append(v.unequal, weighted{player, w})
		}
	}
	v.lonely = voices < 2
	v.balanced = len(v.unequal) == 0
	slices.SortFunc(v.unequal, func(a, b weighted) int {
		return cmp.Compare(table.players[a.player], table.players[b.player])
	})
	if !v.balanced && wish.By.measure() == Minimax {
		v.heaviest = v.weighWorst()
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

// weighWorst finds each server's highest weighted RTT in microseconds. Cells
// without an RTT spoil only servers that are culled anyway.
func (v *view) weighWorst() []float64 {
	worst := make([]float64, v.table.Servers())
	for player, w := range v.weights {
		if player == v.dropped {
			continue
		}
		for server, c := range v.table.column(player) {
			worst[server] = max(worst[server], w*float64(c))
		}
	}
	return worst
}

// players is how many players have to reach a server.
func (v *view) players() int32 {
	if v.dropped == nobody {
		return int32(len(v.table.players))
	}
	return int32(len(v.table.players) - 1)
}

// sums is what the players of the view measured of a server.
func (v *view) sums(server int) sums {
	s := v.table.sums[server]
	if v.dropped == nobody {
		return s
	}
	return s.without(v.table.cell(v.dropped, server))
}

// score is what a rule minimises, in microseconds. It is meaningful only for a
// server that everyone measured.
func (v *view) score(measure Rule, server int, s sums) float64 {
	switch {
	case measure == Minimax && v.balanced:
		return float64(s.worst)
	case measure == Minimax:
		return v.heaviest[server]
	case measure == Fairness && !v.lonely:
		return v.deviation(server, s)
	}
	return v.mean(server, s)
}

func (v *view) mean(server int, s sums) float64 {
	total := float64(s.total)
	for _, u := range v.unequal {
		total += (u.weight - 1) * float64(v.table.cell(u.player, server))
	}
	return total / v.weight
}

func (v *view) deviation(server int, s sums) float64 {
	total, squares := float64(s.total), float64(s.squares)
	for _, u := range v.unequal {
		rtt := float64(v.table.cell(u.player, server))
		total += (u.weight - 1) * rtt
		squares += (u.weight - 1) * rtt * rtt
	}
	return deviation(v.weight, v.weight2, total, squares)
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
