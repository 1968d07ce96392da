package room

import (
	"cmp"
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

// phase is a phase of a room, with its own state and its reactions. The package documentation draws
// the phases. A phase embeds [base], and overrides the methods in which it does something.
type phase interface {
	traits() traits

	// entered runs when the room enters the phase. tick gives up on players who take too long. next
	// returns the time by which the phase needs a tick at the latest; unless isQuiet, the phase also
	// needs a few ticks a second before that time. resume goes on after a restart.
	entered(r *Room)
	tick(r *Room)
	next(r *Room) (at roomtime.Time, isQuiet bool)
	resume(r *Room)

	// proceed is the organiser's go.
	proceed(r *Room) error

	// joined brings a player who comes, or comes back, up to date. lookedAround goes on after a
	// player's program has looked around its network.
	joined(r *Room, player people.ID)
	lookedAround(r *Room, player people.ID)

	// listed takes the fetched list. supplied notes that the organiser's program has given its own.
	listed(r *Room, list Listed)
	supplied(r *Room)
	// reported goes on after a report, finished after the end of a player's plan, and turn once the
	// room gets processor time for its search.
	reported(r *Room)
	finished(r *Room, player people.ID)
	turn(r *Room)
	// surveyed takes a player's results for places.
	surveyed(r *Room, player people.ID, m wire.Surveyed) error
	// homesMoved goes on after a player's router has given the player's computer another port.
	homesMoved(r *Room)
	// expectsLook reports whether a player's look counts. The phase goes on after it (lookCame), or
	// without it (lookMissing).
	expectsLook(player people.ID, look wire.Verified) bool
	lookCame(r *Room, player people.ID, look wire.Verified, heard finals.Heard)
	lookMissing(r *Room)
	// lookedAside takes a look that the phase does not expect, such as that of a program whose player plays.
	lookedAside(r *Room, player people.ID, look wire.Verified)

	// started goes on to a server that the organiser has started, and tells people the note.
	started(r *Room, at netip.AddrPort, note sentence.Sentence)
	// allReady begins the countdown, and mindChanged stops it.
	allReady(r *Room)
	mindChanged(r *Room)
	// move makes a captain's move. refuseLongLook returns why no side may ask for a long look now,
	// or nil. beginLongLook begins a long look, or notes the wish for one.
	move(r *Room, by caller, m Move) error
	refuseLongLook(r *Room) error
	beginLongLook(r *Room, why sentence.Sentence)
	// moveOn takes an answer to the proposal to move on.
	moveOn(r *Room, by caller, m MoveOn) error
	// without leaves a player out, or counts the player again.
	without(r *Room, player people.ID, w Without) error
	// awaitSeats begins a wait for seats, and unwait ends it. shareDemand tells the phase how many
	// rooms wait for the same servers. watches returns the servers that players ask for seats.
	awaitSeats(r *Room, a AwaitSeats) error
	unwait(r *Room, u Unwait) error
	shareDemand(r *Room, demand map[netip.AddrPort]Demand)
	watches(r *Room) []netip.AddrPort

	// view fills in the phase's part of the snapshot. launch returns the launch, nil before there
	// is one. sendThere sends a player the launch.
	view(r *Room, s *wire.Snapshot, showing *decision.Showing)
	launch() *wire.Launch
	sendThere(r *Room, player people.ID)

	// isValid reports whether a restored phase has what it needs.
	isValid(g *facts.Parts) bool
}

// traits are all that other code may know of a phase.
type traits struct {
	// name is the name of the phase. Its view may show another.
	name wire.PhaseName
	// saved is the name in saved rooms, if another phase has the same name for people.
	saved string
	// duty is the players' duty. sides says who may change sides in a match.
	duty  attendance.Duty
	sides sides.When
	// isGathering says that the group is not complete. measuresAlone says that players measure the
	// whole list, and isCoordinated that they measure what a search asks. asksMore says that the
	// search adds servers after a choice, for the same players.
	isGathering, measuresAlone, isCoordinated, asksMore bool
	// isSurveying says that players measure places.
	isSurveying bool
	// isVoting says that people may vote, and isBanning that captains ban and pick.
	isVoting, isBanning bool
	// canReopen says that the organiser may choose again from the same measurements.
	canReopen bool
	// isLooking says that everyone looks at the finalists.
	isLooking bool
	// isBetween says that the room is between rounds, so that it may begin one for a started
	// server.
	isBetween bool
	// isSent says that everyone was sent to a server.
	isSent bool
}

// isMeasuring reports whether players measure, alone or in a search.
func (t traits) isMeasuring() bool { return t.duty == attendance.Measure }

// isChosen reports whether there is a choice that is not carried out yet.
func (t traits) isChosen() bool { return t.stage() == wire.Chosen }

// savedName is the phase's name in saved rooms.
func (t traits) savedName() string { return cmp.Or(t.saved, string(t.name)) }

func (t traits) stage() wire.Stage { return t.name.Stage() }

// phases returns an empty value of each phase.
func phases() []phase {
	return []phase{
		&Gathering{}, &Listing{}, &Measuring{}, &Coordinating{}, &Verifying{}, &Voting{}, &Countdown{}, &Banning{},
		&Launching{}, &Waiting{}, &Failed{}, &Surveying{}, &Placed{},
	}
}

func (r *Room) enter(p phase) {
	r.goTo(p)
	r.since = r.now
	r.probing.Disband() // NAT groups share the list only while players measure it whole
	p.entered(r)
}

// goTo changes to a phase of the same stage.
func (r *Room) goTo(p phase) { r.phase, r.begun = p, r.now }

// moment returns the present moment for package probing.
func (r *Room) moment() probing.Moment {
	return probing.Moment{Clocks: r.clocks(), IsVoting: r.phase.traits().isVoting}
}

// endSearch ends a running search, because its goal has changed.
func (r *Room) endSearch() {
	if r.phase.traits().isCoordinated {
		r.probing.EndSearch()
	}
}

// canDecideAgain reports whether the organiser may choose again from the measurements of this
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
func (base) surveyed(*Room, people.ID, wire.Surveyed) error         { return nil }
func (base) homesMoved(*Room)                                       {}
func (base) expectsLook(people.ID, wire.Verified) bool              { return false }
func (base) lookCame(*Room, people.ID, wire.Verified, finals.Heard) {}
func (base) lookMissing(*Room)                                      {}
func (base) lookedAside(*Room, people.ID, wire.Verified)            {}
func (base) started(r *Room, _ netip.AddrPort, note sentence.Sentence) {
	r.out.say(note)
	r.nextRound()
}
func (base) allReady(*Room)                                     {}
func (base) mindChanged(*Room)                                  {}
func (base) move(*Room, caller, Move) error                     { return errNoVote }
func (base) moveOn(*Room, caller, MoveOn) error                 { return errNoProposal }
func (base) refuseLongLook(*Room) error                         { return errLookNow }
func (base) beginLongLook(r *Room, why sentence.Sentence)       { r.out.say(why) }
func (base) without(*Room, people.ID, Without) error            { return errNoAdvice }
func (base) awaitSeats(*Room, AwaitSeats) error                 { return errNoAdvice }
func (base) unwait(*Room, Unwait) error                         { return errNotWaiting }
func (base) shareDemand(*Room, map[netip.AddrPort]seats.Demand) {}
func (base) watches(*Room) []netip.AddrPort                     { return nil }
func (base) view(*Room, *wire.Snapshot, *decision.Showing)      {}
func (base) launch() *wire.Launch                               { return nil }
func (base) sendThere(*Room, people.ID)                         {}
func (base) isValid(*facts.Parts) bool                          { return true }
