package selection

import (
	"slices"

	"muster/selection/rules"
)

// nobody stands for no dropped player.
const nobody = -1

// microseconds is how much of a cell's unit a millisecond is.
const microseconds = 1000

// view is a table under some criteria, perhaps without one of the players.
type view struct {
	table *Table
	// sums are the table's, row by row, without the dropped player's cells.
	sums []sums
	// players are the columns in view by name. In that order, rounded sums do not depend on the
	// order of columns.
	players []int
	// needed is how many players have to reach a server. It is at least 1.
	needed int32
	// objective scores RTTs in the order of the players in view.
	objective *Objective
	// excess is that of the players in view, nil if nobody has one.
	excess []Excess
	// scores are the rows' scores, in microseconds, if somebody's weight is not 1 or extras count.
	scores []float64
	// means are the rows' means, in microseconds, if the order of servers depends on them.
	means []float64
	// own are the servers of the players' own bests, in the order of players, if extras count and
	// there are any.
	own []int
}

func newView(table *Table, criteria Criteria, dropped int) *view {
	v := &view{table: table, sums: table.without(dropped)}
	v.players = slices.DeleteFunc(slices.Clone(table.byName), func(player int) bool { return player == dropped })
	v.needed = max(1, int32(len(v.players)))
	v.objective = criteria.Objective(v.names(v.players))
	if len(criteria.Excess) > 0 {
		for _, name := range v.names(v.players) {
			v.excess = append(v.excess, criteria.Excess[name])
		}
	}
	isWeighted := slices.ContainsFunc(v.objective.weights, func(w float64) bool { return w != 1 })
	if !v.objective.Sacrifices() && (isWeighted || v.objective.rule.Sum == nil) {
		v.weigh()
	}
	return v
}

// weigh scores all rows by their cells. Cells without an RTT spoil only servers that are culled
// anyway.
func (v *view) weigh() {
	var columns [][]cell
	for _, player := range v.players {
		columns = append(columns, v.table.columns[player])
	}
	if v.objective.rule.Rank != nil {
		v.means = v.objective.mean().scores(columns)
	}
	if v.objective.rule.Sides && v.excess != nil {
		for i, column := range columns {
			columns[i] = make([]cell, len(column))
			for row, c := range column {
				columns[i][row] = cell(v.confirmed(i, c))
			}
		}
	}
	v.scores = v.objective.scores(columns)
}

// countFrom makes extras count from the players' lowest RTTs to these servers.
func (v *view) countFrom(own []int) {
	v.own = own
	bests := make([]float64, len(own))
	for i, server := range own {
		bests[i] = float64(v.table.cell(v.players[i], server))
	}
	v.objective = v.objective.Above(bests)
	v.weigh()
}

// extra returns how much a player's RTT to a server exceeds the player's own best, in microseconds. It is
// below 0 if the server does not suit everyone.
func (v *view) extra(i, server int) float64 {
	return float64(v.table.cell(v.players[i], server)) - v.objective.own[i]
}

// figure returns a rule's figure of a server, in microseconds, without weights and limits.
func (v *view) figure(rule *rules.Rule, server int) float64 {
	if rule.Sum != nil {
		return v.sumsOf(server).figure(rule)
	}
	pings := rules.Equal(v.rtts(rule, server), v.objective.own)
	pings.Side = v.objective.sides
	return rule.Score(pings)
}

// rtts returns the players' RTTs to a server that all have measured, in microseconds, as a rule counts
// them.
func (v *view) rtts(rule *rules.Rule, server int) []float64 {
	rtts := make([]float64, len(v.players))
	for i, player := range v.players {
		if rtts[i] = float64(v.table.cell(player, server)); rule.Sides {
			rtts[i] = v.confirmed(i, v.table.cell(player, server))
		}
	}
	return rtts
}

// order returns the figure by which a rule orders servers, in microseconds, without weights and
// limits.
func (v *view) order(rule *rules.Rule, server int) float64 {
	return rule.Order(v.figure(rule, server), v.sumsOf(server).mean(), microseconds)
}

func (v *view) sumsOf(server int) *sums { return &v.sums[v.table.rows[server]] }

// score returns the rule's score of a server's RTTs, in microseconds. It is meaningful only for a
// server that everyone measured. Without weights it is the objective's score of the sums, which are
// exact.
func (v *view) score(server int) float64 {
	row := v.table.rows[server]
	if v.scores != nil {
		return v.scores[row]
	}
	return v.figure(v.objective.rule, server)
}

// costed returns the score of a finalist, with each RTT raised by the part of the quality's cost
// that is not the player's line. A deviation is raised by the mean of those, because it would fall
// if the nearest player had a bad way.
func (v *view) costed(server int, lines []int64) float64 {
	rtts, qualities, mean := v.rtts(v.objective.rule, server), make([]float64, len(v.players)), 0.0
	for i, player := range v.players {
		qualities[i] = float64(max(0, v.table.quality[server][player].Cost().Microseconds()-lines[i]))
		mean += qualities[i] / float64(len(v.players))
	}
	if v.objective.Deviates() {
		return v.objective.Score(rtts) + mean
	}
	for i := range rtts {
		rtts[i] += qualities[i]
	}
	return v.objective.Score(rtts)
}

// playersWhere returns the players, as columns by name, whose cell of a server satisfies the condition.
func (v *view) playersWhere(server int, so func(cell) bool) []int {
	return slices.DeleteFunc(slices.Clone(v.players), func(player int) bool { return !so(v.table.cell(player, server)) })
}

// names returns the names of some players.
func (v *view) names(players []int) (names []string) {
	for _, player := range players {
		names = append(names, v.table.players[player])
	}
	return names
}
