package room

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/facts"
	"muster/host/room/lines"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/seats"
	"muster/host/wire"
)

// Input is something that happened to a room.
type Input interface{ step(r *Room) error }

// These are the inputs beside [Join], [Listed] and [Order].
type (
	// Tick lets time pass. Demand counts, for each server of [Room.Watches], the host's rooms that
	// wait for seats there, including this one. Mute are the players whose programs are connected,
	// but have not even answered a ping for [QuietAfter]. Lines is what the host sees of connections.
	Tick struct {
		Demand map[netip.AddrPort]Demand
		Mute   []people.ID
		Lines  Lines
	}
	// Leave says that a player's connection has ended. The place is kept.
	Leave struct{ Player people.ID }
	// Hear is a message of a player's program. The error of its Step means that the message makes
	// no sense. Then the room has taken nothing of it.
	Hear struct {
		Player  people.ID
		Message wire.Message
	}
	// Proceed is the organiser's go: start with the players who are here, choose from the results
	// so far, or begin the next round. It changes nothing while the list or a look is under way,
	// because both are short.
	Proceed struct{}
	// Resume says that the host was away and has the room again. All waits start over, and the time
	// between counts against nobody.
	Resume struct{}
	// PartialMessage says that a part of a player's message has come: the line is slow, but not
	// silent.
	PartialMessage struct{ Player people.ID }
	// Stored says that the host can save the room again or, with Trouble, why it cannot, in
	// people's words.
	Stored struct{ Trouble string }
	// Waited says that the host could save nothing for a time, until now. The room stood still.
	Waited struct{ For time.Duration }
	// Turn is the processor time that a [Plan] asked for.
	Turn struct{}
	// Close ends the room for good, and sends everybody away. Why is the message for them, nil for
	// that of [Closed].
	Close struct{ Why *wire.Refusal }
)

// QuietAfter is [attendance.QuietAfter].
const QuietAfter = attendance.QuietAfter

// Demand is [seats.Demand], and Lines is [lines.Seen].
type (
	Demand = seats.Demand
	Lines  = lines.Seen
)

// Step takes an input at a moment and returns the outputs, in order. An error means that the room
// refuses the input, with a [*wire.Refusal], or because it makes no sense. Carry out the outputs
// even if there is an error.
func (r *Room) Step(in Input, at Moment) ([]Output, error) {
	idle, _ := in.(Waited)
	r.now = r.outage.Step(at.Run, r.due, idle.For, r.isDeserted())
	r.wall = at.Wall
	r.out.begin(r.clocks())
	g := &r.parts
	phase, round := r.phase, g.Number
	err := in.step(r)
	r.out.say(g.SettleSides()...)
	r.follow(r.calendar.Advance(r.dates(r.wall))...)
	g.RefreshFacts()
	if _, tick := in.(Tick); !tick || len(r.out.outputs) > 0 {
		r.out.revision++
	}
	if r.out.mustSave || phase != r.phase || round != g.Number {
		r.out.outputs = slices.Insert(r.out.outputs, 0, Output(Save{}))
	}
	r.due = at.Run + r.rest()
	names := g.Roster.Names()
	for i, o := range r.out.outputs {
		if o, is := o.(Dismiss); is {
			r.out.outputs[i] = Dismiss{o.Player, worded(o.Why, names)}
		}
	}
	if refusal := (*wire.Refusal)(nil); errors.As(err, &refusal) {
		named := worded(*refusal, names)
		err = &named
	}
	return r.out.outputs, err
}

// worded returns a refusal with names in place of IDs.
func worded(r wire.Refusal, names *people.Names) wire.Refusal {
	r.Says, r.Advises = names.Word(r.Says), names.Word(r.Advises)
	return r
}

// Next returns when the room needs the next [Tick], by the machine's clock. An earlier one would
// change nothing, except the length of a pause. During a round Next returns the present: then give
// a few ticks a second.
func (r *Room) Next() time.Time { return r.wall.Add(r.rest()) }

// rest returns how long after the newest step the room needs no [Tick].
func (r *Room) rest() time.Duration {
	g := &r.parts
	on, ends, isQuiet := r.outage.Next(r.scene())
	next, isPhaseQuiet := r.phase.next(r)
	if !isQuiet || !isPhaseQuiet && !on || g.Nearby.IsLooking("") {
		return 0
	}
	rest := r.calendar.Next(r.dates(r.wall)).Sub(r.wall)
	if on { // room time stands still
		return max(0, min(rest, ends))
	}
	if gone := g.Roster.Next(r.facts.Answerers(r.calendar)); !gone.IsZero() {
		next = min(next, gone)
	}
	return max(0, min(rest, next.Sub(r.now)))
}

func (r *Room) passed() time.Duration { return r.now.Sub(r.since) }

func (in Tick) step(r *Room) error {
	g := &r.parts
	r.apply(g.Roster.Expire(r.facts.Answerers(r.calendar), r.now))
	if r.outage.HasStopped() {
		in.Mute = nil // a host that was stopped has heard nobody, and knows nothing of silence
	}
	g.Attendance.Mute(in.Mute)
	g.Lines.Note(in.Lines)
	for _, player := range g.Attendance.Players() {
		if g.Nearby.Expire(player, r.now) {
			r.phase.lookedAround(r, player)
		}
	}
	r.follow(r.calendar.Tick(r.dates(r.wall))...)
	r.phase.shareDemand(r, in.Demand)
	if in.pause(r); !r.outage.IsPaused() {
		r.phase.tick(r)
		in.showLeaders(r) // a paused room learns nothing new of the leaders
	}
	return nil
}

// pause begins or ends a pause of the room.
func (in Tick) pause(r *Room) {
	passed, isLost := r.outage.Tick(r.isDeserted())
	attendance := &r.parts.Attendance
	quiet := attendance.Quiet(r.phase.traits().duty, r.now)
	if !isLost && r.phase.traits().isMeasuring() {
		attendance.Miss(passed, quiet...)
	}
	note, isOver := r.outage.UpdatePause(r.scene())
	if r.out.say(note); isOver {
		attendance.Await(r.now, quiet...)
	}
}

// scene counts the players that the room should hear now, and the silent ones among them.
func (r *Room) scene() outage.Scene {
	c := r.parts.Attendance.Count(r.phase.traits().duty, r.now)
	return outage.Scene{
		Players: c.Active, Silent: c.Quiet, IsGathering: r.phase.traits().isGathering, IsDeserted: !r.phase.traits().isGathering && c.Present == 0,
	}
}

// isDeserted reports whether no active player is connected. A group that still gathers is never
// deserted.
func (r *Room) isDeserted() bool {
	return !r.phase.traits().isGathering && r.parts.Attendance.Count(attendance.Nothing, r.now).Present == 0
}

func (Proceed) step(r *Room) error {
	return r.phase.proceed(r)
}

func (in Leave) step(r *Room) error {
	g := &r.parts
	if !g.Attendance.Leave(in.Player, r.now) {
		return nil
	}
	g.IsBroken = true
	g.Nearby.Leave(in.Player)
	r.probing.Release(in.Player)
	if r.phase.launch() == nil {
		r.out.say(sentence.Of("room.lost", "player", in.Player))
	}
	return nil
}

func (in Hear) step(r *Room) error {
	if r.parts.Evidence[in.Player] == nil {
		return nonsensef("a message of somebody who is no member")
	}
	err := in.hear(r)
	if err != nil && r.parts.Attendance.Nonsense(in.Player) {
		r.withoutLook(in.Player)
	}
	return err
}

func (in Hear) hear(r *Room) error {
	g := &r.parts
	switch m := in.Message.(type) {
	case wire.Report:
		return in.report(r, m)
	case wire.Infos:
		return in.infos(r, m)
	case wire.Done:
		if m.Round == g.Number {
			r.phase.finished(r, in.Player)
		}
		return nil
	case wire.Rests:
		if m.Round == g.Number && r.phase.traits().isMeasuring() {
			r.out.say(g.Attendance.Rest(in.Player, time.Duration(m.For), r.now))
		}
		return nil
	case wire.Late:
		g.Evidence[in.Player].NoteLate(time.Duration(m.By))
		return nil
	case wire.Verified:
		return in.verified(r, m)
	case wire.Near:
		if g.Nearby.Hear(in.Player, m, r.now) {
			r.phase.lookedAround(r, in.Player)
		}
		return nil
	case wire.Bring:
		in.bring(r, m)
		return nil
	case wire.Surveyed:
		return r.phase.surveyed(r, in.Player, m)
	case wire.Able:
		if note := g.Launches.Able(in.Player, m, g.Settings); g.Attendance.Of(in.Player).Here {
			r.out.say(note)
		}
		return nil
	case wire.Outside:
		r.homes.Outside(in.Player, m.Port)
		r.phase.homesMoved(r)
		return nil
	case wire.Say:
		in.say(r, m)
		return nil
	case wire.Memory:
		g.Memories.Bring(in.Player, m.Cells)
		return nil
	case wire.Pings:
		in.pings(r, m)
		return nil
	case wire.Launched:
		if m.Round == g.Number && r.phase.traits().isSent {
			r.out.say(g.Launches.Heard(in.Player, m, g.Settings.GameName()))
		}
		return nil
	}
	return nonsensef("a %T from a peer", in.Message)
}

// Nonsense is an error in a message of a player's program. The host logs it, so its text has
// numbers and kinds, but no player's words.
type Nonsense string

func (n Nonsense) Error() string { return "room: " + string(n) }

func nonsensef(format string, numbers ...any) error { return Nonsense(fmt.Sprintf(format, numbers...)) }

func (Resume) step(r *Room) error {
	if !r.calendar.IsAsleep() { // else nobody notices
		r.out.say(sentence.Of("room.restarted"))
	}
	r.out.say(r.source.Resume()...)
	r.outage.Resume()
	r.since = r.now
	r.parts.Attendance.Resume(r.now)
	r.phase.resume(r)
	return nil
}

func (in PartialMessage) step(r *Room) error {
	r.parts.Attendance.Excuse(r.now, in.Player)
	return nil
}

func (in Stored) step(r *Room) error {
	if in.Trouble == "" {
		r.out.say(sentence.Of("room.saved-again"))
	} else {
		r.out.say(sentence.Of("room.unsaved", "why", in.Trouble))
	}
	return nil
}

func (in Waited) step(r *Room) error {
	r.out.say(sentence.Of("room.waited", "time", max(time.Second, in.For.Round(time.Second))))
	return nil
}

func (Turn) step(r *Room) error {
	r.probing.TakeTurn(r.now)
	r.phase.turn(r)
	return nil
}

func (in Close) step(r *Room) error {
	r.closed = true
	why := cmp.Or(in.Why, Closed(r.parts.Roster.Keys().Code))
	for _, player := range r.parts.Attendance.Players() {
		r.out.emit(Dismiss{player, *why})
	}
	return nil
}

// Closed returns the refusal for people who look for a room that is over.
func Closed(code string) *wire.Refusal {
	return wire.Refuse(wire.ReasonClosed, "refused.over", "code", code).Advising("refused.over-hint")
}

// nextRound begins another round with the same players.
func (r *Room) nextRound() {
	before := r.parts.Round
	r.parts.NotePlaces()
	r.calendar.Leave(r.wall)
	r.parts.Round, r.probing, r.decision = r.parts.Next(r.now), r.probing.Next(), r.decision.Next()
	r.parts.Sides.Rematch()
	r.out.say(sentence.Of("room.next-round"))
	r.beginRound(&before)
}

// beginRound begins a round of servers, or one of places. Before is the round before, nil for none.
func (r *Room) beginRound(before *facts.Round) {
	if r.seeksPlace() && !r.goesBack() {
		(&Surveying{}).begin(r, before)
		return
	}
	(&Listing{}).begin(r)
}
