package selection

import (
	"cmp"
	"slices"
	"time"
)

// Manual is the result of a group that chooses by hand (MUSST, NetGames 2005, §4.2 and Table 3).
type Manual struct {
	// Chosen is nil if no server that they looked up suits everyone.
	Chosen *Ranked
	// Time is how long the look-ups take in the paper's model.
	Time time.Duration
}

// lookup is how long a player takes to find a server in a sorted list, in the
// paper's model.
const lookup = time.Second

// ManualBest makes every player look up every server, to find the lowest mean. The time is players
// × servers × 1 s. The paper's 6,400 s are those of four players and 1,600 servers.
func ManualBest(servers Servers, table *Table, criteria Criteria) Manual {
	r := byHand(servers, table, criteria)
	return r.manual(r.best, len(servers.List))
}

// ManualFirst looks only at each player's first choices and takes the one with the lowest mean.
// First choices are the nearest servers that fit the criteria as a server browser shows them. The
// time is players × choices, each looked up by every player. The paper takes "the top choice" of
// four players, and prints 320 s without saying how. This model takes as long with 20 choices a
// player.
func ManualFirst(servers Servers, table *Table, criteria Criteria, choices int) Manual {
	r := byHand(servers, table, criteria)
	looked := make(map[int]bool)
	for player := range table.players {
		nearest := top[int]{limit: max(1, choices), compare: func(a, b int) int {
			return cmp.Or(cmp.Compare(table.cell(player, a), table.cell(player, b)), servers.compare(a, b))
		}}
		for server, causes := range r.causes {
			if table.cell(player, server).answered() && causes == 0 {
				nearest.add(server)
			}
		}
		for _, server := range nearest.sorted() {
			looked[server] = true
		}
	}
	chosen := slices.DeleteFunc(r.best, func(c candidate) bool { return !looked[c.server] })
	return r.manual(chosen, choices*len(table.players))
}

// byHand ranks all servers by their mean, as people do.
func byHand(servers Servers, table *Table, criteria Criteria) *round {
	criteria.By, criteria.Weights, criteria.Top = Mean, nil, 0
	return newRound(NewFilter(servers, criteria), table, nobody)
}

func (r *round) manual(best []candidate, lookups int) Manual {
	m := Manual{Time: time.Duration(lookups*len(r.view.table.players)) * lookup}
	if len(best) > 0 {
		ranked := r.ranked(best[0])
		m.Chosen = &ranked
	}
	return m
}
