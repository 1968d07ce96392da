package probing

import (
	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/facts"
	"muster/host/room/pace"
	"muster/host/room/people"
	"muster/host/room/search"
	"muster/host/wire"
)

// This file is about the servers that the organiser lets players ask beyond what they were told.

// worthAsking returns how many more servers each player could usefully be asked for now. It is 0 if
// all have been asked, or everybody has all that there is. While people vote a coordinated search
// goes on by itself, and gives its forecast when it is over.
func (p *Probing) worthAsking(g facts.Facts, isVoting bool) int {
	left := p.budget.Left()
	if left == 0 || isVoting && g.Settings().Strategy == wire.Coordinated && !p.search.IsWorthMore() {
		return 0
	}
	var heads []people.ID
	var hidden []int
	for _, natGroup := range g.NATGroups(g.ChosenFor()) {
		heads = append(heads, natGroup[0])
		for _, player := range natGroup {
			hidden = append(hidden, g.HiddenFrom(player)...)
		}
	}
	return min(left, search.Unasked(g.Tree(), g.Table(heads), hidden))
}

// Grant takes the organiser's order to ask each player for so many more servers. It returns notes
// for people, to be read before anybody is asked, and the number of servers.
func (p *Probing) Grant(g facts.Facts, wanted int, isVoting bool) (notes []sentence.Sentence, servers int, err error) {
	servers, err = p.budget.Grant(wanted, p.worthAsking(g, isVoting))
	if err != nil {
		return nil, 0, err
	}
	notes = append(notes, sentence.Of("room.more", "n", servers))
	if most := p.MostTold(g); most > 0 {
		notes = append(notes, sentence.Of("room.now", "seen", discovery.ExposureNotice(most, 0, len(g.Servers().List))))
	}
	return notes, servers, nil
}

// Offer returns the advice to let players ask more servers, if that could help.
func (p *Probing) Offer(g facts.Facts, isVoting bool) []wire.Advice {
	n := p.worthAsking(g, isVoting)
	if n == 0 {
		return nil
	}
	return []wire.Advice{{Action: "more", Argument: wire.Argument{Servers: n}, Most: p.budget.Offer(terms(g), n)}}
}

// AskMore begins to ask everybody for more servers.
func (p *Probing) AskMore() {
	p.search, p.pace = nil, pace.Pace{}
	p.turns.Begin()
	for _, w := range *p.evidence {
		w.BeginMore()
		w.Share(false)
	}
}
