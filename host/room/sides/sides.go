// Package sides knows the two sides of a match: their people, their captains, and whether they want
// a long look at the servers.
//
//	Join, Set ─▶ members, in the order of their coming ─▶ Settle ─▶ each side's captain
//
// Sides belong to the room, not to a round: a rematch has the same. A [Sides] sees no room and no
// clock, and does not know what captains decide; package bans does. It knows people by their IDs.
package sides

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Sides are the sides of a match. The zero value has nobody on them.
type Sides struct{ state State }

// State is the saved state of the sides.
type State struct {
	// Members are the people on the sides, and people whom somebody took off a side. The newest on a
	// side comes last.
	Members []Member `json:"members,omitempty"`
	// Captains and Asks have a value for each side, a's first. Asks says that the side wants a long
	// look.
	Captains [2]people.ID `json:"captains,omitzero"`
	Asks     [2]bool      `json:"asks,omitzero"`
}

// Member is a person who was put on a side, or taken off one.
type Member struct {
	ID   people.ID `json:"name"`
	Side wire.Side `json:"side,omitempty"`
	// Moved is when the person took the side themselves, the zero time if another person, a link or
	// a program put them there.
	Moved roomtime.Time `json:"moved,omitzero"`
}

// State returns the state, to save or restore it.
func (s *Sides) State() *State { return &s.state }

// Validate returns the first fault of saved sides of a room with these people, or nil.
func (s *State) Validate(known []people.ID) error {
	of := map[people.ID]wire.Side{}
	for _, m := range s.Members {
		_, isTwice := of[m.ID]
		switch {
		case !m.Side.IsValid():
			return fmt.Errorf("a side %q", string(m.Side))
		case !slices.Contains(known, m.ID):
			return fmt.Errorf("%q on a side is not here", m.ID)
		case isTwice:
			return fmt.Errorf("%q is on a side twice", m.ID)
		}
		of[m.ID] = m.Side
	}
	for i, side := range []wire.Side{wire.SideA, wire.SideB} {
		if captain := s.Captains[i]; captain != "" && of[captain] != side {
			return fmt.Errorf("%q is no captain of side %s", captain, side)
		}
	}
	return nil
}

// every is how often a person may change sides, because everyone is told.
const every = 2 * time.Second

// maxMembers bounds the members; a room does not let more people in.
const maxMembers = 4 * wire.MaxPlayers

// Change says that somebody is on another side, or is the side's captain now.
type Change struct {
	ID        people.ID
	Side      wire.Side
	IsCaptain bool
}

// Of returns a person's side; empty if they are on neither.
func (s *Sides) Of(person people.ID) wire.Side {
	if i := s.index(person); i >= 0 {
		return s.state.Members[i].Side
	}
	return ""
}

// Captain returns the person who decides for a side, empty while it has no player.
func (s *Sides) Captain(side wire.Side) people.ID {
	if i := place(side); i >= 0 {
		return s.state.Captains[i]
	}
	return ""
}

func (s *Sides) index(person people.ID) int {
	return slices.IndexFunc(s.state.Members, func(m Member) bool { return m.ID == person })
}

// place returns a side's index in Captains and Asks, -1 for neither side.
func place(side wire.Side) int {
	return slices.Index([]wire.Side{wire.SideA, wire.SideB}, side)
}

// Join puts a person on the side that their program or link names. It counts once: people who have
// been put on a side, or taken off it, stay as they are when the program comes again.
func (s *Sides) Join(person people.ID, side wire.Side) []Change {
	if side == "" || s.index(person) >= 0 {
		return nil
	}
	return s.move(person, side, roomtime.Time(0))
}

// move puts a person on a side, as its newest member.
func (s *Sides) move(person people.ID, side wire.Side, at roomtime.Time) []Change {
	if s.Of(person) == side && s.index(person) >= 0 || len(s.state.Members) >= maxMembers {
		return nil
	}
	s.Forget(person)
	s.state.Members = append(s.state.Members, Member{person, side, at})
	return []Change{{ID: person, Side: side}}
}

// When says who may change sides now.
type When int

// Free: everyone may. Joining, while a search goes on: only people on neither side may join one.
// Closed, once there is a choice: nobody may, so that no side changes in the middle of the moves.
// Afterwards, once the match is launched: only the organiser may, for the next match.
const (
	Free When = iota
	Joining
	Closed
	Afterwards
)

// The refusals.
var (
	errLate     = wire.Refuse(wire.ReasonAction, "refused.side-late")
	errNotYours = wire.Refuse(wire.ReasonAction, "refused.side-of-others")
	errOften    = wire.Refuse(wire.ReasonAction, "refused.side-often", "for", every)
	errCaptain  = wire.Refuse(wire.ReasonAction, "refused.captain-only")
	errMate     = wire.Refuse(wire.ReasonAction, "refused.no-mate")
	errAsked    = wire.Refuse(wire.ReasonAction, "refused.look-once")
)

// Set puts a person on a side, or on neither. The organiser may put everybody anywhere. People may
// choose for themselves. Captains may pick people who are on neither side.
func (s *Sides) Set(by people.Person, person people.ID, side wire.Side, when When, now roomtime.Time) ([]Change, error) {
	from := s.Of(person)
	if from == side && (side != "" || s.index(person) >= 0) {
		return nil, nil
	}
	isOwn := by.IsSomebody() && by.ID == person
	isPick := from == "" && side != "" && by.IsSomebody() && s.Captain(side) == by.ID
	switch {
	case !by.IsOrganiser && !isOwn && !isPick:
		return nil, errNotYours
	case when == Closed, when == Joining && (from != "" || side == ""), when == Afterwards && !by.IsOrganiser:
		return nil, errLate
	case by.IsOrganiser || !isOwn:
		return s.move(person, side, roomtime.Time(0)), nil
	}
	if i := s.index(person); i >= 0 {
		if now.Sub(s.state.Members[i].Moved) < every {
			return nil, errOften
		}
	}
	return s.move(person, side, now), nil
}

// HandOn makes a player the captain of their side. Only the organiser and the captain may do so.
func (s *Sides) HandOn(by people.Person, player people.ID, players []people.ID) ([]Change, error) {
	side := s.Of(player)
	switch {
	case side == "" || !slices.Contains(players, player):
		return nil, errMate
	case !by.IsOrganiser && (!by.IsSomebody() || s.Captain(side) != by.ID):
		return nil, errCaptain
	case s.Captain(side) == player:
		return nil, nil
	}
	s.state.Captains[place(side)] = player
	return []Change{{player, side, true}}, nil
}

// Settle gives each side without a captain its first player as captain. It returns the new
// captains. Players are the people with a program. Others may be on a side, but decide nothing.
func (s *Sides) Settle(players []people.ID) (changes []Change) {
	for i, side := range []wire.Side{wire.SideA, wire.SideB} {
		if slices.Contains(players, s.Captain(side)) {
			continue
		}
		if s.state.Captains[i] = s.next(side, players); s.state.Captains[i] != "" {
			changes = append(changes, Change{s.state.Captains[i], side, true})
		}
	}
	return changes
}

// next returns the first of some players on a side.
func (s *Sides) next(side wire.Side, players []people.ID) people.ID {
	for _, m := range s.state.Members {
		if m.Side == side && slices.Contains(players, m.ID) {
			return m.ID
		}
	}
	return ""
}

// Replace appoints a new captain for a side whose captain is away: the next present player of the
// side. The captain stays if no other player of the side is here.
func (s *Sides) Replace(side wire.Side, present []people.ID) []Change {
	i := place(side)
	if i < 0 || slices.Contains(present, s.Captain(side)) {
		return nil
	}
	next := s.next(side, present)
	if next == "" {
		return nil
	}
	s.state.Captains[i] = next
	return []Change{{next, side, true}}
}

// Ask notes that a captain's side wants a long look at the servers before it moves. Each side may
// ask once a match.
func (s *Sides) Ask(by people.ID) (wire.Side, error) {
	side := s.Of(by)
	i := place(side)
	switch {
	case i < 0, s.Captain(side) != by:
		return "", errCaptain
	case s.state.Asks[i]:
		return "", errAsked
	}
	s.state.Asks[i] = true
	return side, nil
}

// HasAsked reports whether any side wants a long look.
func (s *Sides) HasAsked() bool { return s.state.Asks[0] || s.state.Asks[1] }

// Rematch begins another match of the same sides.
func (s *Sides) Rematch() { s.state.Asks = [2]bool{} }

// Forget forgets a person's side. They may join a side again.
func (s *Sides) Forget(person people.ID) {
	if i := place(s.Of(person)); i >= 0 && s.state.Captains[i] == person {
		s.state.Captains[i] = ""
	}
	s.state.Members = slices.DeleteFunc(s.state.Members, func(m Member) bool { return m.ID == person })
}

// Camps returns the sides as everyone sees them. Called are the names that the organiser gave them.
func (s *Sides) Camps(called [2]string, names *people.Names) (camps [2]wire.Camp) {
	for i, side := range []wire.Side{wire.SideA, wire.SideB} {
		camps[i] = wire.Camp{Side: side, Name: called[i], Captain: names.Of(s.Captain(side)), Players: []string{}, Asks: s.state.Asks[i]}
		for _, m := range s.state.Members {
			if m.Side == side {
				camps[i].Players = append(camps[i].Players, names.Of(m.ID))
			}
		}
	}
	return camps
}
