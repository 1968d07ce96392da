package room

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/choice"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

const (
	// finalists is how many servers get a second look and stand ready as
	// fallbacks: with five, a launch hardly ever finds all of them full.
	finalists = 5
	// hiddenFinalists is how many others may be among them whose first RTTs may
	// have been unlucky, the search's best with them.
	hiddenFinalists = 3
	// contenders is how many servers everybody also looks at after the search of a short
	// list, as one held-up or lost packet may hide them.
	contenders = 8
	// maxTries bounds how often the finalists may turn out to be useless.
	maxTries = 4
)

// Verifying is the second look: everyone looks at the best few servers again.
type Verifying struct{}

func (*Verifying) stage() wire.Stage { return wire.Chosen }

// proceed cuts a long look short.
func (v *Verifying) proceed(r *Room) {
	if stops, isCut := r.round.looks.CutShort(r.lookFacts()); isCut {
		r.note("the organiser says go: what the look has shown so far counts")
		r.sendLooks(stops)
		v.settle(r)
	}
}

// tick stops waiting for players who do not look.
func (v *Verifying) tick(r *Room) {
	notes, isLate := r.round.looks.Tick(r.lookFacts())
	for _, note := range notes {
		r.note("%s", note)
	}
	if isLate {
		v.settle(r)
	}
}

// settle decides once nobody is waited for.
func (*Verifying) settle(r *Room) {
	o, isSettled := r.round.looks.Settle(r.lookFacts())
	if !isSettled {
		return
	}
	r.round.lose(o.Lost)
	if len(o.Asks) > 0 {
		r.note("%s", o.Note)
		r.enter(&Verifying{})
		r.sendLooks(o.Asks)
		return
	}
	r.discredit()
	before, group := r.round.choice.Newest().Chosen, r.round.active()
	selected := r.selectFor(group)
	if selected.Chosen == nil {
		_, selected = r.outvote(group, selected)
	} else if v := r.round.trust.Overrule(r.basis(group), &selected, names(r.round.players), r.round.looks.Seen()); len(v.LeftOut) > 0 {
		r.carryOut(v, attendance.Odd)
		selected = r.selectFor(r.round.active())
	}
	selected.LookedS, selected.Doubts = o.LookedS, r.doubts()
	r.round.choice.Refine(selected)
	if before != nil {
		r.noteChange(before.Server)
	}
	r.verifyOrLaunch()
}

// verifyOrLaunch asks for a second look at the chosen server unless it had one.
// Then it lets people have their say, if the organiser wants that, or sends everyone
// there.
func (r *Room) verifyOrLaunch() {
	r.tryAlone()
	chosen, isTired := r.round.choice.Newest().Chosen, r.round.looks.Tries() >= maxTries
	if chosen == nil {
		if lone := r.culledByLone(); len(lone) > 0 && !isTired {
			r.enter(&Verifying{})
			r.note("no server suits everyone as far as single players heard: everyone looks at %s", discovery.ServersInWords(len(lone)))
			r.lookAt(lone, false)
			return
		}
		if r.settings.Wait > 0 && len(r.round.chosenFor()) > 0 && r.awaitSeats(r.worthWaiting()) {
			return
		}
		r.fail(r.round.broken, "no server suits everyone: %s", choice.Lack(r.round.choice.Newest()))
		return
	}
	server := chosen.Server
	isSeen, votes := slices.Contains(r.round.looks.Seen(), server), r.round.ballot.IsWanted(r.settings.Agree, r.electorate())
	switch {
	case !isSeen && isTired:
		takes := "taking"
		if votes { // which may take another
			takes = "the rule takes"
		}
		r.note("the best servers keep changing: %s %s unverified", takes, r.round.servers.Called(server))
	case !isSeen:
		v := &Verifying{}
		r.enter(v)
		r.lookAt(v.finalists(r), false)
		return
	case votes && !isTired:
		if more := r.round.options().More; len(more) > 0 {
			r.enter(&Verifying{})
			r.note("everyone looks at %s more, for a vote", discovery.ServersInWords(len(more)))
			r.lookAt(more, false)
			return
		}
	}
	r.round.choice.Weigh(r.basisFor(r.round.chosenFor()))
	if !votes {
		r.launch(server)
		return
	}
	options := r.round.options()
	r.round.ballot.Open(options)
	r.phase = &Voting{Looked: r.now} // since is that of the choice
	if s := r.round.search; s != nil && !s.IsBehind() {
		r.round.search = nil // a search beyond the one that led to the choice begins
	}
	r.note("%s is ahead: vote, veto, and say when you are ready", r.round.servers.Called(r.round.ballot.Favourite(options)))
}

// finalists returns the servers of the next look, and says why they are.
func (v *Verifying) finalists(r *Room) (servers []int) {
	add := func(more []int) (n int) {
		more = slices.DeleteFunc(slices.Clone(more), func(server int) bool { return slices.Contains(servers, server) })
		servers = append(servers, more...)
		return len(more)
	}
	for _, ranked := range r.round.choice.Newest().Ranking[:min(finalists, len(r.round.choice.Newest().Ranking))] {
		servers = append(servers, ranked.Server)
	}
	if s := r.round.search; s != nil {
		add(s.Hidden(hiddenFinalists)) // which may be better than they look
		if !r.round.looks.IsLong() {
			add(s.Contenders(contenders, servers))
		}
	}
	r.note("everyone looks at the best %d again", len(servers))
	if n := add(r.disputed()); n > 0 {
		r.note("and at %s better for all but one of you, whom they did not answer", discovery.ServersInWords(n))
	}
	if n := add(r.culledByLone()); n > 0 {
		r.note("and at %s that only one player has heard to be of no use", discovery.ServersInWords(n))
	}
	if r.round.looks.Tries() == 0 {
		add(v.untried(r, servers))
	}
	return servers
}

// untried returns servers to look at along with finalists: those that are likely better, as far
// as the pings of discreet players who have not measured them can be told, and for which these
// have places left. What is likely decides where everyone looks; what was measured decides what
// is chosen.
func (*Verifying) untried(r *Room, finalists []int) []int {
	if r.round.search == nil {
		return nil
	}
	left := wire.SearchFinalists
	var discreet []*player
	for _, p := range r.round.active() {
		if p.discreet == 0 {
			continue
		}
		own := p.discreet - p.witness.Asked() - r.survey.Count(r.settings.Places) // which count like servers
		for _, server := range finalists {
			own -= count(!p.witness.IsAsked(server))
		}
		discreet, left = append(discreet, p), min(left, own)
	}
	untried := r.round.search.Untried(left, finalists)
	if len(untried) > 0 {
		r.note("and at %s that may be better: what ping %s has there is not known yet", discovery.ServersInWords(len(untried)), strings.Join(names(discreet), ", "))
	}
	return untried
}

// lookAt asks everyone to look at servers again. If isLast a launch is near.
func (r *Room) lookAt(servers []int, isLast bool) {
	asks, note := r.round.looks.Begin(finals.Setup{
		Servers: servers, Search: r.round.searched(), IsFair: rules.Of(r.settings.By).Deviates, IsLast: isLast,
	}, r.lookFacts(servers...))
	if note != "" {
		r.note("%s", note)
	}
	r.sendLooks(asks)
}

// searched returns whether a search found the servers of a look that begins.
func (r *round) searched() finals.Search {
	switch s := r.search; {
	case s == nil || s.IsBehind():
		return finals.Unsearched
	case s.IsShort():
		return finals.SearchedShort
	}
	return finals.Searched
}

// sendLooks sends what players are asked for, as far as the servers may see their addresses.
func (r *Room) sendLooks(asks []finals.Ask) {
	for _, ask := range asks {
		p := r.round.player(ask.Player)
		if p == nil {
			continue
		}
		isEmpty := len(ask.Servers) == 0
		ask.Round, ask.Game, ask.Most = r.round.number, r.settings.Game, r.promise(p)
		if ask.Servers = p.witness.Show(ask.Servers); len(ask.Servers) == 0 && !isEmpty {
			r.round.looks.Without(p.name)
			continue
		}
		r.send(p, ask.Finalists)
	}
}

// lookFacts returns what a look has to know of the players now, and of its servers or those of
// the next.
func (r *Room) lookFacts(next ...int) finals.Facts {
	f := finals.Facts{Long: time.Duration(r.settings.LongLook), Passed: r.now.Sub(r.since), Now: r.now, Gap: r.round.gap}
	groups, mates := map[*player]int{}, map[*player][]*evidence.Witness{}
	for i, group := range r.round.natGroups(r.round.active()) {
		for _, p := range group {
			groups[p] = i
		}
	}
	for _, group := range r.round.natGroups(r.round.players) {
		for _, p := range group {
			mates[p] = witnesses(group)
		}
	}
	for _, p := range r.round.active() {
		looker := finals.Looker{Name: p.name, IsHere: r.round.mark(p).Here, Group: groups[p], Known: map[int]finals.Known{}}
		for _, server := range slices.Concat(r.round.looks.Servers(), next) {
			looker.Known[server] = r.round.known(p, mates[p], server)
		}
		f.Players = append(f.Players, looker)
	}
	return f
}

// known returns what a look has to know of a player's way to a server.
func (r *round) known(p *player, mates []*evidence.Witness, server int) finals.Known {
	known := finals.Known{IsAsked: p.witness.IsAsked(server), IsHidden: r.nearby.IsHidden(p.name, server)}
	if probe, probed := p.witness.Probe(server); probed {
		known.Probe, known.AskedAt = probe, r.measuring.Add(probe.At-probe.RTT)
	}
	if look, looked := p.witness.Looked(server); looked {
		known.Look = (*finals.Look)(&look)
	}
	if len(mates) > 1 {
		known.Mates = evidence.Pooled(mates, server).RTT
	}
	return known
}

// view returns how far a long look is, nil if nobody looks for long.
func (*Verifying) view(r *Room) *wire.LongLook {
	if !r.round.looks.IsLong() {
		return nil
	}
	view := r.round.looks.View(r.lookFacts())
	for i, server := range r.round.looks.Servers() {
		at := &view.Finalists[i]
		at.Addr, at.Name = r.round.servers.List[server].Addr.String(), cardOf(r.round.servers, server).Name
	}
	return view
}

// lose notes the looks that found a server gone.
func (r *round) lose(lost []finals.Missed) {
	for _, m := range lost {
		if p := r.player(m.Player); p != nil {
			p.witness.Look(evidence.Look(m.Look))
		}
	}
}

// verified takes a player's second look. While people vote only one that was
// asked for since they began counts.
func (Hear) verified(r *Room, p *player, v wire.Verified) error {
	isAwaited := false
	switch phase := r.phase.(type) {
	case *Verifying:
		isAwaited = true
	case *Voting:
		isAwaited = phase.LookedAgain
	case *Countdown:
		isAwaited = phase.LookedAgain
	case *Waiting:
		isAwaited = phase.watch.Asks(p.name) && !v.More
	}
	if !isAwaited || v.Round != r.round.number {
		return nil
	}
	heard, err := r.round.looks.Hear(p.name, v, r.lookFacts())
	if err != nil {
		return Nonsense(err.Error())
	}
	if heard.IsElsewhere {
		r.round.origins.Part(p.name)
		r.note("%s", heard.Note)
	}
	if !heard.Counts {
		return nil
	}
	for _, seen := range heard.Seen {
		if p.witness.Admit(seen.Server) {
			r.round.inform(seen.Server, r.round.hearsay.Weigh(seen.Server))
		}
		if seen.Info != nil {
			r.said(p.name, seen.Server, wire.TidyInfo(*seen.Info))
		}
		if seen.Look != nil {
			p.witness.Look(evidence.Look(*seen.Look))
		}
	}
	r.round.attendance.Await(r.now, p.name)
	switch phase := r.phase.(type) {
	case *Waiting:
		phase.heard(r, p, v)
	case *Verifying:
		if heard.IsLast {
			phase.settle(r)
		}
	}
	return nil
}

// withoutLook waits for a player's look no longer.
func (r *Room) withoutLook(name string) {
	r.round.looks.Without(name)
	if v, verifying := r.phase.(*Verifying); verifying {
		v.settle(r)
	}
}

// noteChange says why the favourite of a moment ago lost.
func (r *Room) noteChange(before int) {
	after := r.round.choice.Newest().Chosen
	if after != nil && after.Server == before {
		return
	}
	next := "there is no other"
	if after != nil {
		next = r.round.servers.Called(after.Server) + " takes its place"
	}
	why := "is no longer the best"
	if cause := r.against(before, r.round.active()); cause != nil {
		why = fmt.Sprintf("turned out to be %s", *cause)
	}
	r.note("%s %s: %s", r.round.servers.Called(before), why, next)
}

// against returns what speaks against a server for a group, as far as is known, or nil.
func (r *Room) against(server int, group []*player) *selection.Cause {
	r.attend()
	criteria := r.criteria(r.settings, group)
	criteria.Keep, criteria.Top, criteria.Reasons = r.round.servers.List[server].Addr, 1, -1
	return selection.NewFilter(r.round.servers, criteria).Select(r.round.table(group)).Keep.Culled
}
