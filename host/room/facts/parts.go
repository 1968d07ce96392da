// Package facts tells packages that lead and decide what is known of a room. It combines the parts
// that they would have to ask.
//
//	            room: what happens next
//	           ╱          │           ╲
//	 probing: whom to ask │   decision, captains, waiting: what to choose
//	           ╲          │           ╱
//	      Facts: who is here, what is known
//	                      │
//	Parts: roster, attendance, evidence, trust, choice …
//
// Nothing here knows a phase, a clock or a connection.
package facts

import (
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/bans"
	"muster/host/room/brought"
	"muster/host/room/candidates"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/evened"
	"muster/host/room/evidence"
	"muster/host/room/infos"
	"muster/host/room/ingame"
	"muster/host/room/launch"
	"muster/host/room/lines"
	"muster/host/room/listing"
	"muster/host/room/memories"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/reactions"
	"muster/host/room/roomtime"
	"muster/host/room/roster"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
)

// Parts are the parts of a room that several packages read. Only the room holds them. All other
// code gets [Facts], or a pointer to the part that it writes.
type Parts struct {
	Settings wire.Settings
	Tuning   Tuning
	Roster   *roster.Roster
	// Editions are the players' versions of games.
	Editions editions.Book
	// Estimates stand in for the pings of guests who are counted in.
	Estimates estimates.Guests
	Lists     brought.Lists
	// Sides are the sides of a match, with their members.
	Sides sides.Sides
	// Memories are the measurements of earlier sessions, from players' programs and the host. They
	// are not saved.
	Memories memories.Book
	// Lines are what the host sees of players' connections. They are not saved.
	Lines lines.Book
	// Reactions are the signs that people send each other. They are not saved.
	Reactions reactions.Board
	Round
}

// Tuning changes how a room decides, for experiments. It is not saved.
type Tuning struct {
	// Seed is added to the seeds of the search and of the players' plans.
	Seed uint64
	// Budget and Enough are fields of [coordinate.Options].
	Budget int
	Enough time.Duration
	// Spare is a field of [selection.Criteria]. Negative means none.
	Spare time.Duration
	// Weights are a field of [selection.Criteria]. They work only if no two players share an
	// address.
	Weights map[string]float64
	// Sides are a field of [selection.Criteria], for a room that is no match.
	Sides map[string]selection.Side
}

// Round has everything that a new round forgets.
type Round struct {
	Number int
	// Attendance knows which players are here, and which the round counts on.
	Attendance attendance.Register
	// Evidence has each player's measurements. Heard has what the players heard servers say.
	Evidence Evidence
	Heard    infos.Infos
	// List is the round's list, and Servers has the facts about it from the list and the players.
	List    listing.List
	Servers selection.Servers
	// Candidates are the places of a round that looks for a place; there are none in a round of servers.
	// FoundNone says that no server suited, and the round looks for a place.
	Candidates candidates.Places
	FoundNone  bool
	// Nearby has the servers on the host's networks and the players'.
	Nearby nearby.Networks
	// Origins are where people come from.
	Origins origin.Book
	// Launches knows who can start the game, and who is on the way.
	Launches launch.Roll
	// Measuring is when all players were told to measure.
	Measuring roomtime.Time
	// Gap is how long a server of the list rests before it answers an address again. It is 0 if
	// unknown, as in a restored room.
	Gap time.Duration
	// Choice is the newest choice. Ballot holds people's votes on it.
	Choice choice.Choice
	Ballot ballot.Box
	// Bans are the moves of a match's captains over the choice's best servers.
	Bans bans.Series
	// Evened is what the captains have agreed to about even pings in the game.
	Evened evened.Evened
	// InGame are the pings that the game's server lists.
	InGame ingame.InGame
	// Trust has the doubts about players and servers.
	Trust trust.Doubts
	// IsBroken says that somebody's connection was lost. Measurements may then tell more of a line
	// than of servers.
	IsBroken bool
}

// Evidence has each player's measurements of a round.
type Evidence map[people.ID]*evidence.PlayerResults

// NewRound returns a round without players.
func NewRound(number int) Round { return Round{Number: number, Evidence: Evidence{}} }

// Next returns the round after this one, with the same players.
func (r *Round) Next(now roomtime.Time) Round {
	next := NewRound(r.Number + 1)
	next.Trust, next.Choice = r.Trust.Next(), r.Choice.Next()
	next.Origins = r.Origins
	next.Candidates, next.FoundNone = candidates.New(nil, nil, r.Candidates), r.FoundNone
	next.Nearby, next.Launches = r.Nearby.Next(), r.Launches.Next()
	next.Attendance = r.Attendance
	next.Attendance.Begin(now)
	for player, w := range r.Evidence {
		next.Evidence[player] = w.Next()
	}
	return next
}

// Of returns the players' evidence.
func (e Evidence) Of(players []people.ID) []*evidence.PlayerResults {
	results := make([]*evidence.PlayerResults, len(players))
	for i, player := range players {
		results[i] = e[player]
	}
	return results
}

// ForgetSaid drops the list's facts about servers that nobody asked.
func (p *Parts) ForgetSaid() {
	p.Servers = listing.Trim(p.Servers, p.Facts().Asked)
	p.Choice.ForgetSaid(p.Servers.Said)
}
