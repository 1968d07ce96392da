package origin

import (
	"fmt"
	"net/netip"

	"muster/selection"
	"muster/selection/estimate"
)

// Book says where the people in a room come from, by their names. Its zero value is empty.
type Book struct{ people map[string]Entry }

// Entry says where somebody comes from.
type Entry struct {
	Origin
	IsPlayer bool `json:"-"`
	// IsApart says that the findings of the player's NAT group do not hold for the player.
	IsApart bool `json:"apart,omitempty"`
}

// Come notes where a player's newest connection comes from, and reports whether the player has
// moved.
func (b *Book) Come(player string, from Origin) (hasMoved bool) {
	before := b.people[player]
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
	if b.people == nil {
		b.people = map[string]Entry{}
	}
	b.people[name] = e
}

// Part makes a player a group alone.
func (b *Book) Part(player string) {
	if e := b.people[player]; e.IsPlayer {
		e.IsApart = true
		b.people[player] = e
	}
}

// Of returns where somebody comes from.
func (b *Book) Of(name string) Origin { return b.people[name].Origin }

// Place returns where somebody is, for estimates. It has no place for a player whose address has
// turned out to mislead.
func (b *Book) Place(name string) estimate.Place {
	if e := b.people[name]; !e.IsApart {
		return e.Place()
	}
	return estimate.Place{}
}

// Groups groups some of the players by their public addresses. A private address with several
// players is a gateway's or a proxy's: behind it they may sit anywhere.
func (b *Book) Groups(of []string) [][]string {
	came := map[Origin]int{}
	for _, e := range b.people {
		if e.IsPlayer {
			came[e.Origin]++
		}
	}
	keys := make([]netip.Addr, len(of))
	for i, name := range of {
		switch e := b.people[name]; {
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
	if e, known := b.people[from]; known {
		delete(b.people, from)
		b.people[to] = e
	}
}

// Forget forgets where somebody came from.
func (b *Book) Forget(name string) { delete(b.people, name) }

// Saved is the section of the saved room: the entries of people, by their names.
type Saved map[string]Entry

// Save returns the section of the saved room.
func (b *Book) Save() Saved {
	s := Saved{}
	for name, e := range b.people {
		if e.Origin != (Origin{}) || e.IsApart {
			s[name] = e
		}
	}
	return s
}

// Restore returns the book that was saved. People has the names in the room, and whether each is a
// player.
func Restore(s Saved, people map[string]bool) (Book, error) {
	var b Book
	for name, e := range s {
		isPlayer, isHere := people[name]
		if !isHere || e.IsApart && !isPlayer {
			return Book{}, fmt.Errorf("%q comes from somewhere, and is not here", name)
		}
		e.IsPlayer = isPlayer
		b.put(name, e)
	}
	for name, isPlayer := range people {
		if _, known := b.people[name]; isPlayer && !known {
			b.put(name, Entry{IsPlayer: true})
		}
	}
	return b, nil
}
