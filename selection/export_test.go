package selection

// Pivots returns, for every player, the others' choice without that player, in the order of the
// players. A choice shows only the bottleneck's.
func (f *Filter) Pivots(table *Table) []Without {
	r := newRound(f, table, nobody)
	if len(r.best) == 0 || len(table.players) < 2 {
		return nil
	}
	chosen := r.ranked(r.best[0])
	pivots := make([]Without, len(table.players))
	for player := range pivots {
		if w := r.without(player, &chosen); w != nil {
			pivots[player] = *w
		}
	}
	return pivots
}
