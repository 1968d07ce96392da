package room

import (
	"net/netip"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/calendar"
	"muster/host/room/decision"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/homes"
	"muster/host/room/listing"
	"muster/host/room/origin"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/roster"
	"muster/host/room/sides"
	"muster/host/wire"
)

// KeepEmpty is [calendar.KeepEmpty].
const KeepEmpty = calendar.KeepEmpty

// Room is one group's gathering. It can be saved and restored.
type Room struct {
	opened time.Time
	phase  phase
	// since is the beginning of the stage that pages show, and begun that of the phase.
	since, begun roomtime.Time
	// parts hold the people, the settings, and the state of the round. facts let other packages
	// read the parts.
	parts facts.Parts
	facts facts.Facts
	// probing does the measuring of the round, and decision the choosing.
	probing  probing.Probing
	decision decision.Decision
	// closed says that the room is over for good.
	closed   bool
	calendar *calendar.Calendar
	// people is the slice in the calendar's newest facts. The room reuses its memory, because it
	// makes such facts many times a second.
	people []people.Person
	// outage decides which time does not count against the players.
	outage outage.Watch

	// source provides the rounds' lists.
	source listing.Source
	// homes has the computers of players who have agreed to host.
	homes homes.Homes
	// failures counts the rounds that failed, one after the other.
	failures attendance.Retries

	// now is the room time of the present Step, and wall the machine's time. out collects the
	// Step's outputs.
	now  roomtime.Time
	wall time.Time
	out  outbox
	// due is when the room needs the next tick, by the driver's clock.
	due time.Duration
}

// Moment is a moment by the driver's clocks.
type Moment struct {
	// Run is the driver's monotonic clock.
	Run time.Duration
	// Wall is the machine's clock, for dates and texts alone.
	Wall time.Time
}

// clocks returns the clocks of the present Step.
func (r *Room) clocks() roomtime.Clocks { return roomtime.Clocks{Room: r.now, Wall: r.wall} }

// Origin is [origin.Origin].
type Origin = origin.Origin

// OriginOf judges the address of a player's connection; see [origin.Of].
func OriginOf(from netip.Addr, probes wire.Probes, isHome bool) Origin {
	return origin.Of(from, probes, isHome)
}

// Keys are [roster.Keys].
type Keys = roster.Keys

// New opens a room.
func New(keys Keys, settings wire.Settings, now time.Time) *Room {
	return Tuning{}.New(keys, settings, now)
}

// Tuning changes how a room decides, for experiments; see [facts.Tuning]. All other rooms have the
// zero value. It is not saved.
type Tuning facts.Tuning

// New opens a room that is tuned.
func (t Tuning) New(keys Keys, settings wire.Settings, now time.Time) *Room {
	r := &Room{
		opened: now, phase: &Gathering{}, since: roomtime.Opening, begun: roomtime.Opening, now: roomtime.Opening, wall: now, out: outbox{now: roomtime.Clocks{Room: roomtime.Opening, Wall: now}},
		calendar: calendar.New(now),
		parts:    facts.Parts{Roster: roster.New(keys), Settings: settings, Tuning: facts.Tuning(t), Round: facts.NewRound(1)},
	}
	r.assemble()
	if opened := sentence.Of("room.opened", "code", keys.Code, "game", settings.Game); settings.Game != "" {
		r.out.say(opened)
	} else {
		r.out.say(sentence.Of("room.opened-place", "code", keys.Code))
	}
	return r
}

// assemble connects probing and decision with the parts that they write, and facts with all parts.
func (r *Room) assemble() {
	p := &r.parts
	r.facts, r.probing = p.Facts(), probing.New(&p.Evidence, &p.Heard)
	r.decision = decision.New(&p.Choice, &p.Trust, &p.Ballot, &p.Bans)
}

// Keys returns the keys that let people in.
func (r *Room) Keys() Keys { return r.parts.Roster.Keys() }

// Settings returns the organiser's settings.
func (r *Room) Settings() wire.Settings { return r.parts.Settings }

// Stage returns the room's stage.
func (r *Room) Stage() wire.Stage { return r.phase.traits().stage() }

// Revision changes whenever [Room.Snapshot] or [Room.Save] may have changed.
func (r *Room) Revision() int { return r.out.revision }

// Join is a hello: a player comes in, or back in with an earlier token. The error of its Step is a
// [*wire.Refusal].
type Join struct {
	Hello wire.Hello
	From  Origin
	// Token is the token for a new player whose program has made none.
	Token string
}

func (in Join) step(r *Room) error {
	comer := r.parts.Roster.Recognise(in.Hello)
	g, player := &r.parts, comer.Player
	missedEnd := r.calendar.MissedEnd(comer.Mark, r.wall)
	switch {
	case r.closed:
		return Closed(r.parts.Roster.Keys().Code)
	case missedEnd != nil && in.Hello.Line > 1 && in.Hello.Token != "": // not the first connection of a new program
		return missedEnd
	}
	if refusal := r.parts.Roster.Refusal(comer, r.facts.MaxPlayers(), player != "" && g.Attendance.Of(player).Here); refusal != nil {
		return refusal
	}
	seat, events := r.parts.Roster.Admit(comer, in.Token, r.now)
	r.follow(r.calendar.Open(seat.ID, r.dates(r.wall))...)
	r.apply(events)
	if player == "" {
		player = seat.ID
		late := attendance.Why("")
		if is := r.phase.traits(); is.isChosen() || is.stage() == wire.Waiting || is.asksMore {
			late = attendance.TooLate
			r.out.say(sentence.Of("room.here-late", "player", player))
		} else {
			r.out.say(sentence.Of("room.here", "player", player))
		}
		g.Attendance.Come(player, late, r.now)
		g.Evidence[player] = &evidence.PlayerResults{}
	} else {
		r.out.say(g.Attendance.Return(player, r.phase.traits().duty, !r.phase.traits().asksMore, r.now))
	}
	if when := r.phase.traits().sides; when == sides.Free || when == sides.Joining {
		tellSides(r, g.Sides.Join(player, in.Hello.Side))
	}
	// The same program's next hello changes nothing, because the player may have said something
	// else since.
	if said := in.Hello.Editions; len(said) > 0 && !seat.IsSameProgram {
		r.out.say(g.Editions.Greet(player, g.Settings.Game, said))
	}
	r.homes.Come(player, in.Hello.Program, in.Hello.Beacon)
	if most := in.Hello.Discreet; g.Evidence[player].LimitProbes(most) && most > 0 {
		r.out.say(sentence.Of("room.asks-at-most", "player", player, "n", most))
	}
	r.probing.Release(player)
	g.Locate(player, in.From, r.phase.traits().measuresAlone)
	r.out.emit(Admit{player})
	r.out.send(player, wire.Welcome{Version: wire.Version, Name: seat.Name, Token: seat.Token, Page: seat.Page})
	if comer.Player != "" && r.phase.traits().isVoting && r.readmit(player) { // only now can it ask the player, too
		r.chooseAgain(sentence.Of("room.player-back", "player", player))
	}
	r.catchUp(player)
	return nil
}

// TakesCode reports whether somebody with only the code may come in. A locked or full room takes
// nobody. Nor does a group that has chosen or plays, or a room that sleeps until its next session.
func (r *Room) TakesCode() bool {
	if r.calendar.IsAsleep() {
		return false
	}
	switch r.phase.traits().stage() {
	case wire.Gathering, wire.Listing, wire.Measuring, wire.Refining, wire.Waiting, wire.Failed:
		return !r.closed && r.parts.Roster.HasRoom(r.facts.MaxPlayers())
	}
	return false
}

// catchUp brings a player up to date, and starts the round if the group is complete.
func (r *Room) catchUp(player people.ID) {
	r.phase.joined(r, player)
}

// CellBytes bounds a room's memory for each player and each server of its list. In the worst case
// all players measure the whole list, and each reports different facts about every server.
// [TestMemoryOfARoom] measures that.
const CellBytes = 512
