package room

import (
	"math"
	"net/netip"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/seats"
	"muster/host/room/sides"
	"muster/host/wire"
)

// phase is a phase of a room's life, with the state that no other phase needs, and everything that
// the phase does. The package documentation has a drawing of them. A phase embeds [base], and
// overrides what it does.
type phase interface {
	traits() traits

	// entered follows when the room enters the phase. tick lets time pass: the phase gives up on
	// players who take too long. next is when it needs the time again, and whether it is quiet until
	// then; else it needs the time a few times a second. resume goes on after a restart.
	entered(r *Room)
	tick(r *Room)
	next(r *Room) (at roomtime.Time, isQuiet bool)
	resume(r *Room)

	// proceed is the organiser's go.
	proceed(r *Room) error

	// joined brings a player up to date who comes, or comes back. looked goes on after a player's
	// program has looked around its network.
	joined(r *Room, player people.ID)
	lookedAround(r *Room, player people.ID)

	// listed takes the list that was asked for, and supplied the organiser's own.
	listed(r *Room, list Listed)
	supplied(r *Room)
	// reported goes on after a report, finished when a player's plan has come to its end, and turn
	// when the room gets the processor for its search.
	reported(r *Room)
	finished(r *Room, player people.ID)
	turn(r *Room)
	// expectsLook reports whether a player's look counts. The phase goes on after it (lookCame), or
	// without it (lookMissing).
	expectsLook(player people.ID, look wire.Verified) bool
	lookCame(r *Room, player people.ID, look wire.Verified, heard finals.Heard)
	lookMissing(r *Room)

	// allReady begins the countdown, and mindChanged stops it.
	allReady(r *Room)
	mindChanged(r *Room)
	// move makes a captain's move. mayLookLong returns why no side may ask for a long look now, or
	// nil; then beginLongLook begins it, or notes the wish.
	move(r *Room, by caller, m Move) error
	refuseLongLook(r *Room) error
	beginLongLook(r *Room, why sentence.Sentence)
	// without goes on without a player, or counts the player again.
	without(r *Room, player people.ID, w Without) error
	// awaitSeats and unwait begin and end a wait for seats, share tells how many rooms wait for the
	// same, and watches returns the servers that are asked.
	awaitSeats(r *Room, a AwaitSeats) error
	unwait(r *Room, u Unwait) error
	shareDemand(r *Room, demand map[netip.AddrPort]Demand)
	watches(r *Room) []netip.AddrPort

	// view fills in what people see of the phase. launch is where everyone is sent, nil before that,
	// and take sends a player there.
	view(r *Room, s *wire.Snapshot, showing *decision.Showing)
	launch() *wire.Launch
	sendThere(r *Room, player people.ID)

	// isValid reports whether a restored phase has what it needs.
	isValid(g *facts.Parts) bool
}

// traits are what other code may know of a phase.
type traits struct {
	// name is that of the phase until its view says otherwise.
	name wire.PhaseName
	// duty is what players have to do, and sides who may change sides in a match.
	duty  attendance.Duty
	sides sides.When
	// isGathering says that the group is not complete. measuresAlone says that each player measures the
	// list for itself, and searches that the host asks; asksMore that it asks more, for the players
	// of the last choice.
	isGathering, measuresAlone, isCoordinated, asksMore bool
	// isVoting says that people may vote, and captains that captains decide.
	isVoting, isBanning bool
	// canReopen says that the organiser may decide again, from the measurements of this round.
	canReopen bool
	// isLooking says that everyone looks at the finalists.
	isLooking bool
	// isBetween says that the room does nothing of its own, so that a new server may take it.
	isBetween bool
	// isSent says that everyone was sent to a server, and waits there.
	isSent bool
}

// isMeasuring reports whether players measure, each on its own or as the host asks.
func (t traits) isMeasuring() bool { return t.duty == attendance.Measure }

// isChosen reports whether there is a choice, which is not carried out yet.
func (t traits) isChosen() bool { return t.stage() == wire.Chosen }

func (t traits) stage() wire.Stage { return t.name.Stage() }

// phases returns an empty value of each phase.
func phases() []phase {
	return []phase{
		&Gathering{}, &Listing{}, &Measuring{}, &Coordinating{}, &Verifying{}, &Voting{}, &Countdown{}, &Banning{},
		&Launching{}, &Waiting{}, &Failed{},
	}
}

// enter begins a phase.
func (r *Room) enter(p phase) {
	r.goTo(p)
	r.since = r.now
	r.probing.Disband() // only a list that players measure whole is shared
	p.entered(r)
}

// goTo goes on in a phase of the same stage.
func (r *Room) goTo(p phase) { r.phase, r.begun = p, r.now }

// moment returns the present facts for the measuring.
func (r *Room) moment() probing.Moment {
	return probing.Moment{Clocks: r.clocks(), IsVoting: r.phase.traits().isVoting}
}

// endSearch ends a search for something that the room no longer wants.
func (r *Room) endSearch() {
	if r.phase.traits().isCoordinated {
		r.probing.EndSearch()
	}
}

// canDecideAgain reports whether the room has chosen, or failed to, from the measurements of this
// round.
func (r *Room) canDecideAgain() bool {
	return r.phase.traits().canReopen && r.parts.Choice.Newest() != nil && len(r.facts.ChosenFor()) > 0
}

// noDeadline is later than any moment of a room.
const noDeadline = roomtime.Time(math.MaxInt64)

// base is a phase that does nothing.
type base struct{}

func (base) entered(*Room)                                          {}
func (base) tick(*Room)                                             {}
func (base) next(*Room) (roomtime.Time, bool)                       { return noDeadline, false }
func (base) resume(*Room)                                           {}
func (base) proceed(*Room) error                                    { return nil }
func (base) lookedAround(*Room, people.ID)                          {}
func (base) listed(*Room, Listed)                                   {}
func (base) supplied(*Room)                                         {}
func (base) reported(*Room)                                         {}
func (base) finished(*Room, people.ID)                              {}
func (base) turn(*Room)                                             {}
func (base) expectsLook(people.ID, wire.Verified) bool              { return false }
func (base) lookCame(*Room, people.ID, wire.Verified, finals.Heard) {}
func (base) lookMissing(*Room)                                      {}
func (base) allReady(*Room)                                         {}
func (base) mindChanged(*Room)                                      {}
func (base) move(*Room, caller, Move) error                         { return errNoVote }
func (base) refuseLongLook(*Room) error                             { return errLookNow }
func (base) beginLongLook(r *Room, why sentence.Sentence)           { r.out.say(why) }
func (base) without(*Room, people.ID, Without) error                { return errNoAdvice }
func (base) awaitSeats(*Room, AwaitSeats) error                     { return errNoAdvice }
func (base) unwait(*Room, Unwait) error                             { return errNotWaiting }
func (base) shareDemand(*Room, map[netip.AddrPort]seats.Demand)     {}
func (base) watches(*Room) []netip.AddrPort                         { return nil }
func (base) view(*Room, *wire.Snapshot, *decision.Showing)          {}
func (base) launch() *wire.Launch                                   { return nil }
func (base) sendThere(*Room, people.ID)                             {}
func (base) isValid(*facts.Parts) bool                              { return true }
