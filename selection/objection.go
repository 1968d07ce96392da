package selection

import (
	"cmp"
	"slices"
	"time"
)

// Objection is the cost of one player's silences to the others: some servers that would be better
// for them than the chosen one did not answer this player.
type Objection struct {
	Player string
	// Servers did not answer, the best for the others first. Better counts all that are better.
	Servers []int
	Better  int
	// Silent counts those of Others that did not answer either. Others are the servers that suit
	// the others and are no better.
	Silent, Others int
}

// Objections returns the objections of all players who have any. A server counts as better from
// margin on. It ranks the servers once for each player.
func Objections(servers Servers, table *Table, criteria Criteria, chosen int, margin time.Duration) []Objection {
	criteria.Top, criteria.Reasons = 0, -1
	filter := NewFilter(servers, criteria)
	var all []Objection
	for _, player := range table.byName {
		rest := newRound(filter, table, player)
		if len(rest.view.players) == 0 || !rest.suits(chosen) {
			continue
		}
		o, most := Objection{Player: table.players[player]}, rest.score(chosen)-float64(margin.Microseconds())
		for server := range rest.fates {
			c := table.cell(player, server)
			silent := c != unprobed && !c.answered()
			switch {
			case !rest.suits(server):
			case rest.score(server) > most:
				o.Others++
				if silent {
					o.Silent++
				}
			default:
				o.Better++
				if silent {
					o.Servers = append(o.Servers, server)
				}
			}
		}
		slices.SortFunc(o.Servers, func(a, b int) int {
			return cmp.Or(cmp.Compare(rest.score(a), rest.score(b)), servers.compare(a, b))
		})
		if len(o.Servers) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// Objector returns the player who rules out the most servers that would suit nearly all others, all
// but few. These servers are too far from the player, did not answer, or were not measured. The
// name is empty if nobody rules out any.
func Objector(servers Servers, table *Table, criteria Criteria, few int) string {
	filter, farthest := NewFilter(servers, criteria), maxRTT
	if limits := criteria.Objective(table.players).limits; len(limits) > 0 {
		farthest = cell(limits[len(limits)-1].Microseconds())
	}
	objections := make([]int, len(table.players))
	for server := range table.rows {
		var against []int
		for player := range table.players {
			if c := table.cell(player, server); !c.answered() || c > farthest {
				against = append(against, player)
			}
		}
		if len(against) == 0 || len(against) > few || len(against) == len(table.players) {
			continue
		}
		if barred, unknown := filter.Bars(server); barred || unknown {
			continue
		}
		for _, player := range against {
			objections[player]++
		}
	}
	name, most := "", 0
	for _, player := range table.byName {
		if objections[player] > most {
			name, most = table.players[player], objections[player]
		}
	}
	return name
}
