package selection

import (
	"cmp"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Influence is how much a choice hangs on one player's word, or on two players': what the others
// would have chosen without it. It is large for a distant player, and for a liar. People know best
// which of the two it is.
type Influence struct {
	Player string `json:"player"`
	// With is a second player, if neither decides alone. Here and There are the first one's.
	With string `json:"with,omitempty"`
	// Server is the server that they would have chosen, at Addr.
	Server int               `json:"-"`
	Addr   hostport.AddrPort `json:"addr"`
	// Gain is how much lower its score for the others is, in milliseconds.
	Gain float64 `json:"gain_ms"`
	// Here and There are the player's own RTTs to the chosen server and to that one, in
	// milliseconds. There is 0 if the player reports no answer from it.
	Here  float64 `json:"here_ms"`
	There float64 `json:"there_ms,omitempty"`
}

// A choice may hang on two players together if they are fewer than a third. Pairs of more players
// than mostPaired are too many to try.
const fewestPaired, mostPaired = 7, 16

// Influences returns those of all players without whose word the others would have chosen another
// server, and the pair of players without whose word that server would be best, if neither of the
// two decides alone. The largest comes first. It ranks the servers once for each player and pair,
// so call it for a final choice, not for one of many.
func Influences(servers Servers, table *Table, criteria Criteria, chosen int) []Influence {
	criteria.Top, criteria.Reasons = 1, -1
	filter := NewFilter(servers, criteria)
	var all []Influence
	if len(table.players) < 2 {
		return nil // there are no others
	}
	whole := newRound(filter, table, nobody)
	if whole.law.decides {
		return nil // the rule has chosen nothing
	}
	// of returns the influence of a player of some.
	of := func(some *Table, player int) (i Influence, is bool) {
		rest := newRound(filter, some, player)
		if whole.losesSide(rest) {
			return i, false // the others have nobody left to be even with
		}
		doc := rest.document()
		if doc.Chosen == nil || doc.Chosen.Server == chosen || !rest.suits(chosen) {
			return i, false
		}
		i = Influence{
			Player: some.players[player],
			Server: doc.Chosen.Server,
			Addr:   doc.Chosen.Addr,
			Gain:   millis(rest.score(chosen) - rest.score(doc.Chosen.Server)),
		}
		if here := some.cell(player, chosen); here.answered() {
			i.Here = millis(float64(here))
		}
		if there := some.cell(player, doc.Chosen.Server); there.answered() {
			i.There = millis(float64(there))
		}
		return i, i.Gain > 0 // a seat to spare may have decided instead
	}
	deciding := map[int]bool{}
	for _, player := range table.byName {
		if i, is := of(table, player); is {
			all, deciding[player] = append(all, i), i.Gain >= worthSaying
		}
	}
	var pair Influence
	if n := len(table.players); n >= fewestPaired && n <= mostPaired {
		for at, player := range table.byName {
			if deciding[player] {
				continue
			}
			some := table.Of(slices.Delete(slices.Clone(table.players), player, player+1))
			for _, with := range table.byName[at+1:] {
				if deciding[with] {
					continue
				}
				if i, is := of(some, slices.Index(some.players, table.players[with])); is && i.Gain > pair.Gain {
					pair, pair.With = i, table.players[player]
				}
			}
		}
	}
	if pair.Gain >= worthSaying {
		all = append(all, pair)
	}
	slices.SortStableFunc(all, func(a, b Influence) int { return cmp.Compare(b.Gain, a.Gain) })
	return all
}

// sentence returns "The choice hangs on ann's word alone: …".
func (i Influence) sentence() sentence.Sentence {
	if i.With != "" {
		return sentence.Of("why.influence-pair", "player", i.Player, "other", i.With, "server", i.Addr, "gain", rules.Exact(i.Gain))
	}
	pairs := []any{"player", i.Player, "here", rules.Exact(i.Here), "server", i.Addr, "gain", rules.Exact(i.Gain)}
	if i.There > 0 {
		return sentence.Of("why.influence", append(pairs, "there", rules.Exact(i.There))...)
	}
	return sentence.Of("why.influence-silent", pairs...)
}
