package selection

import (
	"cmp"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection/rules"
)

// Influence is how much a choice hangs on one player's word: what the others would have chosen
// without the player's report. It is large for a distant player, and for a liar. People know best
// which of the two it is.
type Influence struct {
	Player string `json:"player"`
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

// Influences returns those of all players without whose word the others would have chosen another
// server, the largest first. It ranks the servers once for each player, so call it for a final
// choice, not for one of many.
func Influences(servers Servers, table *Table, criteria Criteria, chosen int) []Influence {
	criteria.Top, criteria.Reasons = 1, -1
	filter := NewFilter(servers, criteria)
	var all []Influence
	if len(table.players) < 2 {
		return nil // there are no others
	}
	sided := newView(table, criteria, nobody).objective.rule.Sides
	for _, player := range table.byName {
		rest := newRound(filter, table, player)
		if sided && !rest.view.objective.rule.Sides {
			continue // the others have nobody left to be even with
		}
		doc := rest.document()
		if doc.Chosen == nil || doc.Chosen.Server == chosen || !rest.suits(chosen) {
			continue
		}
		i := Influence{
			Player: table.players[player],
			Server: doc.Chosen.Server,
			Addr:   doc.Chosen.Addr,
			Gain:   millis(rest.score(chosen) - rest.score(doc.Chosen.Server)),
		}
		if here := table.cell(player, chosen); here.answered() {
			i.Here = millis(float64(here))
		}
		if there := table.cell(player, doc.Chosen.Server); there.answered() {
			i.There = millis(float64(there))
		}
		if i.Gain > 0 { // a seat to spare may have decided instead
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b Influence) int { return cmp.Compare(b.Gain, a.Gain) })
	return all
}

// sentence returns "The choice hangs on ann's word alone: …".
func (i Influence) sentence() sentence.Sentence {
	pairs := []any{"player", i.Player, "here", rules.Exact(i.Here), "server", i.Addr, "gain", rules.Exact(i.Gain)}
	if i.There > 0 {
		return sentence.Of("why.influence", append(pairs, "there", rules.Exact(i.There))...)
	}
	return sentence.Of("why.influence-silent", pairs...)
}
