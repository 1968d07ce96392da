package decision

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection/rules"
)

const (
	// finalists is the number of servers that get a second look and stand ready as fallbacks. With
	// five, a launch hardly ever finds all of them full.
	finalists = 5
	// hiddenFinalists bounds the finalists that may have had an unlucky first RTT, including the
	// search's best.
	hiddenFinalists = 3
	// contenders is the number of further servers that get a look after the search of a short list,
	// because one delayed or lost packet may have hidden them.
	contenders = 8
	// maxLooks bounds how often the finalists may turn out to be useless.
	maxLooks = 4
)

// finalists returns the servers of the next look, and notes with the reasons. If a vote follows,
// all its choices are among them.
func (d *Decision) finalists(g facts.Facts, p *probing.Probing, votes bool) (servers []int, notes []sentence.Sentence) {
	add := func(more []int) (n int) {
		more = slices.DeleteFunc(slices.Clone(more), func(server int) bool { return slices.Contains(servers, server) })
		servers = append(servers, more...)
		return len(more)
	}
	ranking := g.Newest().Ranking
	for _, ranked := range ranking[:min(finalistCount(g), len(ranking))] {
		servers = append(servers, ranked.Server)
	}
	if votes {
		add(d.Options(g).Unseen)
	}
	s := p.Search(g)
	if s != nil {
		add(s.Hidden(hiddenFinalists)) // an unlucky packet may hide how good they are
		if !d.Looks.IsLong() {
			add(s.Contenders(contenders, servers))
		}
	}
	notes = append(notes, sentence.Of("room.looks", "n", len(servers)))
	if n := add(d.disputed(g, s)); n > 0 {
		notes = append(notes, sentence.Of("room.looks-disputed", "n", n))
	}
	if n := add(d.culledByLone(g)); n > 0 {
		notes = append(notes, sentence.Of("room.looks-heard", "n", n))
	}
	if d.Looks.Tries() == 0 {
		untried, discreet := untried(g, s, servers)
		if len(untried) > 0 {
			notes = append(notes, sentence.Of("room.looks-untried", "n", len(untried), "players", people.Texts(discreet)))
		}
		add(untried)
	}
	return servers, notes
}

// untried returns more servers to look at, and the discreet players for whose sake everyone looks.
// Discreet players have not measured these servers, but their limits allow the question, and by the
// search's forecast the servers are likely better than the finalists. A forecast only adds looks:
// the choice goes by measured pings.
func untried(g facts.Facts, s *search.Search, finalists []int) (servers []int, discreet []people.ID) {
	if s == nil {
		return nil, nil
	}
	left := wire.SearchFinalists
	for _, player := range g.Active() {
		w := g.Results(player)
		if w.ProbeLimit() == 0 {
			continue
		}
		own := w.ProbeLimit() - w.Asked()
		for _, server := range finalists {
			if !w.IsAsked(server) {
				own--
			}
		}
		discreet, left = append(discreet, player), min(left, own)
	}
	return s.Untried(left, finalists), discreet
}

// Look begins a look of all players at servers. IsLast says that a launch is near.
func (d *Decision) Look(g facts.Facts, p *probing.Probing, servers []int, isLast bool, passed time.Duration,
	now roomtime.Time) (asks []finals.Ask, note sentence.Sentence) {
	asks, note = d.Looks.Begin(finals.Setup{
		Servers: servers, Search: searchKind(p.Search(g)), IsFair: rules.Of(g.Settings().By).Deviates, IsLast: isLast,
	}, d.LookFacts(g, passed, now, servers...))
	if g.IsLookOfSide() && !note.IsZero() {
		note = sentence.Of("room.match-look", "time", g.LookTime())
	}
	return asks, note
}

// QuickCheck asks one player for a single sample of servers. If by is empty it asks all connected
// players.
func (d *Decision) QuickCheck(g facts.Facts, p *probing.Probing, servers []int, by people.ID, passed time.Duration, now roomtime.Time) []finals.Ask {
	return d.Looks.QuickCheck(servers, by, searchKind(p.Search(g)), d.LookFacts(g, passed, now))
}

// LookOf returns the questions of the present look to a player who has just come.
func (d *Decision) LookOf(g facts.Facts, player people.ID, passed time.Duration, now roomtime.Time) []finals.Ask {
	if ask, isAsked := d.Looks.Ask(player, d.LookFacts(g, passed, now)); isAsked {
		return []finals.Ask{ask}
	}
	return nil
}

// searchKind returns the kind of search that found the servers of a new look.
func searchKind(s *search.Search) finals.Search {
	switch {
	case s == nil || s.IsBehind():
		return finals.Unsearched
	case s.IsShort():
		return finals.SearchedShort
	}
	return finals.Searched
}

// LookFacts returns the facts for a look that has gone on for a time, about its servers and those
// of the next look.
func (d *Decision) LookFacts(g facts.Facts, passed time.Duration, now roomtime.Time, next ...int) finals.Facts {
	f := finals.Facts{Long: g.LookTime(), Passed: passed, Now: now, Gap: g.Gap()}
	groups, knowledge := map[people.ID]int{}, g.KnowledgeOf(g.Active())
	for i, natGroup := range g.NATGroups(g.Active()) {
		for _, player := range natGroup {
			groups[player] = i
		}
	}
	for _, player := range g.Active() {
		looker := finals.Looker{ID: player, IsHere: g.IsHere(player), Group: groups[player], Known: map[int]finals.Known{}}
		for _, server := range slices.Concat(d.Looks.Servers(), next) {
			looker.Known[server] = known(g, player, knowledge[player], server)
		}
		f.Players = append(f.Players, looker)
	}
	return f
}

// known returns the facts for a look about a player's path to a server.
func known(g facts.Facts, player people.ID, knowledge evidence.Knowledge, server int) finals.Known {
	w := g.Results(player)
	known := finals.Known{IsAsked: w.IsAsked(server), IsHidden: g.IsHidden(player, server)}
	if probe, probed := w.Probe(server); probed && !w.WasDelayed(server) {
		known.Probe, known.AskedAt = probe, g.Measuring().Add(probe.At-probe.RTT)
	}
	if look, looked := w.Looked(server); looked {
		known.Look = (*finals.Look)(&look)
	}
	if result, isGroup := knowledge.Group(server); isGroup {
		known.MatesRTT = result.RTT
	}
	return known
}

// Hear takes a player's second look. The caller adds the results to the evidence.
func (d *Decision) Hear(g facts.Facts, player people.ID, v wire.Verified, f finals.Facts) finals.Heard {
	return d.Looks.Hear(player, withoutDelay(v, g.Results(player).Delay()), f)
}

// withoutDelay returns a look without the delay that a busy line has added.
func withoutDelay(v wire.Verified, by time.Duration) wire.Verified {
	if by == 0 {
		return v
	}
	v.Servers = slices.Clone(v.Servers)
	for i := range v.Servers {
		rtts := slices.Clone(v.Servers[i].RTTs)
		for j, ms := range rtts {
			rtts[j] = max(ms-discovery.MS(by), min(ms, 1))
		}
		v.Servers[i].RTTs = rtts
	}
	return v
}

// Refine chooses again after a look that took lookedS seconds. It returns the players to leave out,
// and notes for people.
func (d *Decision) Refine(g facts.Facts, lookedS float64) (out attendance.Change, notes []sentence.Sentence) {
	notes = d.Discredit(g)
	before, players := g.Newest().Chosen, g.Active()
	selected := g.Select(players)
	if selected.Chosen == nil {
		var more []sentence.Sentence
		out, selected, more = d.outvote(g, players, selected)
		notes, g = append(notes, more...), g.Suppose(out)
	} else if v := d.trust.Overrule(g.Basis(players), &selected, g.Players(), d.Looks.Seen()); len(v.LeftOut) > 0 {
		out = attendance.Change{Out: attendance.Odd, Players: v.LeftOut}
		notes, g = append(notes, v.Notes...), g.Suppose(out)
		selected = g.Select(g.Active())
	}
	selected.LookedS, selected.Doubts = lookedS, d.doubts(g)
	d.choice.Refine(selected)
	if before != nil {
		notes = append(notes, changeNotes(g, before.Server)...)
	}
	return out, notes
}

// ViewLook returns the progress of a long look, nil if there is none.
func (d *Decision) ViewLook(g facts.Facts, passed time.Duration, now roomtime.Clocks) *wire.LongLook {
	if !d.Looks.IsLong() {
		return nil
	}
	view := d.Looks.View(d.LookFacts(g, passed, now.Room), now, g.Names())
	for i, server := range d.Looks.Servers() {
		at := &view.Finalists[i]
		at.Addr, at.Name = hostport.Text(g.Servers().List[server].Addr), g.Card(server).Name
	}
	return view
}
