package room

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection/coordinate"
)

const (
	// slowestRate is the slowest rate of probing, in servers a second, that a room waits for.
	slowestRate = 100
	// measuringGrace comes on top of the time that the list itself takes.
	measuringGrace = time.Minute
	// settled is how long a player with all results may wait before saying so. The servers' facts
	// may still follow the results.
	settled = 2 * time.Second
)

// Measuring is the measuring of the whole list by each player or NAT group.
type Measuring struct{ base }

func (*Measuring) traits() traits {
	return traits{
		name: wire.PhaseMeasuring, duty: attendance.Measure, sides: sides.Joining, measuresAlone: true,
	}
}

func (*Measuring) refuseLongLook(*Room) error { return nil }

// proceed chooses while some still measure.
func (*Measuring) proceed(r *Room) error {
	r.choose(true, trust.Measured)
	return nil
}

func (*Measuring) joined(r *Room, player people.ID)       { r.measureLate(player) }
func (*Measuring) lookedAround(r *Room, player people.ID) { r.catchUpIfHere(player) }
func (m *Measuring) reported(r *Room)                     { m.advance(r) }

// tick leaves out players who are gone or silent. When the time is up it chooses from the results
// so far, so that nobody holds up the others for ever.
func (m *Measuring) tick(r *Room) {
	g := &r.parts
	g.Attendance.Excuse(r.now, r.probing.Idle(nil)...)
	if r.leaveOutOverdue(); r.phase != m {
		return
	}
	for _, player := range g.Attendance.Active() {
		if g.Attendance.Silence(player, r.now) < settled || !r.probing.HasAllResults(r.facts, player) {
			continue
		}
		if m.finished(r, player); r.phase != m {
			return
		}
	}
	r.out.ask(r.parts.Number, r.probing.Share(r.facts, r.moment()))
	limit := measuringGrace + time.Duration(len(g.Servers.List)/slowestRate)*time.Second
	if r.passed() > limit {
		r.finishShares()
		r.out.say(sentence.Of("room.time-is-up", "time", limit))
		r.choose(false, trust.Measured)
		return
	}
	m.advance(r)
}

// finishShares notes the NAT groups that have measured the list together.
func (r *Room) finishShares() {
	finished, notes := r.probing.FinishedShares(r.facts)
	r.parts.Attendance.Finish(r.now, finished...)
	r.out.say(notes...)
}

// advance chooses when all are done.
func (*Measuring) advance(r *Room) {
	g := &r.parts
	r.finishShares()
	active := g.Attendance.Active()
	if len(active) > 0 && !slices.ContainsFunc(active, func(player people.ID) bool { return !g.Attendance.Of(player).Done }) {
		r.choose(false, trust.Measured)
	}
}

// finished notes that a player's plan has come to its end.
func (m *Measuring) finished(r *Room, player people.ID) {
	g := &r.parts
	if g.Attendance.Of(player).Done || g.Evidence[player].IsSharing() {
		return
	}
	g.Attendance.Finish(r.now, player)
	probed, answered := g.Evidence[player].Progress()
	r.out.say(sentence.Of("room.measured", "player", player, "n", probed, "answered", answered))
	m.advance(r)
}

// measure starts a player's program, and sends it the results that the room already has.
func (r *Room) measure(player people.ID) {
	strategy := r.parts.Settings.Strategy
	if r.phase.traits().isCoordinated { // even if only because the organiser wants more servers asked
		strategy = wire.Coordinated
	} else if strategy == wire.Coordinated { // the settings have changed since the round began
		strategy = string(discovery.Conventional)
	}
	told, asks := r.probing.Measure(r.facts, player, strategy, r.moment())
	r.out.publish() // the program has to know the room's game first
	for _, m := range told {
		r.out.send(player, m)
	}
	r.out.ask(r.parts.Number, asks)
}

// measureLate starts a player who comes while others measure.
func (r *Room) measureLate(player people.ID) {
	g := &r.parts
	if g.Nearby.IsLate(player, g.Settings.Game) {
		r.out.lookAround(g, player)
	}
	if g.Nearby.IsLooking(player) || r.out.lookBeyond(g, []people.ID{player}, nil) {
		return // until it has looked
	}
	if r.phase.traits().isCoordinated {
		r.out.recall(g, player)
	}
	r.out.brief(g, player)
	r.measure(player)
}

// catchUpIfHere brings a late player up to date after their program has looked around, if the
// player is still here.
func (r *Room) catchUpIfHere(player people.ID) {
	if r.parts.Attendance.Of(player).Here {
		r.catchUp(player)
	}
}

// leaveOutOverdue leaves out players who have held up the others for too long.
func (r *Room) leaveOutOverdue() {
	r.out.say(r.parts.Attendance.LeaveOutOverdue(outage.StalledAfter, r.now)...)
	if len(r.parts.Attendance.Active()) == 0 {
		r.fail(true, sentence.Of("room.nobody-left"))
	}
}

// report adds a player's measurements. It ignores late reports of an earlier round.
func (in Hear) report(r *Room, report wire.Report) error {
	g, is := &r.parts, r.phase.traits()
	if report.Round != g.Number || !is.isMeasuring() && !is.isChosen() {
		return nil
	}
	for i := range report.Results {
		if server := report.Results[i].Server; server >= len(g.Servers.List) {
			return nonsensef("a report of server %d of %d", server, len(g.Servers.List))
		}
	}
	asks, isNews := r.probing.Report(r.facts, in.Player, report, is.isChosen(), r.moment())
	if r.out.ask(r.parts.Number, asks); isNews {
		r.out.say(g.Attendance.Report(in.Player, is.isMeasuring() && !is.asksMore, r.now))
	}
	r.phase.reported(r)
	return nil
}

// infos takes servers' words as a player heard them. It ignores a player who is left out, except
// while players measure, because then the next report lets the player count again.
func (in Hear) infos(r *Room, infos wire.Infos) error {
	g := &r.parts
	if infos.Round != g.Number || g.Attendance.Of(in.Player).Out != "" && !r.phase.traits().isMeasuring() {
		return nil
	}
	if stranger := g.HearInfos(in.Player, infos, r.now); stranger >= 0 {
		return nonsensef("infos of server %d of %d", stranger, len(g.Servers.List))
	}
	return nil
}

// showLeaders puts the leading servers on open pages.
func (Tick) showLeaders(r *Room) {
	if is := r.phase.traits(); !is.isMeasuring() && !is.isLooking && !is.isSurveying {
		return
	}
	if _, isQuiet := r.phase.next(r); isQuiet { // they have been shown
		return
	}
	nameless, isShown := r.probing.Leaders(r.facts, r.now)
	if isShown {
		r.out.revision++
	}
	for _, ask := range nameless {
		r.out.send(ask.Player, wire.Ask{Round: r.parts.Number, Servers: []int{}, Names: ask.Servers})
	}
}

// Progress returns the progress of the coordinated search, until the launch. It reports whether
// there is a search.
func (r *Room) Progress() (progress coordinate.Progress, searches bool) {
	if s := r.probing.Search(r.facts); s != nil {
		return s.Progress(), true
	}
	return coordinate.Progress{}, false
}
