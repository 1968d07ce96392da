package sides

import (
	"fmt"
	"slices"

	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Saved are sides at rest.
type Saved struct {
	Members []SavedMember `json:"members,omitempty"`
	// Captains and Asks are those of the sides, a's first.
	Captains [2]string `json:"captains,omitzero"`
	Asks     [2]bool   `json:"asks,omitzero"`
}

// SavedMember is a person at rest, with a side or with none on purpose.
type SavedMember struct {
	Name  string        `json:"name"`
	Side  wire.Side     `json:"side,omitempty"`
	Moved roomtime.Time `json:"moved,omitzero"`
}

// Save returns the sides for [Restore].
func (s *Sides) Save() Saved {
	saved := Saved{Captains: [2]string{s.Captain(wire.SideA), s.Captain(wire.SideB)}, Asks: s.asks}
	for _, m := range s.members {
		saved.Members = append(saved.Members, SavedMember{m.name, m.side, m.moved})
	}
	return saved
}

// Restore returns the sides that were saved, in a room with these people. Any values are safe:
// sides that could not have come about are an error.
func Restore(saved Saved, people []string) (s Sides, err error) {
	for _, m := range saved.Members {
		switch {
		case !m.Side.IsValid():
			return Sides{}, fmt.Errorf("a side %q", string(m.Side))
		case !slices.Contains(people, m.Name):
			return Sides{}, fmt.Errorf("%q on a side is not here", m.Name)
		case s.index(m.Name) >= 0:
			return Sides{}, fmt.Errorf("%q is on a side twice", m.Name)
		}
		s.members = append(s.members, member{m.Name, m.Side, m.Moved})
	}
	for i, side := range []wire.Side{wire.SideA, wire.SideB} {
		if captain := saved.Captains[i]; captain != "" && s.Of(captain) != side {
			return Sides{}, fmt.Errorf("%q is no captain of side %s", captain, side)
		}
	}
	s.captains, s.asks = saved.Captains, saved.Asks
	return s, nil
}
