package selection

import "slices"

// nobody is left out of a view.
const nobody = -1

// view is a table under some criteria, perhaps without one of the players.
type view struct {
	table   *Table
	dropped int
	// sums are the table's, row by row, without the dropped player's cells.
	sums []sums
	// players are the columns in view by name: in that order, rounded sums do not
	// depend on the order of columns.
	players []int
	// needed is how many have to reach a server, at least one.
	needed int32
	// objective scores RTTs in the order of the players in view.
	objective *Objective
	// scores, if somebody's weight is not 1, are the rows', in microseconds.
	scores []float64
}

func newView(table *Table, criteria Criteria, dropped int) *view {
	v := &view{table: table, dropped: dropped, sums: table.without(dropped)}
	var names []string
	for _, player := range table.byName {
		if player != dropped {
			v.players, names = append(v.players, player), append(names, table.players[player])
		}
	}
	v.needed = max(1, int32(len(names)))
	v.objective = criteria.Objective(names)
	if slices.ContainsFunc(v.objective.weights, func(w float64) bool { return w != 1 }) {
		// cells without an RTT spoil only servers that are culled anyway
		var columns [][]cell
		for _, player := range v.players {
			columns = append(columns, table.columns[player])
		}
		v.scores = v.objective.scores(columns)
	}
	return v
}

// of is what is summed up of a server.
func (v *view) of(server int) *sums { return &v.sums[v.table.rows[server]] }

// score is what the rule makes of a server's RTTs, in microseconds. It is
// meaningful only for a server that everyone measured. Without weights it is the
// objective's of the sums, which are exact.
func (v *view) score(server int) float64 {
	row := v.table.rows[server]
	if v.scores != nil {
		return v.scores[row]
	}
	measure := v.objective.measure
	if len(v.players) < 2 && measure == Fairness {
		measure = Mean
	}
	return v.sums[row].by(measure)
}

// costed is the score of a finalist whose RTTs are raised by what their quality
// costs.
func (v *view) costed(server int) float64 {
	costs := make([]float64, len(v.players))
	for i, player := range v.players {
		quality := v.table.quality[server][player].Cost().Microseconds()
		costs[i] = float64(v.table.cell(player, server)) + float64(quality)
	}
	return v.objective.Score(costs)
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
