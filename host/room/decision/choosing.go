// Package decision decides where a group goes: it chooses from what was measured, lets everyone
// look at the best few again, and says what follows.
//
//	Choose ─▶ Decide ─┬─▶ look at these ─▶ Hear, Settle ─▶ Decide …
//	                  ├─▶ wait for seats, or there is no server
//	                  ├─▶ vote ─▶ Favourite ─▶ launch
//	                  └─▶ a match: BeginBans ─▶ Move … ─▶ Destination ─▶ launch
//
// The measurements and the choice are in the [group.Group]. A room carries out what follows.
package decision

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/finals"
	"muster/host/room/group"
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
	// judgedAfter is the number of results that must count of a player before the room judges them
	// while others still measure. Results without a question do not count: after a restart of the
	// host, a program repeats results that the restored room has not asked for yet.
	judgedAfter = 16
	// silentFor is how long nearly all servers must be silent to a player, from the first result on,
	// before the room judges the player by it during a search: a line may be down for a moment.
	silentFor = 2 * time.Second
)

// Decision is what a round decides. Its zero value has decided nothing yet.
type Decision struct {
	looks finals.Looks
	// waitable is what a wait for seats could be for.
	waitable waitable
	// question is the organiser's, about players over the limit.
	question question
	options  options
}

// Discredit finds players who contradict most others about servers. It returns what to tell
// people.
func (d *Decision) Discredit(g *group.Group) (notes []sentence.Sentence) {
	g.RefreshFacts()
	found := g.Heard.Contradictions(d.looks.Seen())
	notes = g.Trust.Discredit(found, g.Attendance.Active(), g.Attendance.Players())
	g.RefreshFacts()
	return notes
}

// culledByLone returns the best servers that the ranking lacks because of one player's word.
func (d *Decision) culledByLone(g *group.Group) []int {
	if len(g.Servers.Lone) == 0 {
		return nil
	}
	return trust.CulledByLone(g.Basis(g.Attendance.Active()), g.Choice.Newest().Ranking, finalists, d.looks.Seen())
}

// Review leaves out players whose numbers fit nobody else's, while a search goes on, if they have
// reported enough. It also finds players who contradict the others. It returns notes for people.
func (d *Decision) Review(g *group.Group, now roomtime.Time) (notes []sentence.Sentence) {
	passed, active := now.Sub(g.Measuring), g.Attendance.Active()
	counted, first := map[people.ID]int{}, map[people.ID]time.Duration{}
	for _, player := range active {
		first[player] = passed
		for server := range g.Evidence[player].Servers() {
			counted[player]++
			first[player] = min(first[player], g.Evidence[player].At(server).At)
		}
	}
	told := people.Filtered(active, func(player people.ID) bool { return counted[player] >= judgedAfter })
	fresh := people.Filtered(told, func(player people.ID) bool { return passed-first[player] < silentFor })
	return slices.Concat(judge(g, told, trust.Searching, fresh...), d.Discredit(g))
}

// judge leaves out players whose numbers fit nobody else's. The silence of servers tells nothing yet
// about fresh players.
func judge(g *group.Group, players []people.ID, at trust.Moment, fresh ...people.ID) (notes []sentence.Sentence) {
	v := g.Trust.Judge(g.Basis(players), g.Attendance.Players(), at, fresh...)
	g.Attendance.LeaveOut(attendance.Odd, v.LeftOut...)
	return v.Notes
}

// outvote chooses without a few players if no server that suits all others works for them. It
// returns the players it chose for, the choice, and notes for people.
func outvote(g *group.Group, players []people.ID, s selection.Selection) ([]people.ID, selection.Selection, []sentence.Sentence) {
	v, others := g.Trust.Outvote(g.Basis(players))
	if len(v.LeftOut) == 0 {
		return players, s, nil
	}
	s = g.Select(others)
	g.Attendance.LeaveOut(attendance.Outvoted, v.LeftOut...)
	notes := append(v.Notes, overLimit(g, v.LeftOut, &s)...)
	return people.Filtered(players, func(player people.ID) bool { return slices.Contains(others, player) }), s, notes
}

// tryAlone chooses again as long as the choice depends on a ping that one player alone reports.
func tryAlone(g *group.Group) (notes []sentence.Sentence) {
	for range trust.MostTrials {
		before := g.Choice.Newest()
		if before == nil || before.Chosen == nil {
			return notes
		}
		players, pings := g.ChosenFor(), map[people.ID]trust.Ping{}
		for _, player := range players {
			first, _ := g.Evidence[player].Probe(before.Chosen.Server)
			pings[player] = trust.Ping{First: first.RTT, Now: g.Knowledge(player).At(before.Chosen.Server).RTT}
		}
		trial := g.Trust.Try(g.Basis(players), before, pings)
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
		after.LookedS, after.Doubts = before.LookedS, doubts(g)
		g.Choice.Refine(after)
	}
	return notes
}

// doubts returns everything that is odd about players.
func doubts(g *group.Group) []anomaly.Anomaly {
	players, answered := g.Attendance.Players(), map[people.ID]int{}
	for _, player := range players {
		_, answered[player] = g.Evidence[player].Progress()
	}
	return g.Trust.List(g.Basis(g.Attendance.Active()), players, answered)
}

// disputed returns the servers that would be better for all but one player who got no answer from
// them.
func (d *Decision) disputed(g *group.Group, s *search.Search) []int {
	players, o := g.ChosenFor(), trust.Forecast{}
	b := g.Basis(players)
	if s != nil {
		o = trust.Forecast{Silent: map[people.ID][]int{}, RTTs: s.Predict(b.Table)}
		for _, player := range players {
			o.Silent[player] = g.Knowledge(player).Silent()
		}
	}
	return g.Trust.Disputed(b, g.Choice.Newest(), o, d.looks.Seen())
}

// Chosen is the result of [Decision.Choose].
type Chosen struct {
	Notes []sentence.Sentence
	// IsMade says that there is a choice now, perhaps of no server. Otherwise Failure says why
	// there is none, unless the organiser was merely too early.
	IsMade  bool
	Failure sentence.Sentence
}

// Choose ranks the measurements. It chooses for everyone who measured anything. If that leaves no
// server, it chooses for those who have finished, because the others' missing results would cull
// every server. An early choice, which the organiser wants while some still measure, counts only if
// something suits everyone, because impatience should not lose measurements.
func (d *Decision) Choose(g *group.Group, early bool, at trust.Moment) (c Chosen) {
	c.Notes = slices.Concat(judge(g, g.Measured(), at), d.Discredit(g))
	players := g.Measured()
	selected := g.Select(players)
	if selected.Chosen == nil {
		finished := people.Filtered(players, func(player people.ID) bool { return g.Attendance.Of(player).Done })
		if s := g.Select(finished); s.Chosen != nil {
			players, selected = finished, s
		}
	}
	if selected.Chosen == nil && !early {
		var notes []sentence.Sentence
		players, selected, notes = outvote(g, players, selected)
		c.Notes = append(c.Notes, notes...)
	}
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
	for _, a := range g.Trust.Find(g.Basis(players)) {
		c.Notes = append(c.Notes, sentence.Of("why.doubt", "doubt", a.Sentence()))
	}
	best := selected.Ranking[:min(finalists, len(selected.Ranking))]
	theirs := g.Editions.Of(players, g.Settings.Game)
	c.Notes = append(c.Notes, editions.Describe(g.Servers, theirs, best, g.Settings.AnyVersion)...)
	for _, player := range g.Attendance.Active() {
		if !slices.Contains(players, player) {
			g.Attendance.LeaveOut(attendance.Behind, player)
			probed, _ := g.Evidence[player].Progress()
			c.Notes = append(c.Notes, sentence.Of("room.choosing-without",
				"player", player, "probed", probed, "n", len(g.Servers.List)))
		}
	}
	d.looks.Forget()
	g.Choice.Take(selected)
	c.IsMade = true
	return c
}

// Following says what follows from the newest choice: the first of its fields that is set.
type Following struct {
	Notes []sentence.Sentence
	// Look are servers that everyone looks at again, and Why gives the reasons.
	Look []int
	Why  []sentence.Sentence
	// Wait are full servers that are worth a wait.
	Wait []selection.Ranked
	// Failure is why there is no server to go to.
	Failure sentence.Sentence
	// Bans says that the captains of a match decide, and Votes that people have their say. Asks says
	// that the organiser has a moment to answer, about players whom the limit leaves out. Otherwise
	// everyone goes to Server.
	Bans, Votes, Asks bool
	Server            int
}

// Decide returns what follows from the newest choice. Everyone looks at the chosen server again
// unless they have. Then people have their say, if the organiser wants that, or all go there. If
// isChosen, people who are left out have no say. Surveyed is the number of places that everybody
// measures, which count like servers.
func (d *Decision) Decide(g *group.Group, p *probing.Probing, isChosen bool, surveyed int) (f Following) {
	f.Notes = tryAlone(g)
	chosen, isTired := g.Choice.Newest().Chosen, d.looks.Tries() >= maxTries
	if chosen == nil {
		if lone := d.culledByLone(g); len(lone) > 0 && !isTired {
			f.Look, f.Why = lone, []sentence.Sentence{sentence.Of("room.looks-lone", "n", len(lone))}
			return f
		}
		if g.Settings.Wait > 0 && len(g.ChosenFor()) > 0 {
			f.Wait = WorthWaiting(g)
		}
		f.Failure = sentence.Of("room.none-suits", "why", choice.Lack(g.Choice.Newest()))
		return f
	}
	f.Server = chosen.Server
	isSeen := slices.Contains(d.looks.Seen(), f.Server)
	f.Bans = g.Settings.IsMatch()
	f.Votes = !f.Bans && g.Ballot.IsWanted(g.Settings.Agree, g.Electorate(isChosen))
	switch {
	case !isSeen && isTired:
		takes := "room.unverified"
		if f.Votes || f.Bans { // people may take another
			takes = "room.unverified-rule"
		}
		f.Notes = append(f.Notes, sentence.Of(takes, "server", g.Servers.Called(f.Server)))
	case !isSeen:
		f.Look, f.Why = d.finalists(g, p, f.Votes, surveyed)
		return f
	case f.Votes && !isTired:
		if f.Look = d.wanting(d.Options(g)); len(f.Look) > 0 {
			f.Why = []sentence.Sentence{sentence.Of("room.looks-more", "n", len(f.Look))}
			return f
		}
	}
	if f.Bans && !isTired && d.looks.Tries() < choicesUntil {
		if f.Look = d.unseen(g); len(f.Look) > 0 {
			f.Why = []sentence.Sentence{sentence.Of("room.looks-bans", "n", len(f.Look))}
			return f
		}
	}
	if f.Votes && isSeen && g.Ballot.IsNeedless(g.Settings.Agree, d.Options(g)) {
		f.Votes = false
		f.Notes = append(f.Notes, sentence.Of("room.one-best", "server", g.Servers.Called(f.Server)))
	}
	f.Asks = !f.Votes && !f.Bans && g.Settings.Agree == wire.Undecided && isOrganiserHere(g) && len(d.ask(g)) > 0
	g.Choice.NoteInfluence(g.Full(g.ChosenFor()))
	return f
}

// choicesUntil is how many looks may find new choices for a vote. Pings change a little with each.
const choicesUntil = 2

// wanting returns the servers that everyone should look at before a vote.
func (d *Decision) wanting(o ballot.Options) []int {
	if d.looks.Tries() >= choicesUntil {
		return o.More
	}
	more := slices.DeleteFunc(slices.Clone(o.More), func(server int) bool { return slices.Contains(o.Unseen, server) })
	return append(slices.Clone(o.Unseen), more...)
}

// options are those of a vote on a choice, after looks at some servers. They are computed once,
// because everyone who looks at the room gets them.
type options struct {
	of   *selection.Selection
	seen []int
	ballot.Options
}

// Options returns the options of a vote on the choice, even before it opens. They must not be
// changed.
func (d *Decision) Options(g *group.Group) ballot.Options {
	newest, seen := g.Choice.Newest(), d.looks.Seen()
	if newest == nil || d.options.of != newest || !slices.Equal(d.options.seen, seen) {
		d.options = options{newest, slices.Clone(seen), ballot.Among(newest, seen)}
	}
	return d.options.Options
}

// OpenVote lets people vote on the newest choice. It returns a note for them.
func (d *Decision) OpenVote(g *group.Group) (note sentence.Sentence) {
	options := d.Options(g)
	g.Ballot.Open(options)
	return sentence.Of("room.vote", "server", g.Servers.Called(g.Ballot.Favourite(options)))
}

// Replace makes another choice the newest. Nobody is ready for it yet.
func Replace(g *group.Group, s selection.Selection) {
	g.Choice.Take(s)
	g.Launches.Restart()
	g.Ballot.Withdraw("", ballot.Ready|ballot.ByHand)
}

// ChooseAgain chooses for a group that has lost or won players; why says so. If
// another server is the best now it returns that choice, for [Replace]. Else the vote and the
// countdown go on.
func (d *Decision) ChooseAgain(g *group.Group, why sentence.Sentence) (note sentence.Sentence, other *selection.Selection) {
	players := g.ChosenFor()
	s := g.Select(players)
	before := g.Choice.Newest().Chosen
	first := people.ID("") // who is named if nobody else is left
	if len(players) > 0 {
		first = players[0]
	}
	if s.Chosen == nil || before == nil || s.Chosen.Server != before.Server {
		return sentence.Of("room.choosing-again", "why", why, "n", len(players), "player", first), &s
	}
	s.Doubts = g.Choice.Newest().Doubts
	take(g, s)
	g.Ballot.Open(d.Options(g))
	return sentence.Of("room.still-best", "why", why, "server", g.Servers.Called(before.Server), "n", len(players), "player", first), nil
}

// take makes a choice of the same server the newest.
func take(g *group.Group, s selection.Selection) {
	g.Choice.Take(s)
	g.Choice.NoteInfluence(g.Full(g.ChosenFor()))
}

// Readmit lets a player count again who was left out for leaving during the vote. It reports
// whether the player counts.
func Readmit(g *group.Group, player people.ID, now roomtime.Time) bool {
	players := g.ChosenFor()
	g.Attendance.Follow(player, players, now)
	if !g.Attendance.CanReturn(player) || !g.HasMeasured(player) {
		return false
	}
	g.Attendance.Recall(player, now)
	s := g.Select(append(players, player))
	if s.Chosen == nil {
		g.Attendance.LeaveOut(attendance.Left, player)
		return false
	}
	before := *g.Choice.Newest()
	before.Players = s.Players
	g.Choice.Refine(before)
	return true
}

// change returns the reason why the last favourite lost, or nothing.
func change(g *group.Group, before int) (notes []sentence.Sentence) {
	after := g.Choice.Newest().Chosen
	if after != nil && after.Server == before {
		return nil
	}
	was, cause := g.Servers.Called(before), g.Against(before, g.Attendance.Active())
	switch {
	case after == nil && cause == nil:
		return []sentence.Sentence{sentence.Of("room.changed-none", "server", was)}
	case after == nil:
		return []sentence.Sentence{sentence.Of("room.changed-none-why", "server", was, "why", because(*cause))}
	case cause == nil:
		return []sentence.Sentence{sentence.Of("room.changed", "server", was, "next", g.Servers.Called(after.Server))}
	}
	return []sentence.Sentence{sentence.Of("room.changed-why",
		"server", was, "why", because(*cause), "next", g.Servers.Called(after.Server))}
}

// Favourite returns the server that people agreed on, once everyone has looked at it again. If it
// no longer suits them another takes its place; -1 says that nobody has looked at that one.
func (d *Decision) Favourite(g *group.Group, f finals.Facts) (server int, notes []sentence.Sentence) {
	recordMisses(g, d.looks.AcceptMisses(f))
	notes = d.Discredit(g)
	target := g.Ballot.Favourite(d.Options(g))
	if g.Against(target, g.ChosenFor()) == nil {
		return target, notes
	}
	s := g.Select(g.ChosenFor())
	g.Choice.Refine(s)
	notes = append(notes, change(g, target)...)
	if s.Chosen == nil || !slices.Contains(d.looks.Seen(), s.Chosen.Server) {
		return -1, notes
	}
	return s.Chosen.Server, notes
}

// Supposed returns the basis of a what-if with other settings. It takes the record of the newest
// choice if that is of the same people.
func Supposed(g *group.Group, s wire.Settings) selection.Basis {
	Record(g) // this makes the record if it is unknown
	players := g.ChosenFor()
	b, isKnown := g.Choice.Basis(slices.Concat(players, g.Counted().Guests()))
	if !isKnown {
		b = g.Full(players)
	}
	b.Servers, b.Criteria = g.Servers, g.Criteria(s, players)
	return b
}

// Record returns the basis of the newest choice, or nil before there is one.
func Record(g *group.Group) *choice.Record {
	record, isKnown := g.Choice.Record(g.Roster.Names())
	if !isKnown { // the room was restored, or has given up
		record = g.Choice.Note(g.Full(g.ChosenFor()), g.Roster.Names())
	}
	return record
}

// Recount chooses again for other guests while people vote. It returns another choice, for
// [Replace], or nil if the same server stays: then no vote is lost.
func Recount(g *group.Group) (other *selection.Selection) {
	switch s := g.Select(g.ChosenFor()); {
	case s.Chosen == nil:
	case s.Chosen.Server == g.Choice.Newest().Chosen.Server:
		take(g, s)
	default:
		return &s
	}
	return nil
}
