package room

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/estimates"
	"muster/host/room/group"
	"muster/host/room/outage"
	"muster/host/room/probing"
	"muster/host/room/search"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection/coordinate"
)

const (
	// slowestRate is the slowest probing, in servers a second, that a room
	// waits for.
	slowestRate = 100
	// measuringGrace comes on top of the time that the list itself takes.
	measuringGrace = time.Minute
	// settled is how long a player with all results may keep its word that these are all. What the
	// servers say may follow the results.
	settled = 2 * time.Second
)

// Gathering waits for the players.
type Gathering struct{}

func (*Gathering) stage() wire.Stage { return wire.Gathering }

// tick gives the places of players who are gone to others.
func (*Gathering) tick(r *Room) {
	for _, player := range r.group.Attendance.Gone(r.now) {
		r.out.says(sentence.Of("room.gone", "player", player, "time", attendance.GoneAfter))
		r.unseat(player, r.group.Roster.Person(player).HasPage)
	}
}

// beginAgain lets a standing room sleep: it takes the places of all players away, and forgets
// where people are. Forget are the keys of people that the room forgets.
func (g *Gathering) beginAgain(r *Room, forget []string) {
	r.out.binds = true
	for _, player := range r.group.Attendance.Players() {
		r.unseat(player, true)
	}
	r.group.Estimates, r.group.Sides = estimates.Guests{}, sides.Sides{}
	r.apply(r.group.Roster.Sleep(r.now))
	for _, p := range slices.Collect(r.group.Roster.People()) {
		if slices.Contains(forget, p.Mark) {
			r.apply(r.group.Roster.Drop(p.Name))
		}
	}
	// Programs and pages that were away when the session ended may be back for the next one. They
	// would mistake a round of the same number for the one that they know.
	r.group.Round, r.failures = group.NewRound(r.group.Number%wire.MaxRound+1), 0
	r.probing, r.decision = probing.Probing{}, decision.Decision{}
	r.source.Stop() // it was for this session
	r.survey.End()
	r.enter(g)
}

func (*Gathering) proceed(r *Room) error {
	if len(r.group.Attendance.Active()) == 0 {
		r.out.says(sentence.Of("room.nobody-here"))
		return nil
	}
	(&Listing{}).begin(r)
	return nil
}

// measure starts a player, and gives back the results that the room has already.
func (r *Room) measure(player string) {
	told, asks := r.probing.Measure(&r.group, player, strategy(r.phase, r.group.Settings.Strategy), r.moment())
	r.out.publish() // the program has to know the room's game first
	for _, m := range told {
		r.out.send(player, m)
	}
	r.out.ask(r.group.Number, asks)
}

// Measuring means that every player measures the list whole, or its part of it.
type Measuring struct{}

func (*Measuring) stage() wire.Stage { return wire.Measuring }

// proceed chooses while some still measure.
func (*Measuring) proceed(r *Room) error {
	r.choose(true)
	return nil
}

// tick goes on without players who vanished or say nothing. When the time is up it chooses from the
// results so far: nobody holds the others for ever.
func (m *Measuring) tick(r *Room) {
	g := &r.group
	g.Attendance.Excuse(r.now, r.probing.Idle(nil)...)
	if r.leaveOutOverdue(); r.phase != m {
		return
	}
	for _, player := range g.Attendance.Active() {
		if g.Attendance.Silence(player, r.now) < settled || !r.probing.HasAll(g, player) {
			continue
		}
		if m.finished(r, player); r.phase != m {
			return
		}
	}
	r.out.ask(r.group.Number, r.probing.Share(g, r.moment()))
	limit := measuringGrace + time.Duration(len(g.Servers.List)/slowestRate)*time.Second
	if r.passed() > limit {
		r.out.says(r.probing.FinishShares(g, r.now)...)
		r.out.says(sentence.Of("room.time-is-up", "time", limit))
		r.choose(false)
		return
	}
	m.advance(r)
}

// advance chooses when all are done.
func (*Measuring) advance(r *Room) {
	g := &r.group
	r.out.says(r.probing.FinishShares(g, r.now)...)
	active := g.Attendance.Active()
	if len(active) > 0 && !slices.ContainsFunc(active, func(player string) bool { return !g.Attendance.Of(player).Done }) {
		r.choose(false)
	}
}

// finished notes that a player's plan has come to its end.
func (m *Measuring) finished(r *Room, player string) {
	g := &r.group
	if g.Attendance.Of(player).Done || g.Evidence[player].IsSharing() {
		return
	}
	g.Attendance.Finish(r.now, player)
	probed, answered := g.Evidence[player].Progress()
	r.out.says(sentence.Of("room.measured", "player", player, "n", probed, "answered", answered))
	m.advance(r)
}

// leaveOutOverdue goes on without players who have held the others for long enough.
func (r *Room) leaveOutOverdue() {
	r.out.says(r.group.Attendance.LeaveOutOverdue(outage.StalledAfter, r.now)...)
	if len(r.group.Attendance.Active()) == 0 {
		r.fail(true, sentence.Of("room.nobody-left"))
	}
}

// choose ranks what has been measured and lets everyone look at the best again. Early says that the
// organiser wants it while some still measure.
func (r *Room) choose(early bool) {
	at := trust.Measured
	if _, searching := r.phase.(*Coordinating); searching {
		at = trust.Found
	}
	chosen := r.decision.Choose(&r.group, early, at)
	r.out.says(chosen.Notes...)
	switch {
	case !chosen.Failure.IsZero():
		r.fail(true, chosen.Failure)
	case chosen.IsMade:
		r.verifyOrLaunch()
	}
}

// Coordinating means that the players ask the servers that could still win, round after
// round.
type Coordinating struct {
	// More is how many servers the organiser lets the search ask each player for beyond its own
	// budget, 0 during the round's own search; see [More].
	More int `json:"more,omitempty"`
}

func (*Coordinating) stage() wire.Stage { return wire.Refining }
func (*Coordinating) proceed(r *Room) error {
	r.choose(true)
	return nil
}

// tick goes on without players who are gone, and chooses when it is time.
func (c *Coordinating) tick(r *Room) {
	g := &r.group
	g.Attendance.Excuse(r.now, r.probing.Idle(g.Attendance.Players())...)
	if r.leaveOutOverdue(); r.phase != c {
		return
	}
	asks, notes := r.probing.Pace(g, r.now)
	r.out.ask(g.Number, asks)
	r.out.says(notes...)
	if r.probing.IsTimeUp(r.passed(), r.now) {
		r.out.says(sentence.Of("room.time-is-up", "time", search.Longest))
		r.choose(false)
		return
	}
	c.advance(r)
}

// advance asks for a turn when the round has its answers, or there is none.
func (*Coordinating) advance(r *Room) {
	if r.probing.IsSearchDue(&r.group, r.now) {
		r.out.plan(&r.group, &r.probing, false)
	}
}

// turn asks for the next servers, or chooses if the search is over.
func (c *Coordinating) turn(r *Room) {
	if !r.probing.IsSearchDue(&r.group, r.now) {
		return
	}
	r.out.says(r.decision.Review(&r.group, r.now)...)
	asks, outcome, isOver := r.probing.Turn(&r.group, c.More, r.moment())
	if r.out.ask(r.group.Number, asks); isOver {
		r.out.says(r.probing.Slow(&r.group)...)
		r.out.says(outcome)
		r.choose(false)
	}
}

// report adds a player's measurements. It ignores reports of an earlier round that were still on
// their way.
func (in Hear) report(r *Room, report wire.Report) error {
	g, isChosen := &r.group, r.phase.stage() == wire.Chosen
	if report.Round != g.Number || !isMeasuring(r.phase) && !isChosen {
		return nil
	}
	for i := range report.Results {
		if server := report.Results[i].Server; server >= len(g.Servers.List) {
			return nonsensef("a report of server %d of %d", server, len(g.Servers.List))
		}
	}
	asks, isNews := r.probing.Report(g, in.Player, report, isChosen, r.moment())
	if r.out.ask(r.group.Number, asks); isNews {
		r.out.says(g.Attendance.Report(in.Player, isMeasuring(r.phase) && !isAskingMore(r.phase), r.now))
	}
	switch phase := r.phase.(type) {
	case *Measuring:
		phase.advance(r)
	case *Coordinating:
		phase.advance(r)
	}
	return nil
}

// infos takes servers' words that a player heard. A player who came too late for a say in the round
// has none here either. One who was left out while the others measure is back with the next report.
func (in Hear) infos(r *Room, infos wire.Infos) error {
	g := &r.group
	if infos.Round != g.Number || g.Attendance.Of(in.Player).Out != "" && !isMeasuring(r.phase) {
		return nil
	}
	if stranger := g.Infos(in.Player, infos, r.now); stranger >= 0 {
		return nonsensef("infos of server %d of %d", stranger, len(g.Servers.List))
	}
	return nil
}

// showLeaders puts the servers that lead the search on the pages, if any is open.
func (Tick) showLeaders(r *Room) {
	if _, verifying := r.phase.(*Verifying); !verifying && !isMeasuring(r.phase) {
		return
	}
	nameless, isShown := r.probing.Leaders(&r.group, r.now)
	if isShown {
		r.out.revision++
	}
	for _, ask := range nameless {
		r.out.send(ask.Player, wire.Ask{Round: r.group.Number, Servers: []int{}, Names: ask.Servers})
	}
}

// Progress returns how far the round's coordinated search has come, until the launch. It reports
// whether there is one.
func (r *Room) Progress() (progress coordinate.Progress, searches bool) {
	if s := r.probing.Search(&r.group); s != nil {
		return s.Progress(), true
	}
	return coordinate.Progress{}, false
}
