package probing

import (
	"time"

	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/room/group"
	"muster/host/room/search"
	"muster/host/wire"
)

// This file is about the servers that the organiser lets players ask beyond what they were told.

// worthAsking returns how many servers more each player could be asked for now, 0 where that
// would help nobody: where all have been asked, or everybody has what can be had. While people
// vote a coordinated search goes on by itself, and says what it expects when it is over.
func (p *Probing) worthAsking(g *group.Group, isVoting bool) int {
	left := p.budget.Left()
	if left == 0 || isVoting && g.Settings.Strategy == wire.Coordinated && !p.search.IsWorthMore() {
		return 0
	}
	var heads []string
	var hidden []int
	for _, natGroup := range g.Origins.Groups(g.ChosenFor()) {
		heads = append(heads, natGroup[0])
		for _, name := range natGroup {
			hidden = append(hidden, g.Nearby.HiddenFrom(name)...)
		}
	}
	return min(left, search.Unasked(g.List.Tree(), g.Table(heads), hidden))
}

// Grant takes the organiser's word that each player should be asked for so many servers more. It
// returns what to tell people before anybody is asked, and how many servers they are.
func (p *Probing) Grant(g *group.Group, wanted int, isVoting bool) (notes []string, servers int, err error) {
	servers, err = p.budget.Grant(wanted, p.worthAsking(g, isVoting))
	if err != nil {
		return nil, 0, err
	}
	notes = append(notes, "the organiser has everyone ask "+search.InWords(servers, "more "))
	if most := p.MostTold(g); most > 0 {
		notes = append(notes, "now "+discovery.Before(most, 0, len(g.Servers.List)))
	}
	return notes, servers, nil
}

// Offer returns what the organiser may do for more servers to be asked, if that could help.
func (p *Probing) Offer(g *group.Group, isVoting bool) []wire.Advice {
	n := p.worthAsking(g, isVoting)
	if n == 0 {
		return nil
	}
	return []wire.Advice{{Text: p.budget.Offer(terms(g), n), Action: "more", Argument: wire.Argument{Servers: n}}}
}

// AskMore begins to ask everybody for more servers. Nobody has said of the next choice that they
// are ready.
func (p *Probing) AskMore(g *group.Group, now time.Time) {
	g.Choice, p.search = g.Choice.Forget(), nil
	p.turns.Begin()
	g.Attendance.Again(now)
	g.Launches.Restart()
	g.Ballot.Withdraw("", ballot.Ready|ballot.ByHand)
	for _, w := range g.Evidence {
		w.AskMore()
		w.Share(false)
	}
}
