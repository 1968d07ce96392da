package room

import (
	"cmp"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/brought"
	"muster/host/room/calendar"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/finals"
	"muster/host/room/journal"
	"muster/host/room/listing"
	"muster/host/room/outage"
	"muster/host/room/places"
	"muster/host/room/roster"
	"muster/host/wire"
)

const (
	// KeepEmpty is that of [calendar.KeepEmpty].
	KeepEmpty = calendar.KeepEmpty
	// maxPlayers is how many players a room without a number of its own takes.
	maxPlayers = wire.MaxPlayers
)

// Room is one group's gathering, whole: it can be saved and restored.
type Room struct {
	opened   time.Time
	settings wire.Settings
	phase    phase
	// since is when the phase began.
	since  time.Time
	roster *roster.Roster
	// closed: the room is over for good.
	closed   bool
	calendar *calendar.Calendar
	journal  journal.Journal
	tuning   Tuning
	lists    brought.Lists
	// editions are what players have of games.
	editions editions.Book
	// estimates are by what guests are counted in.
	estimates estimates.Guests
	// round is what a new round forgets.
	round round
	// outage is which time does not count against the players.
	outage outage.Watch

	// source is where the rounds' lists come from.
	source listing.Source
	survey places.Survey
	// failures are the rounds that failed, one after the other.
	failures attendance.Retries

	// now, out and binds are of the Step under way: its time, what it leads to,
	// and whether that has to be saved first although the phase stays. due is what
	// [Room.Next] said when the newest Step was over.
	now   time.Time
	due   time.Time
	out   []Output
	binds bool
	// revision counts what may have changed what the room shows or saves.
	revision int
}

// Keys are those of [roster.Keys].
type Keys = roster.Keys

// New opens a room.
func New(keys Keys, settings wire.Settings, now time.Time) *Room {
	return Tuning{}.New(keys, settings, now)
}

// Tuning has a room do otherwise than rooms do, for experiments. Its zero value is
// what all other rooms have; it is not saved with the room.
type Tuning struct {
	// Seed is added to the seeds of the search and of the players' plans.
	Seed uint64
	// Budget and Enough are those of [coordinate.Options].
	Budget int
	Enough time.Duration
	// Spare is that of [selection.Criteria]; negative is none.
	Spare time.Duration
	// Weights are those of [selection.Criteria], for players of whom no two share an
	// address.
	Weights map[string]float64
}

// New opens a room that is tuned.
func (t Tuning) New(keys Keys, settings wire.Settings, now time.Time) *Room {
	r := &Room{roster: roster.New(keys), opened: now, settings: settings, phase: &Gathering{}, since: now, now: now, tuning: t, calendar: calendar.New(now), round: newRound(1)}
	r.note("room %s opened for %s", keys.Code, settings.Game)
	r.due = r.Next()
	return r
}

// Keys are what people get into the room with.
func (r *Room) Keys() Keys { return r.roster.Keys() }

// Settings are what the organiser wants.
func (r *Room) Settings() wire.Settings { return r.settings }

// Stage is where the room stands.
func (r *Room) Stage() wire.Stage { return r.phase.stage() }

// Revision changes with whatever may have changed [Room.Snapshot] or [Room.Save].
func (r *Room) Revision() int { return r.revision }

// member is who a player is, round after round.
type member struct {
	name string
	// discreet is how many servers the player may be asked for in a round, 0 for no bound.
	discreet int
	// briefed is the round whose list the connection was given, and told to measure; 0 is
	// none. It ends with the connection, and is not saved.
	briefed int
}

// Join is a hello: a player comes in, or back in with the token of before. The
// error of its Step is a [*wire.Refusal].
type Join struct {
	Hello wire.Hello
	From  Origin
	// Token is for a new player whose program has made none.
	Token string
}

func (in Join) step(r *Room) error {
	comer := r.roster.Recognise(in.Hello)
	p := r.round.player(comer.Player)
	missedEnd := r.calendar.MissedEnd(comer.Mark, r.now)
	switch {
	case r.closed:
		return Closed(r.roster.Keys().Code)
	case missedEnd != nil && in.Hello.Line > 1 && in.Hello.Token != "": // and no new start of the program
		return missedEnd
	}
	if refusal := r.roster.Refusal(comer, r.places(), p != nil && r.round.mark(p).Here); refusal != nil {
		return refusal
	}
	r.follow(r.calendar.Open(comer.Name, r.facts(r.now))...)
	seat, events := r.roster.Admit(comer, in.Token, r.now)
	r.apply(events)
	if p == nil {
		p = &player{member: &member{name: seat.Name}}
		r.round.players = append(r.round.players, p)
		late := attendance.Why("")
		if r.phase.stage() == wire.Chosen || r.phase.stage() == wire.Waiting || r.asksMore() {
			late = attendance.TooLate
			r.note("%s is here, too late for a say in this round", p.name)
		} else {
			r.note("%s is here", p.name)
		}
		r.round.attendance.Come(p.name, late, r.now)
	} else {
		if note := r.round.attendance.Return(p.name, r.duty(), !r.asksMore(), r.now); note != "" {
			r.note("%s", note)
		}
		r.comesBack(p)
	}
	// What the same program said before stays: the player may have said something else since.
	if said := in.Hello.Editions; len(said) > 0 && !seat.IsSameProgram {
		if note := r.editions.Greet(p.name, r.settings.Game, said); note != "" {
			r.note("%s", note)
		}
	}
	p.briefed = 0
	r.survey.Come(p.name, in.Hello.Program, in.Hello.Beacon)
	if most := in.Hello.Discreet; most != p.discreet {
		if p.discreet = most; most > 0 {
			r.note("%s asks at most %d servers a round: the search works round that", p.name, most)
		}
	}
	in.locate(r, p)
	r.do(Admit{p.name})
	r.send(p, wire.Welcome{Version: wire.Version, Name: p.name, Token: seat.Token, Page: seat.Page})
	r.catchUp(p)
	return nil
}

// places is how many players the room takes.
func (r *Room) places() int { return cmp.Or(r.settings.Players, r.settings.Most, maxPlayers) }

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
		return !r.closed && r.roster.HasRoom(r.places())
	}
	return false
}

// catchUp tells a player what the others know, and starts the round if the group
// is complete.
func (r *Room) catchUp(p *player) {
	r.surveys(r.survey.Ask(p.name, r.placesScene(), r.now))
	switch phase := r.phase.(type) {
	case *Listing:
		r.lookAround(p)
	case *Gathering:
		r.lookAround(p)
		if here := r.round.attendance.Present(); len(here) == len(r.round.players) && len(here) == r.settings.Players {
			r.list()
		}
	case *Measuring, *Coordinating:
		if r.round.nearby.IsLate(p.name, r.settings.Game) {
			r.lookAround(p)
		}
		if r.round.nearby.IsLooking(p.name) {
			return // until it has looked
		}
		r.send(p, r.round.listFor(p))
		r.measure(p)
	case *Verifying, *Voting, *Countdown:
		if r.round.mark(p).Out == "" {
			r.send(p, r.round.listFor(p))
			if ask, isAsked := r.round.looks.Ask(p.name, r.lookFacts()); isAsked {
				r.sendLooks([]finals.Ask{ask})
			}
		}
	case *Waiting:
		phase.catchUp(r, p)
	case *Failed:
		phase.changed(r)
	case *Launching:
		if r.round.launches.Awaits(p.name) {
			r.send(p, r.round.listFor(p)) // a peer believes us only where it can ask the server itself
			r.send(p, phase.launchFor(r, p))
		}
	}
}

// CellBytes is at least what a room takes in memory for each player and each server of
// its list, at the very most: if all measure the whole list, and tell what every server
// says, each something else. [TestMemoryOfARoom] measures it.
const CellBytes = 512
