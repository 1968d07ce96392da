package room

import (
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/search"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
)

// Coordinating is the coordinated search: round after round, players ask the servers that could
// still win.
type Coordinating struct {
	base
	// More is the organiser's addition to the search's budget for each player, 0 in the round's
	// first search; see [More].
	More int `json:"more,omitempty"`
}

func (c *Coordinating) traits() traits {
	t := traits{
		name: wire.PhaseCoordinating, duty: attendance.Measure, sides: sides.Joining, isCoordinated: true,
		asksMore: c.More > 0,
	}
	if t.asksMore { // the choice counts the same people as before
		t.sides = sides.Closed
	}
	return t
}

func (*Coordinating) refuseLongLook(*Room) error { return nil }

func (*Coordinating) proceed(r *Room) error {
	r.choose(true, trust.Found)
	return nil
}

func (*Coordinating) joined(r *Room, player people.ID)       { r.measureLate(player) }
func (*Coordinating) lookedAround(r *Room, player people.ID) { r.catchUpIfHere(player) }
func (c *Coordinating) reported(r *Room)                     { c.advance(r) }

func (*Coordinating) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	if search := r.probing.Search(r.facts); search != nil {
		s.Room.Search = search.View(r.parts.Settings.By)
		s.Room.Forecast = s.Room.Search.Sentence(r.parts.Settings.By)
	}
}

// without leaves a player out. The player's later reports change nothing.
func (*Coordinating) without(r *Room, player people.ID, w Without) error {
	g := &r.parts
	switch {
	case player == "" || g.Attendance.Of(player).Out != "":
		return wire.Refuse(wire.ReasonAction, "refused.not-counted", "name", nickname.Clean(w.Name))
	case len(g.Attendance.Active()) < 2:
		return wire.Refuse(wire.ReasonAction, "refused.nobody-left")
	}
	g.Attendance.LeaveOut(attendance.Benched, player)
	r.out.say(sentence.Of("room.goes-without", "player", player))
	return nil
}

// tick leaves out players who are gone, and chooses when the time is up.
func (c *Coordinating) tick(r *Room) {
	g := &r.parts
	g.Attendance.Excuse(r.now, r.probing.Idle(g.Attendance.Players())...)
	if r.leaveOutOverdue(); r.phase != c {
		return
	}
	asks, notes := r.probing.JudgePace(r.facts, r.now)
	r.out.ask(g.Number, asks)
	r.out.say(notes...)
	if r.probing.IsTimeUp(r.passed(), r.now) {
		r.out.say(sentence.Of("room.time-is-up", "time", search.Longest))
		r.choose(false, trust.Found)
		return
	}
	c.advance(r)
}

// advance asks for processor time when the search can begin its next round.
func (*Coordinating) advance(r *Room) {
	if r.probing.IsSearchDue(r.facts, r.now) {
		r.out.plan(&r.parts, &r.probing, false)
	}
}

// turn asks for the next servers, or chooses if the search is over.
func (c *Coordinating) turn(r *Room) {
	if !r.probing.IsSearchDue(r.facts, r.now) {
		return
	}
	odd, notes := r.decision.Review(r.facts, r.now)
	r.parts.Attendance.Apply([]attendance.Change{odd}, r.now)
	r.out.say(notes...)
	asks, outcome, isOver := r.probing.Turn(r.facts, c.More, r.moment())
	if r.out.ask(r.parts.Number, asks); isOver {
		r.out.say(r.probing.SlowNotes(r.facts)...)
		r.out.say(outcome)
		r.choose(false, trust.Found)
	}
}
