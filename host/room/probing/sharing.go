package probing

import (
	"slices"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/search"
)

// This file is about NAT groups that share the whole list among their members.

// Disband ends the sharing of a list within NAT groups.
func (p *Probing) Disband() { p.shares = nil }

// Share divides the unmeasured servers among the members of each NAT group that shares the list, if
// the groups have changed. It returns the questions.
func (p *Probing) Share(g facts.Facts, m Moment) (asks []search.Ask) {
	sharers := people.Filtered(g.Present(), func(player people.ID) bool { return p.results(player).IsSharing() })
	if p.shares == nil && len(sharers) == 0 {
		return nil
	}
	sharing := g.NATGroups(sharers)
	if p.shares != nil && p.shares.Are(sharing) {
		return nil
	}
	out, groups := p.unreported(g), p.members(g, sharing, m)
	p.shares = search.Form(groups, out)
	for i, players := range sharing {
		mates := g.NATGroup(players[0])
		known := p.evidence.Of(mates)
		var unasked []int
		for server := range g.Servers().List {
			if p.shares.IsOut(i, server) || evidence.Pooled(known, server).State != discovery.Unprobed {
				continue
			}
			if !slices.ContainsFunc(mates, func(mate people.ID) bool { return g.IsHidden(mate, server) }) {
				unasked = append(unasked, server)
			}
		}
		asks = append(asks, p.Ask(g, p.shares.Deal(i, groups[i], unasked), m)...)
	}
	return asks
}

// FinishedShares returns the players of NAT groups that have just finished the list, and notes for
// people.
func (p *Probing) FinishedShares(g facts.Facts) (all []people.ID, notes []sentence.Sentence) {
	if p.shares == nil {
		return nil, nil
	}
	for _, players := range p.shares.Finished() {
		if p.results(players[0]) == nil {
			continue
		}
		mates := g.NATGroup(players[0])
		finished := people.Filtered(mates, func(player people.ID) bool {
			return p.results(player).IsSharing() && !g.Mark(player).Done
		})
		if len(finished) == 0 {
			continue
		}
		all = append(all, finished...)
		probed, answered := g.Knowledge(mates[0]).Progress()
		notes = append(notes, sentence.Of("room.measured-together",
			"players", len(mates), "n", probed, "answered", answered))
	}
	return all, notes
}
