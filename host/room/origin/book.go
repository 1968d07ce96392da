package origin

import (
	"fmt"
	"net/netip"

	"muster/selection"
	"muster/selection/estimate"
)

// Book says where the people in a room come from, by their names. Its zero value is empty.
type Book struct{ state State }

// State is what a saved room keeps of a book: the entries of people, by their names. Each player has
// one.
type State map[string]Entry

// Entry says where somebody comes from.
type Entry struct {
	Origin
	IsPlayer bool `json:"player,omitempty"`
	// IsApart says that the findings of the player's NAT group do not hold for the player.
	IsApart bool `json:"apart,omitempty"`
}

// Come notes where a player's newest connection comes from, and reports whether the player has
// moved.
func (b *Book) Come(player string, from Origin) (hasMoved bool) {
	before := b.state[player]
	if hasMoved = before.Origin != from; hasMoved || !before.IsPlayer {
		b.put(player, Entry{Origin: from, IsPlayer: true})
	}
	return hasMoved
}

// Enter notes where a guest's page is.
func (b *Book) Enter(guest string, from Origin) {
	if b.Forget(guest); from != (Origin{}) {
		b.put(guest, Entry{Origin: from})
	}
}

func (b *Book) put(name string, e Entry) {
	if b.state == nil {
		b.state = State{}
	}
	b.state[name] = e
}

// Part makes a player a group alone.
func (b *Book) Part(player string) {
	if e := b.state[player]; e.IsPlayer {
		e.IsApart = true
		b.state[player] = e
	}
}

// Of returns where somebody comes from.
func (b *Book) Of(name string) Origin { return b.state[name].Origin }

// Place returns where somebody is, for estimates. It has no place for a player whose address has
// turned out to mislead.
func (b *Book) Place(name string) estimate.Place {
	if e := b.state[name]; !e.IsApart {
		return e.Place()
	}
	return estimate.Place{}
}

// Groups groups some of the players by their public addresses. A private address with several
// players is a gateway's or a proxy's: behind it they may sit anywhere.
func (b *Book) Groups(of []string) [][]string {
	came := map[Origin]int{}
	for _, e := range b.state {
		if e.IsPlayer {
			came[e.Origin]++
		}
	}
	keys := make([]netip.Addr, len(of))
	for i, name := range of {
		switch e := b.state[name]; {
		case e.IsApart || e.Home && came[e.Origin] > 1:
		case e.Home:
			keys[i] = behindHost
		default:
			keys[i] = e.Addr
		}
	}
	var groups [][]string
	for _, members := range selection.NATGroups(keys) {
		var group []string
		for _, i := range members {
			group = append(group, of[i])
		}
		groups = append(groups, group)
	}
	return groups
}

// Rename gives somebody another name.
func (b *Book) Rename(from, to string) {
	if e, known := b.state[from]; known {
		delete(b.state, from)
		b.state[to] = e
	}
}

// Forget forgets where somebody came from.
func (b *Book) Forget(name string) { delete(b.state, name) }

// State returns the state, for a room that is saved or restored.
func (b *Book) State() *State { return &b.state }

// Validate returns what is wrong with a saved book of these people, or nil. IsPlayer says of each
// whether it is a player.
func (s State) Validate(isPlayer map[string]bool) error {
	for name, e := range s {
		if plays, isHere := isPlayer[name]; !isHere || e.IsPlayer != plays || e.IsApart && !plays {
			return fmt.Errorf("%q comes from somewhere, and is not here", name)
		}
	}
	for name, plays := range isPlayer {
		if _, isKnown := s[name]; plays && !isKnown {
			return fmt.Errorf("nobody knows where %q comes from", name)
		}
	}
	return nil
}
