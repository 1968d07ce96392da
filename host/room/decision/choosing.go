// Package decision decides where a group goes. It chooses a server by the measurements, asks
// everyone for a second look at the best few, and returns the next step.
//
//	Choose ─▶ Decide ─┬─▶ look at these ─▶ Hear, Settle ─▶ Decide …
//	                  ├─▶ wait for seats, or there is no server
//	                  ├─▶ vote ─▶ Favourite ─▶ launch
//	                  └─▶ a match: BeginBans ─▶ Move … ─▶ Destination ─▶ launch
//
// It reads [facts.Facts], and writes the parts that [New] takes. It returns everything else that
// must change, and the room carries that out.
package decision

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/bans"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/search"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	// judgedAfter is the number of a player's counting results after which the room judges the
	// player while others still measure. Unasked results do not count: after a restart of the host,
	// a program repeats results that the restored room has not asked for yet.
	judgedAfter = 16
	// silentFor is how long, after a player's first result, a search waits before it judges the
	// player by the silence of servers: a line may be down for a moment.
	silentFor = 2 * time.Second
)

// Decision is the decision of a round, with the looks that prepare it.
type Decision struct {
	own
	// Looks are the looks at the finalists. The room settles them and notes what they bring.
	Looks finals.Looks
	// waitable has the full servers that are worth a wait.
	waitable waitable
	// question asks the organiser about players over the limit.
	question limitQuestion
	options  options
}

// own are the parts that only decisions write.
type own struct {
	choice *choice.Choice
	trust  *trust.Doubts
	ballot *ballot.Box
	bans   *bans.Series
}

// New returns an empty decision. It will write these parts.
func New(c *choice.Choice, t *trust.Doubts, b *ballot.Box, s *bans.Series) Decision {
	return Decision{own: own{c, t, b, s}}
}

// Next returns the decision of the next round.
func (d *Decision) Next() Decision { return Decision{own: d.own} }

// Discredit finds players who contradict most others about servers. It returns notes for people.
func (d *Decision) Discredit(g facts.Facts) (notes []sentence.Sentence) {
	g.Refresh()
	found := g.Contradictions(d.Looks.Seen())
	notes = d.trust.Discredit(found, g.Active(), g.Players())
	g.Refresh()
	return notes
}

// culledByLone returns the best servers that one player's word alone has culled from the ranking.
func (d *Decision) culledByLone(g facts.Facts) []int {
	if len(g.Servers().Lone) == 0 {
		return nil
	}
	return trust.CulledByLone(g.Basis(g.Active()), g.Newest().Ranking, finalists, d.Looks.Seen())
}

// Review judges the players during a search, as soon as they have reported enough. It returns
// players to leave out because their numbers contradict the others', and notes for people.
func (d *Decision) Review(g facts.Facts, now roomtime.Time) (odd attendance.Change, notes []sentence.Sentence) {
	passed, active := now.Sub(g.Measuring()), g.Active()
	counted, first := map[people.ID]int{}, map[people.ID]time.Duration{}
	for _, player := range active {
		first[player] = passed
		for server := range g.Results(player).Servers() {
			counted[player]++
			first[player] = min(first[player], g.Results(player).At(server).At)
		}
	}
	told := people.Filtered(active, func(player people.ID) bool { return counted[player] >= judgedAfter })
	fresh := people.Filtered(told, func(player people.ID) bool { return passed-first[player] < silentFor })
	odd, notes = d.judge(g, told, trust.Searching, fresh...)
	return odd, append(notes, d.Discredit(g.Suppose(odd))...)
}

// judge finds players whose numbers contradict the others'. For a fresh player, silent servers
// prove nothing yet.
func (d *Decision) judge(g facts.Facts, players []people.ID, at trust.Moment, fresh ...people.ID) (odd attendance.Change, notes []sentence.Sentence) {
	v := d.trust.Judge(g.Basis(players), g.Players(), at, fresh...)
	return attendance.Change{Out: attendance.Odd, Players: v.LeftOut}, v.Notes
}

// outvote chooses without a few players if nothing that suits the others suits these few. It
// returns the players to leave out, the choice, and notes for people.
func (d *Decision) outvote(g facts.Facts, players []people.ID, s selection.Selection) (attendance.Change, selection.Selection, []sentence.Sentence) {
	v, others := d.trust.Outvote(g.Basis(players))
	out := attendance.Change{Out: attendance.Outvoted, Players: v.LeftOut}
	if len(v.LeftOut) == 0 {
		return out, s, nil
	}
	s = g.Select(others)
	return out, s, append(v.Notes, limitNotes(g, v.LeftOut, &s)...)
}

// tryAlone chooses again while the choice depends on a ping that only one player reports.
func (d *Decision) tryAlone(g facts.Facts) (notes []sentence.Sentence) {
	for range trust.MaxTrials {
		before := g.Newest()
		if before == nil || before.Chosen == nil {
			return notes
		}
		players, pings := g.ChosenFor(), map[people.ID]trust.Ping{}
		for _, player := range players {
			first, _ := g.Results(player).Probe(before.Chosen.Server)
			pings[player] = trust.Ping{First: first.RTT, Now: g.Knowledge(player).At(before.Chosen.Server).RTT}
		}
		trial := d.trust.Try(g.Basis(players), before, pings)
		var after selection.Selection
		for trial.NextFloor() {
			after = g.Select(players)
			trial.Chose(&after)
		}
		news := trial.End()
		if len(news) == 0 {
			return notes
		}
		notes = append(notes, news...)
		after.LookedS, after.Doubts = before.LookedS, d.doubts(g)
		d.choice.Refine(after)
	}
	return notes
}

func (d *Decision) doubts(g facts.Facts) []anomaly.Anomaly {
	players, answered := g.Players(), map[people.ID]int{}
	for _, player := range players {
		_, answered[player] = g.Results(player).Progress()
	}
	return d.trust.List(g.Basis(g.Active()), players, answered)
}

// disputed returns the servers that would suit all players better, but did not answer one of them.
func (d *Decision) disputed(g facts.Facts, s *search.Search) []int {
	players, o := g.ChosenFor(), trust.Forecast{}
	b := g.Basis(players)
	if s != nil {
		o = trust.Forecast{Silent: map[people.ID][]int{}, RTTs: s.Predict(b.Table)}
		for _, player := range players {
			o.Silent[player] = g.Knowledge(player).Silent()
		}
	}
	return d.trust.Disputed(b, g.Newest(), o, d.Looks.Seen())
}

// ChooseResult is the result of [Decision.Choose].
type ChooseResult struct {
	Notes []sentence.Sentence
	// IsMade says that there is a choice now, perhaps of no server. Without one, Failure says why.
	// If the organiser was merely too early, Failure is empty.
	IsMade  bool
	Failure sentence.Sentence
	// Changes are changes of the active players.
	Changes []attendance.Change
}

// Choose chooses for all players who measured anything. If nothing suits them it chooses for the
// players who have finished, because a missing result culls a server. The organiser may want an
// early choice while some still measure. Such a choice counts only if a server suits everyone,
// because impatience should not lose measurements.
func (d *Decision) Choose(g facts.Facts, early bool, at trust.Moment) (c ChooseResult) {
	var odd, outvoted attendance.Change
	odd, c.Notes = d.judge(g, g.Measured(), at)
	g = g.Suppose(odd)
	c.Notes = append(c.Notes, d.Discredit(g)...)
	players := g.Measured()
	selected := g.Select(players)
	if selected.Chosen == nil {
		finished := people.Filtered(players, func(player people.ID) bool { return g.Mark(player).Done })
		if s := g.Select(finished); s.Chosen != nil {
			players, selected = finished, s
		}
	}
	if selected.Chosen == nil && !early {
		var notes []sentence.Sentence
		outvoted, selected, notes = d.outvote(g, players, selected)
		players = people.Without(players, outvoted.Players...)
		c.Notes = append(c.Notes, notes...)
	}
	c.Changes = []attendance.Change{odd, outvoted}
	switch {
	case early && selected.Chosen == nil:
		c.Notes = append(c.Notes, sentence.Of("room.go-too-early"))
		return c
	case early:
		c.Notes = append(c.Notes, sentence.Of("room.go-choose"))
	case len(players) == 0:
		c.Failure = sentence.Of("room.nobody-measured")
		return c
	}
	for _, a := range d.trust.Find(g.Basis(players)) {
		c.Notes = append(c.Notes, sentence.Of("why.doubt", "doubt", a.Sentence()))
	}
	best := selected.Ranking[:min(finalists, len(selected.Ranking))]
	theirs := g.Editions(players)
	c.Notes = append(c.Notes, editions.Describe(*g.Servers(), theirs, best, g.Settings().AnyVersion)...)
	behind := people.Without(g.Suppose(outvoted).Active(), players...)
	c.Changes = append(c.Changes, attendance.Change{Out: attendance.Behind, Players: behind})
	for _, player := range behind {
		probed, _ := g.Results(player).Progress()
		c.Notes = append(c.Notes, sentence.Of("room.choosing-without",
			"player", player, "probed", probed, "n", len(g.Servers().List)))
	}
	d.Looks.Forget()
	d.choice.Take(selected)
	c.IsMade = true
	return c
}

// NextStep is the next step after a choice: the first of the fields from Look on that is set.
type NextStep struct {
	Notes []sentence.Sentence
	// Look are servers for a second look, and Why gives the reasons.
	Look []int
	Why  []sentence.Sentence
	// Wait are full servers that are worth a wait.
	Wait []selection.Ranked
	// Failure is why there is no server to go to.
	Failure sentence.Sentence
	// Bans says that the captains of a match decide, and Votes that people vote. Asks says that the
	// organiser gets a moment to decide about players over the limit. Without any of these everyone
	// goes to Server.
	Bans, Votes, Asks bool
	Server            int
}

// Decide returns the next step after the newest choice. First everyone looks at the chosen server
// again. Then people vote, if the organiser wants that, or all go there. If isChosen, people who
// are left out have no say.
func (d *Decision) Decide(g facts.Facts, p *probing.Probing, isChosen bool) (f NextStep) {
	f.Notes = d.tryAlone(g)
	chosen, isTired := g.Newest().Chosen, d.Looks.Tries() >= maxLooks
	if chosen == nil {
		if lone := d.culledByLone(g); len(lone) > 0 && !isTired && !g.IsOfPlaces() {
			f.Look, f.Why = lone, []sentence.Sentence{sentence.Of("room.looks-lone", "n", len(lone))}
			return f
		}
		if g.Settings().Wait > 0 && len(g.ChosenFor()) > 0 {
			f.Wait = WorthWaiting(g)
		}
		f.Failure = sentence.Of("room.none-suits", "why", choice.Lack(g.Newest()))
		return f
	}
	f.Server = chosen.Server
	isSeen := slices.Contains(d.seen(g), f.Server)
	f.Bans = g.Settings().IsMatch()
	f.Votes = !f.Bans && d.ballot.IsWanted(g.Settings().Agree, g.Electorate(isChosen))
	switch {
	case !isSeen && isTired:
		takes := "room.unverified"
		if f.Votes || f.Bans { // a vote or the captains may take another
			takes = "room.unverified-rule"
		}
		f.Notes = append(f.Notes, sentence.Of(takes, "server", g.Servers().Called(f.Server)))
	case !isSeen:
		f.Look, f.Why = d.finalists(g, p, f.Votes)
		return f
	case f.Votes && !isTired && !g.IsOfPlaces():
		if f.Look = d.looksBeforeVote(d.Options(g)); len(f.Look) > 0 {
			f.Why = []sentence.Sentence{sentence.Of("room.looks-more", "n", len(f.Look))}
			return f
		}
	}
	if f.Bans && !isTired && !g.IsOfPlaces() && d.Looks.Tries() < maxLooksBeforeVote {
		if f.Look = d.unseen(g); len(f.Look) > 0 {
			f.Why = []sentence.Sentence{sentence.Of("room.looks-bans", "n", len(f.Look))}
			return f
		}
	}
	if f.Votes && isSeen && d.ballot.IsNeedless(g.Settings().Agree, d.Options(g)) {
		f.Votes = false
		f.Notes = append(f.Notes, sentence.Of("room.one-best", "server", g.Servers().Called(f.Server)))
	}
	f.Asks = !f.Votes && !f.Bans && g.Settings().Agree == wire.Undecided && isOrganiserHere(g) && len(d.limitAdvice(g)) > 0
	d.choice.NoteInfluence(g.BasisWithGuests(g.ChosenFor()))
	return f
}

// maxLooksBeforeVote bounds the looks that may add choices to a vote, because pings change a little
// with each look.
const maxLooksBeforeVote = 2

// looksBeforeVote returns the servers that everyone should look at before a vote.
func (d *Decision) looksBeforeVote(o ballot.Options) []int {
	if d.Looks.Tries() >= maxLooksBeforeVote {
		return o.More
	}
	more := slices.DeleteFunc(slices.Clone(o.More), func(server int) bool { return slices.Contains(o.Unseen, server) })
	return append(slices.Clone(o.Unseen), more...)
}

// seen returns the servers that need no more looks: everyone has looked at them, or the best places, which are
// measured often enough at once.
func (d *Decision) seen(g facts.Facts) (servers []int) {
	if newest := g.Newest(); newest != nil && g.IsOfPlaces() {
		for _, ranked := range newest.Ranking[:min(finalists, len(newest.Ranking))] {
			servers = append(servers, ranked.Server)
		}
		return servers
	}
	return d.Looks.Seen()
}

// options caches the options of a vote on one choice, after looks at some servers, because every
// viewer of the room gets them.
type options struct {
	of   *selection.Selection
	seen []int
	ballot.Options
}

// Options returns the options of a vote on the choice, even before the vote opens. The caller must
// not change them.
func (d *Decision) Options(g facts.Facts) ballot.Options {
	newest, seen := g.Newest(), d.seen(g)
	if newest == nil || d.options.of != newest || !slices.Equal(d.options.seen, seen) {
		d.options = options{newest, slices.Clone(seen), ballot.Among(newest, seen)}
	}
	return d.options.Options
}

// OpenVote opens the vote on the newest choice. It returns a note for people.
func (d *Decision) OpenVote(g facts.Facts) (note sentence.Sentence) {
	options := d.Options(g)
	d.ballot.Open(options)
	return sentence.Of("room.vote", "server", g.Servers().Called(d.ballot.Favourite(options)))
}

// Replace makes another choice the newest. It takes back that people are ready, because they were
// ready for the other one.
func (d *Decision) Replace(s selection.Selection) {
	d.choice.Take(s)
	d.ballot.Withdraw("", ballot.Ready|ballot.ByHand)
}

// ChooseAgain chooses after the group has lost or won players, as why says. If another server is
// now the best it returns that choice, for [Decision.Replace]. Otherwise the vote and the countdown
// go on.
func (d *Decision) ChooseAgain(g facts.Facts, why sentence.Sentence) (note sentence.Sentence, other *selection.Selection) {
	players := g.ChosenFor()
	s := g.Select(players)
	before := g.Newest().Chosen
	var first people.ID // the note names this player if nobody else is left
	if len(players) > 0 {
		first = players[0]
	}
	if s.Chosen == nil || before == nil || s.Chosen.Server != before.Server {
		return sentence.Of("room.choosing-again", "why", why, "n", len(players), "player", first), &s
	}
	s.Doubts = g.Newest().Doubts
	d.renewChoice(g, s)
	d.ballot.Open(d.Options(g))
	return sentence.Of("room.still-best", "why", why, "server", g.Servers().Called(before.Server), "n", len(players), "player", first), nil
}

// renewChoice replaces the newest choice by one of the same server.
func (d *Decision) renewChoice(g facts.Facts, s selection.Selection) {
	d.choice.Take(s)
	d.choice.NoteInfluence(g.BasisWithGuests(g.ChosenFor()))
}

// Readmit adds a player who left during the vote to the choice again, if a server still suits all.
// It reports whether it did.
func (d *Decision) Readmit(g facts.Facts, player people.ID) bool {
	if !g.CanReturn(player) || !g.HasMeasured(player) {
		return false
	}
	s := g.Suppose(attendance.Change{Players: []people.ID{player}}).Select(append(g.ChosenFor(), player))
	if s.Chosen == nil {
		return false
	}
	before := *g.Newest()
	before.Players = s.Players
	d.choice.Refine(before)
	return true
}

// changeNotes returns notes on why the choice is another server than before; none if it is the
// same.
func changeNotes(g facts.Facts, before int) (notes []sentence.Sentence) {
	after := g.Newest().Chosen
	if after != nil && after.Server == before {
		return nil
	}
	was, cause := g.Servers().Called(before), g.CauseAgainst(before, g.Active())
	switch {
	case after == nil && cause == nil:
		return []sentence.Sentence{sentence.Of("room.changed-none", "server", was)}
	case after == nil:
		return []sentence.Sentence{sentence.Of("room.changed-none-why", "server", was, "why", because(*cause))}
	case cause == nil:
		return []sentence.Sentence{sentence.Of("room.changed", "server", was, "next", g.Servers().Called(after.Server))}
	}
	return []sentence.Sentence{sentence.Of("room.changed-why",
		"server", was, "why", because(*cause), "next", g.Servers().Called(after.Server))}
}

// Favourite returns the server that people agreed on, after everyone has looked at it again. If it
// no longer suits them, Favourite returns the next best server, or -1 until everyone has looked at
// the next best one.
func (d *Decision) Favourite(g facts.Facts) (server int, notes []sentence.Sentence) {
	notes = d.Discredit(g)
	target := d.ballot.Favourite(d.Options(g))
	if g.CauseAgainst(target, g.ChosenFor()) == nil {
		return target, notes
	}
	s := g.Select(g.ChosenFor())
	d.choice.Refine(s)
	notes = append(notes, changeNotes(g, target)...)
	if s.Chosen == nil || !slices.Contains(d.seen(g), s.Chosen.Server) {
		return -1, notes
	}
	return s.Chosen.Server, notes
}

// WhatIfBasis returns the basis of a what-if with other settings. It reuses the record of the
// newest choice if the people are the same.
func (d *Decision) WhatIfBasis(g facts.Facts, s wire.Settings) selection.Basis {
	d.Record(g) // this makes the record if it is unknown
	players := g.ChosenFor()
	b, isKnown := d.choice.Basis(slices.Concat(players, g.Counted().Guests()))
	if !isKnown {
		b = g.BasisWithGuests(players)
	}
	b.Servers, b.Criteria = *g.Servers(), g.Criteria(s, players)
	return b
}

// Record returns the basis of the newest choice, or nil before there is one.
func (d *Decision) Record(g facts.Facts) *choice.Record {
	record, isKnown := d.choice.Record(g.Names())
	if !isKnown { // the room was restored, or has given up
		record = d.choice.Note(g.BasisWithGuests(g.ChosenFor()), g.Names())
	}
	return record
}

// Recount chooses again during a vote because other guests count. If another server is now the best
// it returns that choice, for [Decision.Replace]. Otherwise it returns nil, and no vote is lost.
func (d *Decision) Recount(g facts.Facts) (other *selection.Selection) {
	switch s := g.Select(g.ChosenFor()); {
	case s.Chosen == nil:
	case s.Chosen.Server == g.Newest().Chosen.Server:
		d.renewChoice(g, s)
	default:
		return &s
	}
	return nil
}
