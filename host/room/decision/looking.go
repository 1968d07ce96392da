package decision

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/room/group"
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
	// hiddenFinalists bounds the finalists with perhaps unlucky first RTTs, the search's best
	// included.
	hiddenFinalists = 3
	// contenders is the number of servers that everybody also looks at after the search of a short
	// list, because one delayed or lost packet may hide them.
	contenders = 8
	// maxTries bounds how often the finalists may turn out to be useless.
	maxTries = 4
)

// finalists returns the servers of the next look, and the reasons for them. If people vote then, all
// choices are among them. Surveyed is the number of places that everybody measures, which count like
// servers.
func (d *Decision) finalists(g *group.Group, p *probing.Probing, votes bool, surveyed int) (servers []int, notes []sentence.Sentence) {
	add := func(more []int) (n int) {
		more = slices.DeleteFunc(slices.Clone(more), func(server int) bool { return slices.Contains(servers, server) })
		servers = append(servers, more...)
		return len(more)
	}
	ranking := g.Choice.Newest().Ranking
	for _, ranked := range ranking[:min(most(g), len(ranking))] {
		servers = append(servers, ranked.Server)
	}
	if votes {
		add(d.Options(g).Unseen)
	}
	s := p.Search(g)
	if s != nil {
		add(s.Hidden(hiddenFinalists)) // they may be better than they look
		if !d.looks.IsLong() {
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
	if d.looks.Tries() == 0 {
		untried, discreet := untried(g, s, servers, surveyed)
		if len(untried) > 0 {
			notes = append(notes, sentence.Of("room.looks-untried", "n", len(untried), "players", people.Texts(discreet)))
		}
		add(untried)
	}
	return servers, notes
}

// untried returns more servers to look at, and the discreet players who have not measured them. By
// the search's forecast for these players, the servers are likely better than the finalists, and
// the players' numbers allow them. A forecast only decides where everyone looks; the choice goes by
// measured pings.
func untried(g *group.Group, s *search.Search, finalists []int, surveyed int) (servers []int, discreet []people.ID) {
	if s == nil {
		return nil, nil
	}
	left := wire.SearchFinalists
	for _, player := range g.Attendance.Active() {
		w := g.Evidence[player]
		if w.ProbeLimit() == 0 {
			continue
		}
		own := w.ProbeLimit() - w.Asked() - surveyed
		for _, server := range finalists {
			if !w.IsAsked(server) {
				own--
			}
		}
		discreet, left = append(discreet, player), min(left, own)
	}
	return s.Untried(left, finalists), discreet
}

// Look lets everyone look at servers again. If isLast a launch is near.
func (d *Decision) Look(g *group.Group, p *probing.Probing, servers []int, isLast bool, passed time.Duration,
	now roomtime.Time) (asks []finals.Ask, note sentence.Sentence) {
	asks, note = d.looks.Begin(finals.Setup{
		Servers: servers, Search: searched(p.Search(g)), IsFair: rules.Of(g.Settings.By).Deviates, IsLast: isLast,
	}, d.Facts(g, passed, now, servers...))
	if g.IsLookOfSide() && !note.IsZero() {
		note = sentence.Of("room.match-look", "time", g.LookTime())
	}
	return asks, note
}

// QuickCheck lets a player, or everyone for the empty ID, take one sample of servers.
func (d *Decision) QuickCheck(g *group.Group, p *probing.Probing, servers []int, by people.ID, passed time.Duration, now roomtime.Time) []finals.Ask {
	return d.looks.QuickCheck(servers, by, searched(p.Search(g)), d.Facts(g, passed, now))
}

// LookOf returns the servers that a player who comes is asked to look at now.
func (d *Decision) LookOf(g *group.Group, player people.ID, passed time.Duration, now roomtime.Time) []finals.Ask {
	if ask, isAsked := d.looks.Ask(player, d.Facts(g, passed, now)); isAsked {
		return []finals.Ask{ask}
	}
	return nil
}

// searched returns the search that found the servers of a look that begins, if any.
func searched(s *search.Search) finals.Search {
	switch {
	case s == nil || s.IsBehind():
		return finals.Unsearched
	case s.IsShort():
		return finals.SearchedShort
	}
	return finals.Searched
}

// Facts returns the facts for a look that began some time ago, about the players now and the look's
// servers, or the next ones.
func (d *Decision) Facts(g *group.Group, passed time.Duration, now roomtime.Time, next ...int) finals.Facts {
	f := finals.Facts{Long: g.LookTime(), Passed: passed, Now: now, Gap: g.Gap}
	groups, mates := map[people.ID]int{}, map[people.ID][]*evidence.PlayerResults{}
	for i, natGroup := range g.Origins.Groups(g.Attendance.Active()) {
		for _, player := range natGroup {
			groups[player] = i
		}
	}
	for _, natGroup := range g.Origins.Groups(g.Attendance.Players()) {
		for _, player := range natGroup {
			mates[player] = g.Evidence.Of(natGroup)
		}
	}
	for _, player := range g.Attendance.Active() {
		looker := finals.Looker{ID: player, IsHere: g.IsHere(player), Group: groups[player], Known: map[int]finals.Known{}}
		for _, server := range slices.Concat(d.looks.Servers(), next) {
			looker.Known[server] = known(g, player, mates[player], server)
		}
		f.Players = append(f.Players, looker)
	}
	return f
}

// known returns the facts for a look about a player's path to a server.
func known(g *group.Group, player people.ID, mates []*evidence.PlayerResults, server int) finals.Known {
	w := g.Evidence[player]
	known := finals.Known{IsAsked: w.IsAsked(server), IsHidden: g.Nearby.IsHidden(player, server)}
	if probe, probed := w.Probe(server); probed && !w.WasDelayed(server) {
		known.Probe, known.AskedAt = probe, g.Measuring.Add(probe.At-probe.RTT)
	}
	if look, looked := w.Looked(server); looked {
		known.Look = (*finals.Look)(&look)
	}
	if len(mates) > 1 {
		known.Mates = evidence.Pooled(mates, server).RTT
	}
	return known
}

// recordMisses notes the looks that found a server gone.
func recordMisses(g *group.Group, lost []finals.Missed) {
	for _, m := range lost {
		if w := g.Evidence[m.Player]; w != nil {
			w.Look(evidence.Look(m.Look))
		}
	}
}

// Hear takes a player's second look.
func (d *Decision) Hear(g *group.Group, player people.ID, v wire.Verified, f finals.Facts) (heard finals.Heard, err error) {
	if heard, err = d.looks.Hear(player, quiet(v, g.Evidence[player].Delay()), f); err != nil {
		return heard, err
	}
	if heard.IsElsewhere {
		g.Origins.Part(player)
	}
	if !heard.Counts {
		return heard, nil
	}
	w := g.Evidence[player]
	for _, seen := range heard.Seen {
		if w.Admit(seen.Server) {
			g.Heard.SettleFacts(seen.Server)
		}
		if seen.Info != nil {
			g.Say(player, seen.Server, wire.TidyInfo(*seen.Info), f.Now)
		}
		if seen.Look != nil {
			w.Look(evidence.Look(*seen.Look))
		}
	}
	g.Attendance.Await(f.Now, player)
	return heard, nil
}

// quiet returns a look as it would be without the delay of a busy line.
func quiet(v wire.Verified, by time.Duration) wire.Verified {
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

// Settled is the result of a look once the room waits for nobody.
type Settled struct {
	Notes []sentence.Sentence
	// IsOver says that the newest choice is the result of the look. Otherwise Asks are the players'
	// next looks, none if the room still waits for somebody.
	IsOver bool
	Asks   []finals.Ask
}

// Settle chooses by the results of a look, once the room waits for nobody.
func (d *Decision) Settle(g *group.Group, f finals.Facts) (s Settled) {
	o, isSettled := d.looks.Settle(f)
	if !isSettled {
		return s
	}
	recordMisses(g, o.Lost)
	if len(o.Asks) > 0 {
		return Settled{Notes: []sentence.Sentence{o.Note}, Asks: o.Asks}
	}
	s = Settled{Notes: d.Discredit(g), IsOver: true}
	before, players := g.Choice.Newest().Chosen, g.Attendance.Active()
	selected := g.Select(players)
	if selected.Chosen == nil {
		var notes []sentence.Sentence
		_, selected, notes = outvote(g, players, selected)
		s.Notes = append(s.Notes, notes...)
	} else if v := g.Trust.Overrule(g.Basis(players), &selected, g.Attendance.Players(), d.looks.Seen()); len(v.LeftOut) > 0 {
		g.Attendance.LeaveOut(attendance.Odd, v.LeftOut...)
		s.Notes = append(s.Notes, v.Notes...)
		selected = g.Select(g.Attendance.Active())
	}
	selected.LookedS, selected.Doubts = o.LookedS, doubts(g)
	g.Choice.Refine(selected)
	if before != nil {
		s.Notes = append(s.Notes, change(g, before.Server)...)
	}
	return s
}

// CutShort ends a long look. It returns the messages for players' programs, and whether there was
// one.
func (d *Decision) CutShort(f finals.Facts) (stops []finals.Ask, isCut bool) {
	return d.looks.CutShort(f)
}

// ViewLook returns how far a long look is, nil if nobody looks for long.
func (d *Decision) ViewLook(g *group.Group, passed time.Duration, now roomtime.Clocks) *wire.LongLook {
	if !d.looks.IsLong() {
		return nil
	}
	view := d.looks.View(d.Facts(g, passed, now.Room), now, g.Roster.Names())
	for i, server := range d.looks.Servers() {
		at := &view.Finalists[i]
		at.Addr, at.Name = hostport.Text(g.Servers.List[server].Addr), g.Card(server).Name
	}
	return view
}

// Tick stops waiting for players who do not look. It returns notes for people, and whether the room
// waits for nobody now.
func (d *Decision) Tick(f finals.Facts) (notes []sentence.Sentence, isLate bool) {
	return d.looks.Tick(f)
}

// Without stops waiting for a player's look.
func (d *Decision) Without(player people.ID) { d.looks.Without(player) }

// Forget drops the looks' results, because they are old.
func (d *Decision) Forget() { d.looks.Forget() }

// Retry lets everyone look as often as in the beginning: the looks so far were for another choice.
func (d *Decision) Retry() { d.looks.Retry() }

// Resume goes on after the host was away.
func (d *Decision) Resume() { d.looks.Resume() }

// AcceptMisses gives up the servers that did not answer anybody.
func (d *Decision) AcceptMisses(g *group.Group, f finals.Facts) {
	recordMisses(g, d.looks.AcceptMisses(f))
}

// State returns what a saved room keeps of the decision.
func (d *Decision) State() *finals.State { return d.looks.State() }
