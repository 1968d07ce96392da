package selection

import (
	"cmp"
	"slices"
	"time"
)

// Objection is what one player's silences cost the others: of the servers that would
// be better for them than the chosen one, those that did not answer this player.
type Objection struct {
	Player string
	// Servers did not answer, the best for the others first, of Better that are better.
	Servers []int
	Better  int
	// Silent did not answer either, of Others that suit the others and are no better.
	Silent, Others int
}

// Objections are those of all players who have any. Less than margin is not better.
// It ranks the servers once for each player.
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

// Objector is the player for whom the most servers are no use that would do for
// nearly all others, all but few: they are too far away, did not answer, or were not
// measured. It is the empty name if nobody stands in the way of any.
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
