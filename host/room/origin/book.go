package origin

import (
	"fmt"
	"net/netip"

	"muster/host/room/people"
	"muster/selection"
	"muster/selection/estimate"
)

// Book says where the people in a room come from. Its zero value is empty.
type Book struct{ state State }

// State is the saved state of a book: the entries of people. Each player has one.
type State map[people.ID]Entry

// Entry says where somebody comes from.
type Entry struct {
	Origin
	IsPlayer bool `json:"player,omitempty"`
	// IsApart says that the findings of the player's NAT group do not hold for the player.
	IsApart bool `json:"apart,omitempty"`
}

// Come notes where a player's newest connection comes from, and reports whether the player has
// moved.
func (b *Book) Come(player people.ID, from Origin) (hasMoved bool) {
	before := b.state[player]
	if hasMoved = before.Origin != from; hasMoved || !before.IsPlayer {
		b.put(player, Entry{Origin: from, IsPlayer: true})
	}
	return hasMoved
}

// Enter notes where a guest's page is.
func (b *Book) Enter(guest people.ID, from Origin) {
	if b.Forget(guest); from != (Origin{}) {
		b.put(guest, Entry{Origin: from})
	}
}

func (b *Book) put(id people.ID, e Entry) {
	if b.state == nil {
		b.state = State{}
	}
	b.state[id] = e
}

// Part makes a player a NAT group of one.
func (b *Book) Part(player people.ID) {
	if e := b.state[player]; e.IsPlayer {
		e.IsApart = true
		b.state[player] = e
	}
}

// Of returns where somebody comes from.
func (b *Book) Of(id people.ID) Origin { return b.state[id].Origin }

// Place returns where somebody is, for estimates. It has no place for a player whose address has
// turned out to mislead.
func (b *Book) Place(id people.ID) estimate.Place {
	if e := b.state[id]; !e.IsApart {
		return e.Place()
	}
	return estimate.Place{}
}

// Groups groups some of the players by their public addresses. A private address with several
// players is a gateway's or a proxy's, and they may sit anywhere behind it.
func (b *Book) Groups(of []people.ID) [][]people.ID {
	came := map[Origin]int{}
	for _, e := range b.state {
		if e.IsPlayer {
			came[e.Origin]++
		}
	}
	keys := make([]netip.Addr, len(of))
	for i, player := range of {
		switch e := b.state[player]; {
		case e.IsApart || e.Home && came[e.Origin] > 1:
		case e.Home:
			keys[i] = behindHost
		default:
			keys[i] = e.Addr
		}
	}
	var groups [][]people.ID
	for _, members := range selection.NATGroups(keys) {
		var group []people.ID
		for _, i := range members {
			group = append(group, of[i])
		}
		groups = append(groups, group)
	}
	return groups
}

// Forget forgets where somebody came from.
func (b *Book) Forget(id people.ID) { delete(b.state, id) }

// State returns the state, to save or restore it.
func (b *Book) State() *State { return &b.state }

// Validate returns the first fault of a saved book, or nil. IsPlayer has all people, and whether
// each is a player.
func (s State) Validate(isPlayer map[people.ID]bool) error {
	for id, e := range s {
		if plays, isHere := isPlayer[id]; !isHere || e.IsPlayer != plays || e.IsApart && !plays {
			return fmt.Errorf("%q comes from somewhere, and is not here", id)
		}
	}
	for id, plays := range isPlayer {
		if _, isKnown := s[id]; plays && !isKnown {
			return fmt.Errorf("nobody knows where %q comes from", id)
		}
	}
	return nil
}
