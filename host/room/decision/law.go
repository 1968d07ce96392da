package decision

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/bans"
	"muster/host/room/facts"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/law"
)

// lawOf returns what the match's law lays down about its captains' moves over the best servers, over
// how many of these they move, and notes for people. Without players on both sides it lays down
// nothing.
func lawOf(g facts.Facts, servers []int) (rules bans.Law, kept int, notes []sentence.Sentence) {
	l, kept := g.Settings().Law.Law, len(servers)
	if l == nil || kept == 0 {
		return rules, kept, nil
	}
	judged := judgement(g, servers[0])
	if judged == nil {
		return rules, kept, []sentence.Sentence{sentence.Of("law.note.no-sides", "league", l.League)}
	}
	rules = bans.Law{Decides: judged.Decides, Objects: l.Objection.By, Delays: l.Minping.Max > 0}
	if judged.Decides {
		rules.Way, notes = l.Disagreement.Way, slices.Clone(g.Newest().Chosen.Law.Said)
	}
	switch rules.Way {
	case law.Veto:
		kept = min(kept, law.Offered)
	case law.ByAdmin:
		rules.Objects = "" // the organiser's word is the last
	}
	for _, server := range servers[:kept] {
		means, side := rankedAt(g, server).SideMeanMS, wire.Side("")
		switch {
		case means.A > means.B:
			side = wire.SideA
		case means.B > means.A:
			side = wire.SideB
		}
		rules.Higher = append(rules.Higher, side)
	}
	return rules, kept, notes
}

// rankedAt returns a server as the newest choice ranks it, nil if it does not.
func rankedAt(g facts.Facts, server int) *selection.Ranked {
	if at := slices.Index(ranked(g), server); at >= 0 {
		return &g.Newest().Ranking[at]
	}
	return nil
}

// judgement returns what the match's law says of a server, nil if it says nothing.
func judgement(g facts.Facts, server int) *selection.Judgement {
	if one := rankedAt(g, server); one != nil {
		return one.Law
	}
	return nil
}

// viewLaw returns the match's law as everyone sees it, nil without one.
func (d *Decision) viewLaw(g facts.Facts, m *wire.Match) *wire.MatchLaw {
	l := g.Settings().Law.Law
	if l == nil {
		return nil
	}
	v := &wire.MatchLaw{Name: l.Name, League: l.League, Source: l.Source.URL, Says: []string{}}
	for _, rule := range l.Rules {
		v.Says = append(v.Says, rule.Says)
	}
	for _, says := range []string{l.Minping.Says, l.Objection.Says, l.Order.Says, l.Disagreement.Says} {
		if says != "" {
			v.Says = append(v.Says, says)
		}
	}
	if newest := g.Newest(); newest != nil && newest.Chosen != nil && newest.Chosen.Law != nil {
		v.Said = newest.Chosen.Law.Said
	}
	for _, made := range d.bans.Made() {
		if made.Kind == wire.AskDelay {
			v.MinpingMS = discovery.MS(time.Duration(l.Minping.Max))
		}
	}
	if !m.Decided {
		return v
	}
	server := d.bans.Server()
	judged := judgement(g, server)
	if judged == nil {
		return v
	}
	v.Breaks, v.Said = judged.Breaks, slices.Clip(v.Said)
	called := g.Servers().Called(server)
	if judged.Holds && len(l.Rules) > 0 {
		v.Said = append(v.Said, sentence.Of("law.kept", "server", called, "league", l.League))
	}
	for _, b := range v.Breaks {
		v.Said = append(v.Said, b.Sentence(l.League, called))
	}
	return v
}
