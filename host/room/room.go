package room

import (
	"net/netip"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/calendar"
	"muster/host/room/decision"
	"muster/host/room/evidence"
	"muster/host/room/group"
	"muster/host/room/listing"
	"muster/host/room/origin"
	"muster/host/room/outage"
	"muster/host/room/places"
	"muster/host/room/probing"
	"muster/host/room/roster"
	"muster/host/wire"
)

// KeepEmpty is that of [calendar.KeepEmpty].
const KeepEmpty = calendar.KeepEmpty

// Room is one group's gathering, whole: it can be saved and restored.
type Room struct {
	opened time.Time
	phase  phase
	// since is when the phase began.
	since time.Time
	// group is who is here, what they want, and what is known in their round.
	group group.Group
	// probing is the measuring of their round, and decision what comes of it.
	probing  probing.Probing
	decision decision.Decision
	// closed: the room is over for good.
	closed   bool
	calendar *calendar.Calendar
	// people are those whom the calendar was told of last. Their memory is used again, as it is told
	// many times a second.
	people []calendar.Person
	// outage is which time does not count against the players.
	outage outage.Watch

	// source is where the rounds' lists come from.
	source listing.Source
	survey places.Survey
	// failures are the rounds that failed, one after the other.
	failures attendance.Retries

	// now is the time of the Step under way, and out what it leads to. due is what [Room.Next]
	// said when the newest Step was over.
	now time.Time
	out outbox
	due time.Time
}

// Origin is that of [origin.Origin].
type Origin = origin.Origin

// OriginOf judges an address that a player comes from; see [origin.Of].
func OriginOf(from netip.Addr, probes wire.Probes, isHome bool) Origin {
	return origin.Of(from, probes, isHome)
}

// Keys are those of [roster.Keys].
type Keys = roster.Keys

// New opens a room.
func New(keys Keys, settings wire.Settings, now time.Time) *Room {
	return Tuning{}.New(keys, settings, now)
}

// Tuning makes a room decide otherwise than others do, for experiments; see [group.Tuning]. Its
// zero value is what all other rooms have. It is not saved with the room.
type Tuning group.Tuning

// New opens a room that is tuned.
func (t Tuning) New(keys Keys, settings wire.Settings, now time.Time) *Room {
	r := &Room{
		opened: now, phase: &Gathering{}, since: now, now: now, out: outbox{now: now}, calendar: calendar.New(now),
		group: group.Group{Roster: roster.New(keys), Settings: settings, Tuning: group.Tuning(t), Round: group.NewRound(1)},
	}
	r.out.note("room %s opened for %s", keys.Code, settings.Game)
	r.due = r.Next()
	return r
}

// Keys are what people get into the room with.
func (r *Room) Keys() Keys { return r.group.Roster.Keys() }

// Settings are what the organiser wants.
func (r *Room) Settings() wire.Settings { return r.group.Settings }

// Stage is where the room stands.
func (r *Room) Stage() wire.Stage { return r.phase.stage() }

// Revision changes with whatever may have changed [Room.Snapshot] or [Room.Save].
func (r *Room) Revision() int { return r.out.revision }

// Join is a hello: a player comes in, or back in with the token of before. The
// error of its Step is a [*wire.Refusal].
type Join struct {
	Hello wire.Hello
	From  Origin
	// Token is for a new player whose program has made none.
	Token string
}

func (in Join) step(r *Room) error {
	comer := r.group.Roster.Recognise(in.Hello)
	g, player := &r.group, r.group.Attendance.Find(comer.Player)
	missedEnd := r.calendar.MissedEnd(comer.Mark, r.now)
	switch {
	case r.closed:
		return Closed(r.group.Roster.Keys().Code)
	case missedEnd != nil && in.Hello.Line > 1 && in.Hello.Token != "": // and no new start of the program
		return missedEnd
	}
	if refusal := r.group.Roster.Refusal(comer, g.Places(), player != "" && g.Attendance.Of(player).Here); refusal != nil {
		return refusal
	}
	r.follow(r.calendar.Open(comer.Name, r.facts(r.now))...)
	seat, events := r.group.Roster.Admit(comer, in.Token, r.now)
	r.apply(events)
	if player == "" {
		player = seat.Name
		late := attendance.Why("")
		if r.phase.stage() == wire.Chosen || r.phase.stage() == wire.Waiting || asksMore(r.phase) {
			late = attendance.TooLate
			r.out.note("%s is here, too late for a say in this round", player)
		} else {
			r.out.note("%s is here", player)
		}
		g.Attendance.Come(player, late, r.now)
		g.Evidence[player] = &evidence.Witness{}
	} else {
		r.out.tell(g.Attendance.Return(player, duty(r.phase), !asksMore(r.phase), r.now))
		if isVoting(r.phase) && decision.Readmit(g, player, r.now) {
			r.chooseAgain(attendance.Sentence([]string{player}, "is back"))
		}
	}
	// A program that comes again changes nothing: the player may have said something else since.
	if said := in.Hello.Editions; len(said) > 0 && !seat.IsSameProgram {
		r.out.tell(g.Editions.Greet(player, g.Settings.Game, said))
	}
	r.survey.Come(player, in.Hello.Program, in.Hello.Beacon)
	if most := in.Hello.Discreet; g.Evidence[player].BeDiscreet(most) && most > 0 {
		r.out.note("%s asks at most %d servers a round: the search works round that", player, most)
	}
	_, measuring := r.phase.(*Measuring)
	r.probing.Release(player)
	g.Locate(player, in.From, measuring)
	r.out.do(Admit{player})
	r.out.send(player, wire.Welcome{Version: wire.Version, Name: player, Token: seat.Token, Page: seat.Page})
	r.catchUp(player)
	return nil
}

// TakesCode reports whether somebody who has heard the code, and nothing else, has any
// business here: not in a room that is locked or complete, nor where the group is on its
// server, or about to be, or sleeps until its next evening. There the codes of public hosts
// are asleep.
func (r *Room) TakesCode() bool {
	if r.calendar.IsAsleep() {
		return false
	}
	switch r.phase.stage() {
	case wire.Gathering, wire.Listing, wire.Measuring, wire.Refining, wire.Waiting, wire.Failed:
		return !r.closed && r.group.Roster.HasRoom(r.group.Places())
	}
	return false
}

// catchUp tells a player what the others know, and starts the round if the group
// is complete.
func (r *Room) catchUp(player string) {
	g := &r.group
	r.out.surveys(r.survey.Ask(player, g.SurveyScene(), r.now))
	switch phase := r.phase.(type) {
	case *Listing:
		r.out.lookAround(&r.group, player)
	case *Gathering:
		r.out.lookAround(&r.group, player)
		if here := g.Attendance.Present(); len(here) == len(g.Attendance.Players()) && len(here) == g.Settings.Players {
			(&Listing{}).begin(r)
		}
	case *Measuring, *Coordinating:
		if g.Nearby.IsLate(player, g.Settings.Game) {
			r.out.lookAround(&r.group, player)
		}
		if g.Nearby.IsLooking(player) {
			return // until it has looked
		}
		r.out.brief(&r.group, player)
		r.measure(player)
	case *Verifying, *Voting, *Countdown:
		if g.Attendance.Of(player).Out == "" {
			r.out.brief(&r.group, player)
			r.sendLooks(r.decision.LookOf(g, player, r.passed(), r.now))
		}
	case *Waiting:
		phase.catchUp(r, player)
	case *Failed:
		phase.changed(r)
	case *Launching:
		if g.Launches.Awaits(player) {
			phase.take(r, player)
		}
	}
}

// CellBytes is at least what a room takes in memory for each player and each server of
// its list, at the very most: if all measure the whole list, and tell what every server
// says, each something else. [TestMemoryOfARoom] measures it.
const CellBytes = 512

// aheadMost is how far ahead of the time something may have been noted.
const aheadMost = 5 * time.Minute

// rightTimes puts right what was noted by a clock that was ahead, or has been set back since,
// over a restart of the host too. Else the room would be used, keep nicknames, take what is
// old for new and wait, until that clock's time has come. Nobody knows when such things were: they count as
// just now where something waits for them to pass, and as long ago where they would be taken for
// new. Dates, history and log are what people read, and stay.
func (r *Room) rightTimes() {
	moments := []*time.Time{&r.opened, &r.since, &r.group.Measuring}
	var stale []*time.Time
	r.survey.SetRight(r.now)
	r.group.Attendance.SetRight(r.now)
	r.group.Roster.SetRight(r.now)
	for _, at := range moments {
		if at.Sub(r.now) > aheadMost {
			*at = r.now
		}
	}
	r.group.Nearby.SetRight(r.now)
	r.decision.SetRight(r.now)
	switch phase := r.phase.(type) {
	case *Voting:
		stale = append(stale, &phase.Looked)
	case *Countdown: // which ends by itself
		stale = append(stale, &phase.Looked)
	case *Waiting:
		phase.wait.SetRight(r.now)
	case *Failed:
		phase.Retry = r.failures.SetRight(phase.Retry, r.now)
	}
	for _, at := range stale {
		if at.After(r.now) {
			*at = time.Time{}
		}
	}
}
