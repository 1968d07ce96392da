package room

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
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
	// samples is how often each finalist is asked again, freshSamples where the search
	// has asked it a moment ago: the third of three would take another second. There
	// firstSamples do at first, as the next takes a second, too: only who leads although
	// one of its players' is in doubt, or two were lost, is asked again. Who is fair is not
	// told by one: what holds up a packet of the nearest makes a server look fairer.
	samples, freshSamples, firstSamples = 3, 2, 1
	// A sample is in doubt that differs by more from what the search measured: a queue held
	// up one of the two, or the way jitters by what may cost it the choice.
	doubtfulBy = 5 * time.Millisecond
	// After the search of a short list everybody also looks at up to so many servers that
	// one held-up or lost packet may hide.
	contenders = 8
	// After such a search a queue adds more than this to a sample.
	doubtfulShort = 10 * time.Millisecond
	// maxAttempts bounds how often the finalists may turn out to be useless.
	maxAttempts = 4
	// verifyingTime is ample for the samples of a few servers.
	verifyingTime = 15 * time.Second
	// forgivenLosses is how many lost packets say nothing: of three each that four
	// players send, one is lost in every fifth second look on lines that lose 2 %.
	forgivenLosses = 1
	// A sample with which the others jitter this many times as much met a full queue. Of
	// three each that eight players send, one in 70 of which does, every third second
	// look has such a one, and the best server lost by it.
	spike = 6
)

// Verifying has everyone look at the best few again.
type Verifying struct{}

func (*Verifying) stage() wire.Stage { return wire.Chosen }

// proceed cuts a long look short. Another is over in a moment.
func (v *Verifying) proceed(r *Room) { r.cutShort(v) }

// look is the second look at the best few.
type look struct {
	Attempt int `json:"attempt"`
	// Repeats are those of the attempts that came just before a launch.
	Repeats int   `json:"repeats,omitempty"`
	Servers []int `json:"servers"`
	// Samples is how often each of them is asked at most, if not 0.
	Samples int `json:"samples,omitempty"`
	// Long: everybody looks for as long as the organiser wants.
	Long bool `json:"long,omitempty"`
	// Seen are the servers that had their second look in this round.
	Seen []int `json:"seen"`
	// Doubted are those of Servers of which the single samples do not say enough.
	Doubted []int `json:"doubted,omitempty"`
	// Missed are the looks at servers that did not answer, Reached the servers that
	// answered somebody. Alone are the players who look one at a time, at what they
	// Missed in the look before.
	Missed  []miss   `json:"missed,omitempty"`
	Reached []int    `json:"reached,omitempty"`
	Alone   []string `json:"alone,omitempty"`
	// Waiting are the players who have not answered yet. Absent did not look another
	// time: they may, but nobody waits for them again.
	Waiting []string `json:"waiting"`
	Absent  []string `json:"absent,omitempty"`
	// Began is when this look begins, Asked when it asks each player's servers for the last
	// time, or when the look before did.
	Began time.Time            `json:"began,omitzero"`
	Asked map[string]time.Time `json:"asked,omitempty"`
}

// verifyOrLaunch asks for a second look at the chosen server unless it had one.
// Then it lets people have their say, if the organiser wants that, or sends everyone
// there.
func (r *Room) verifyOrLaunch() {
	r.tryAlone()
	chosen, l := r.round.selection.Chosen, &r.round.look
	tired := l.Attempt-l.Repeats >= maxAttempts
	if chosen == nil {
		if lone := r.culledByLone(r.round.selection); len(lone) > 0 && !tired {
			r.enter(&Verifying{})
			r.note("no server suits everyone as far as single players heard: everyone looks at %s", serversInWords(len(lone)))
			r.askToLook(lone)
			return
		}
		if r.settings.Wait > 0 && r.mayWait() {
			return
		}
		r.fail(r.round.broken, "no server suits everyone: %s", culledText(r.round.selection))
		return
	}
	server := chosen.Server
	seen, votes := slices.Contains(l.Seen, server), r.round.ballot.IsWanted(r.settings.Agree, r.electorate())
	switch {
	case !seen && tired:
		takes := "taking"
		if votes { // which may take another
			takes = "the rule takes"
		}
		r.note("the best servers keep changing: %s %s unverified", takes, r.round.serverName(server))
	case !seen:
		r.enter(&Verifying{})
		var servers []int
		for _, ranked := range r.round.selection.Ranking[:min(finalists, len(r.round.selection.Ranking))] {
			servers = append(servers, ranked.Server)
		}
		if r.round.search != nil { // which takes some to be better than they look
			for _, hidden := range r.round.search.Hidden(hiddenFinalists) {
				if !slices.Contains(servers, hidden) {
					servers = append(servers, hidden)
				}
			}
			if !l.Long {
				servers = append(servers, r.round.search.Contenders(contenders, servers)...)
			}
		}
		r.note("everyone looks at the best %d again", len(servers))
		if more := slices.DeleteFunc(r.disputed(), func(server int) bool { return slices.Contains(servers, server) }); len(more) > 0 {
			r.note("and at %s better for all but one of you, whom they did not answer", serversInWords(len(more)))
			servers = append(servers, more...)
		}
		if lone := r.culledByLone(r.round.selection); len(lone) > 0 {
			r.note("and at %s that only one player has heard to be of no use", serversInWords(len(lone)))
			servers = append(servers, lone...)
		}
		if l.Attempt == l.Repeats { // for this choice nobody has looked yet
			servers = append(servers, r.untried(servers)...)
		}
		r.askToLook(servers)
		return
	case votes && !tired:
		if more := r.round.options().More; len(more) > 0 {
			r.enter(&Verifying{})
			r.note("everyone looks at %s more, for a vote", serversInWords(len(more)))
			r.askToLook(more)
			return
		}
	}
	r.weigh()
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
	r.note("%s is ahead: vote, veto, and say when you are ready", r.round.serverName(r.round.ballot.Favourite(options)))
}

// weigh notes on whose word the choice hangs, in a copy: pages may have it already.
func (r *Room) weigh() {
	selected, why, b := *r.round.selection, selection.Why{}, r.basisFor(r.round.chosenFor())
	if selected.Why != nil {
		why = *selected.Why
	}
	influences := selection.Influences(b.Servers, b.Table, b.Criteria, selected.Chosen.Server)
	why.Influences = slices.DeleteFunc(influences, func(i selection.Influence) bool { return r.guests.named(i.Player) != nil }) // who report nothing
	selected.Why = &why
	r.round.selection = &selected
}

// askToLook asks all who count to look at servers again.
func (r *Room) askToLook(servers []int) {
	l := &r.round.look
	l.Attempt++
	l.begin(servers)
	l.Long = r.looksLong()
	if l.Long {
		r.note("a long look, of %v, for loss and jitter: the organiser can cut it short", time.Duration(r.settings.LongLook))
	}
	if s := r.round.search; s != nil && !s.IsBehind() {
		l.Samples = freshSamples
		groups := r.round.natGroups(r.round.active())
		isFair := rules.Of(r.settings.By).Deviates
		isShared, isFirst := mostPlaces(groups) > 1, l.Attempt == 1 && len(groups) > 1 && !isFair
		if !isShared && (isFirst || r.round.isSearchedShort()) {
			l.Samples = firstSamples
		}
		l.Began = r.now.Add(r.round.rest(r.now)) // who takes more samples may lose the first
	}
	for _, p := range r.round.active() {
		m := r.finalistsFor(p)
		if len(m.Servers) == 0 && len(servers) > 0 {
			continue // no more servers may see this player's address
		}
		if !slices.Contains(l.Absent, p.name) {
			l.Waiting = append(l.Waiting, p.name)
		}
		l.asked(p.name, r.now, m)
		r.send(p, m)
	}
}

// begin forgets what the look before showed, but for what the round keeps of it.
func (l *look) begin(servers []int) {
	*l = look{Attempt: l.Attempt, Repeats: l.Repeats, Servers: servers, Seen: l.Seen, Absent: l.Absent, Asked: maps.Clone(l.Asked)}
}

func (r *Room) finalistsFor(p *player) wire.Finalists {
	l, passed := &r.round.look, r.now.Sub(r.since)
	s, servers := r.round.scheduleOf(p, r.round.lookers(), passed), r.round.wanted(p)
	switch most := l.Samples; {
	case len(l.Alone) > 0:
		servers, s = l.aloneFor(p.name, passed)
	case l.Long:
		s.samples = s.samplesIn(time.Duration(r.settings.LongLook) - passed)
	case most > 0:
		s.samples = min(s.samples, most)
	}
	s.after += max(0, l.Began.Sub(r.now))
	most := r.promise(p)
	return wire.Finalists{
		Round: r.round.number, Game: r.settings.Game, Attempt: l.Attempt, Servers: p.witness.Show(servers), Most: most,
		Samples: s.samples, After: discovery.Millis(s.after), Every: discovery.Millis(s.every),
	}
}

// verified takes a player's second look. While people vote only one that was
// asked for since they began counts.
func (Hear) verified(r *Room, p *player, v wire.Verified) error {
	l := &r.round.look
	switch phase := r.phase.(type) {
	case *Verifying:
	case *Voting:
		if !phase.LookedAgain {
			return nil
		}
	case *Countdown:
		if !phase.LookedAgain {
			return nil
		}
	case *Waiting:
		if !phase.watch.Asks(p.name) || v.More {
			return nil
		}
	default:
		return nil
	}
	if v.Round != r.round.number || v.Attempt != l.Attempt || r.round.mark(p).Out != "" {
		return nil
	}
	for _, seen := range v.Servers {
		if !slices.Contains(l.Servers, seen.Server) {
			return nonsensef("a look at server %d, which is no finalist", seen.Server)
		}
	}
	if r.round.isElsewhere(p, v.Servers) {
		p.apart = true
		r.note("what the others behind %s's address measured does not hold for %s, who measures alone from now on", p.name, p.name)
	}
	if !l.asks(p.name) {
		return nil
	}
	waiting, waits := r.phase.(*Waiting)
	for _, seen := range v.Servers {
		if v.More && seen.Sent <= forgivenLosses {
			continue // which says nothing yet
		}
		if p.witness.Admit(seen.Server) {
			r.round.weigh(seen.Server)
		}
		if seen.Info != nil {
			r.said(p.name, seen.Server, wire.TidyInfo(*seen.Info))
		}
		if l.Samples == firstSamples && r.round.isDoubtful(p, seen) && !slices.Contains(l.Doubted, seen.Server) {
			l.Doubted = append(l.Doubted, seen.Server)
		}
		if waits && p.witness.At(seen.Server).State == discovery.Answered {
			continue // a single packet says less of the way than what was measured
		}
		if l.note(p.name, seen); !l.isMiss(seen) {
			r.round.merge(p, seen)
		}
	}
	if waits {
		waiting.heard(r, p, v)
	}
	r.round.attendance.Await(r.now, p.name)
	if v.More && l.Long {
		return nil // what was seen so far: the look goes on
	}
	r.withoutWaiting(p.name)
	return nil
}

// merge notes what a player saw of a finalist: the lowest sample is the path's
// RTT, all of them silent means that the server is lost by now.
func (r *round) merge(p *player, seen wire.Finalist) {
	switch {
	case !seen.State.Asked(), seen.State == discovery.Answered && len(seen.RTTs) == 0, r.nearby.IsHidden(p.name, seen.Server):
		return // nothing was seen
	}
	old := p.witness.At(seen.Server)
	look := evidence.Look{Result: discovery.Result{Server: seen.Server, State: seen.State}, Quality: qualityOf(seen, old)}
	if r.isSearchedShort() {
		look.RTTs = p.sampled(seen)
		look.Quality = qualityOfFew(look.RTTs)
	}
	if r.look.Long {
		look.Quality = longQualityOf(seen)
	}
	if seen.State == discovery.Answered {
		look.RTT = wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond)))
		if old.State == discovery.Answered {
			look.RTT = min(look.RTT, old.RTT)
		}
	}
	p.witness.Look(look)
}

// isDoubtful reports whether a single sample and what was measured before it do not say
// what the way is like: one of the two may have been held up.
func isDoubtful(seen wire.Finalist, before discovery.Result) bool {
	switch {
	case len(seen.RTTs) == 0:
		return false // what several do not hear is in doubt, see settle
	case before.State != discovery.Answered:
		return true
	}
	return time.Duration(math.Abs(seen.RTTs[0]-rttMS(before.RTT))*float64(time.Millisecond)) > doubtfulBy
}

// qualityOf is what the samples show of a way. That of one packet which met a full queue
// they do not: it says nothing of the next. Of two samples the RTT before says which.
func qualityOf(seen wire.Finalist, before discovery.Result) (q selection.Quality) {
	if lost := seen.Sent - len(seen.RTTs) - forgivenLosses; lost > 0 {
		q.Loss = float64(lost) / float64(seen.Sent)
	}
	jitter := jitterOf(seen.RTTs)
	if len(seen.RTTs) > 1 {
		at := slices.Index(seen.RTTs, slices.Max(seen.RTTs))
		others := slices.Concat(seen.RTTs[:at], seen.RTTs[at+1:])
		if len(others) == 1 && before.State == discovery.Answered {
			others = append(others, rttMS(before.RTT))
		}
		if rest := jitterOf(others); len(others) > 1 && jitter > spike*rest {
			jitter = rest
		}
	}
	q.Jitter = time.Duration(jitter * float64(time.Millisecond))
	return q
}

// jitterOf is the mean difference between successive RTTs.
func jitterOf(rtts []float64) float64 {
	if len(rtts) < 2 {
		return 0
	}
	sum := 0.0
	for i := range len(rtts) - 1 {
		sum += math.Abs(rtts[i+1] - rtts[i])
	}
	return sum / float64(len(rtts)-1)
}

// isElsewhere reports whether a player's second look contradicts most of what was
// taken over from its NAT group: an address can be shared by homes far from each
// other, by a VPN or a carrier.
func (r *round) isElsewhere(p *player, seen []wire.Finalist) bool {
	mates := r.natGroupOf(p)
	if len(mates) == 1 {
		return false
	}
	borrowed, wrong := 0, 0
	for _, s := range seen {
		others := rttMS(evidence.Pooled(witnesses(mates), s.Server).RTT)
		if len(s.RTTs) > 0 && p.witness.At(s.Server).State != discovery.Answered && others > 0 {
			borrowed++
			wrong += count(farApart(slices.Min(s.RTTs), others))
		}
	}
	return 2*wrong > borrowed
}

// farApart reports whether no line of a home makes both of two RTTs, in ms.
func farApart(a, b float64) bool {
	const apart, times = 20, 1.5
	return max(a, b) > apart+times*min(a, b)
}

// withoutWaiting waits for a player no longer.
func (r *Room) withoutWaiting(name string) {
	l := &r.round.look
	l.Waiting = slices.DeleteFunc(l.Waiting, func(other string) bool { return other == name })
	if v, verifying := r.phase.(*Verifying); verifying {
		v.settle(r)
	}
}

// settle decides once nobody is waited for.
func (*Verifying) settle(r *Room) {
	l := &r.round.look
	if len(l.Waiting) > 0 {
		return
	}
	again := r.round.concede()
	for _, server := range l.Servers {
		isLost := l.Samples == firstSamples && l.silent(server) > forgivenLosses
		isMissed := slices.ContainsFunc(again, func(m miss) bool { return m.Server == server })
		if !isLost && !isMissed && !slices.Contains(l.Doubted, server) && !slices.Contains(l.Seen, server) {
			l.Seen = append(l.Seen, server)
		}
	}
	if r.repeat(again) {
		return
	}
	l.Missed, l.Reached = nil, nil
	r.discredit()
	before, group := r.round.selection.Chosen, r.round.active()
	selected := r.selectFor(group)
	if selected.Chosen == nil {
		_, selected = r.outvote(group, selected)
	} else if v := r.round.trust.Overrule(r.basis(group), &selected, names(r.round.players), l.Seen); len(v.LeftOut) > 0 {
		r.carryOut(v, attendance.Odd)
		selected = r.selectFor(r.round.active())
	}
	selected.LookedS, selected.Doubts = r.lookedFor(), r.doubts()
	r.round.selection = &selected
	if before != nil {
		r.noteChange(before.Server)
	}
	r.verifyOrLaunch()
}

// tick stops waiting for players who do not look.
func (v *Verifying) tick(r *Room) {
	groups := r.round.natGroups(r.round.active())
	last := slotOf(0, mostPlaces(groups), len(groups)-1, len(groups))
	limit := verifyingTime + last.after + time.Duration(last.samples)*last.every
	if len(r.round.look.Alone) > 0 {
		limit = verifyingTime + r.round.look.aloneTime()
	}
	if r.round.look.Long {
		limit += time.Duration(r.settings.LongLook)
	}
	if r.now.Sub(r.since) < limit {
		return
	}
	for _, name := range r.round.look.Waiting {
		r.note("%s did not look again: taking the first measurements", name)
	}
	r.round.look.Absent = append(r.round.look.Absent, r.round.look.Waiting...)
	r.round.look.Waiting = nil
	v.settle(r)
}

// noteChange says why the favourite of a moment ago lost.
func (r *Room) noteChange(before int) {
	after := r.round.selection.Chosen
	if after != nil && after.Server == before {
		return
	}
	next := "there is no other"
	if after != nil {
		next = r.round.serverName(after.Server) + " takes its place"
	}
	why := "is no longer the best"
	if cause := r.against(before, r.round.active()); cause != nil {
		why = fmt.Sprintf("turned out to be %s", *cause)
	}
	r.note("%s %s: %s", r.round.serverName(before), why, next)
}

// against is what speaks against a server for a group, as far as is known, or nil.
func (r *Room) against(server int, group []*player) *selection.Cause {
	r.attend()
	criteria := r.criteria(r.settings, group)
	criteria.Keep, criteria.Top, criteria.Reasons = r.round.servers.List[server].Addr, 1, -1
	return selection.NewFilter(r.round.servers, criteria).Select(r.round.table(group)).Keep.Culled
}

// So many players look at the finalists at the same moment, and the next ones
// after that time. Quake 3's servers answer ten questions at once and then ten a
// second, whoever asks.
const (
	wave         = 5
	betweenWaves = 500 * time.Millisecond
)

const (
	// betweenMates is the time from one player's look to that of the next behind
	// the same address: the strictest servers, DarkPlaces', answer an address once
	// a second.
	betweenMates = 1100 * time.Millisecond
	// longestSchedule is how long the players of a NAT group may be about it: of
	// more than 40 behind one address some will not be answered.
	longestSchedule = 45 * time.Second
	// groupSamples is how many samples the players behind one address take of a
	// server together, at least one each.
	groupSamples = 8
)

// slot is when a player looks at the finalists: at first after a while, then
// again and again.
type slot struct {
	after, every time.Duration // every is 0 if a peer's own is long enough
	samples      int
}

// slotOf is that of the player in a place of its NAT group, if there are so many
// groups, and the largest has so many places. Everybody's first place comes before
// anybody's second.
func slotOf(place, places, group, groups int) slot {
	waves := (groups + wave - 1) / wave
	s := slot{after: time.Duration(group/wave) * betweenWaves, samples: samples}
	if places > 1 {
		round := max(min(betweenMates, longestSchedule/time.Duration(places)), time.Duration(waves)*betweenWaves)
		s.after += time.Duration(place) * round
		s.every = time.Duration(places) * round
		s.samples = max(1, min(samples, groupSamples/places))
	} else if waves > 2 {
		s.every = time.Duration(waves) * betweenWaves
	}
	return s
}

// scheduleOf is when one of the players who look does so, if it began some time ago. Who is back
// while it goes on finds the same slot again.
func (r *round) scheduleOf(p *player, of []*player, passed time.Duration) slot {
	groups := r.natGroups(of)
	for i, group := range groups {
		if place := slices.Index(group, p); place >= 0 {
			s := slotOf(place, mostPlaces(groups), i, len(groups))
			s.after -= passed
			if s.every > 0 {
				s.after = (s.after%s.every + s.every) % s.every
			}
			s.after = max(0, s.after)
			return s
		}
	}
	return slot{samples: samples}
}

func mostPlaces(groups [][]*player) int {
	places := 1
	for _, group := range groups {
		places = max(places, len(group))
	}
	return places
}
