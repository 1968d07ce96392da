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

// This file is about the organiser's order to ask players for more servers than they were told.

// worthAsking returns how many more servers it is worth asking each player for. It is 0 if none are
// left. During a vote a coordinated search goes on by itself, so more are worth asking only once it
// is over and promises a gain.
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

// Grant takes the organiser's order to ask each player for more servers. It returns the number
// granted, and notes for people to read before their programs are asked.
func (p *Probing) Grant(g facts.Facts, wanted int, isVoting bool) (notes []sentence.Sentence, servers int, err error) {
	servers, err = p.budget.Grant(wanted, p.worthAsking(g, isVoting))
	if err != nil {
		return nil, 0, err
	}
	notes = append(notes, sentence.Of("room.more", "n", servers))
	if most := p.MaxTold(g); most > 0 {
		notes = append(notes, sentence.Of("room.now", "seen", discovery.ExposureNotice(most, 0, len(g.Servers().List))))
	}
	return notes, servers, nil
}

// Offer returns the advice to ask players for more servers, if that could help.
func (p *Probing) Offer(g facts.Facts, isVoting bool) []wire.Advice {
	n := p.worthAsking(g, isVoting)
	if n == 0 {
		return nil
	}
	return []wire.Advice{{Action: "more", Argument: wire.Argument{Servers: n}, Max: p.budget.Offer(terms(g), n)}}
}

// AskMore begins to ask all players for more servers.
func (p *Probing) AskMore() {
	p.search, p.pace = nil, pace.Pace{}
	p.turns.Begin()
	for _, w := range *p.evidence {
		w.BeginMore()
		w.Share(false)
	}
}
