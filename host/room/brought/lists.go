// Package brought keeps the servers that people bring into a room: favourites, which become the
// group's own, and servers that they refuse to play on.
//
// Each entry knows who brought it, also while that person is away. The lists are bounded, however
// many people come and go.
package brought

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

const (
	// Max bounds the servers in each list of a room, because everybody hears of all.
	Max = 400
	// maxStruck bounds the servers that the organiser can take off the lists.
	maxStruck = 1000
	// maxBy bounds the people who are named with one server. More would only make the lists larger.
	maxBy = 2 * wire.MaxPlayers
	// longestTitle is how much of a server's name the lists keep, in bytes.
	longestTitle = 64
)

// Lists are the servers that people have brought for one game. The zero value is empty. A copy does
// not change with the original.
type Lists struct{ state State }

// State is the saved state of the lists.
type State struct {
	Favourites []entry `json:"favourites,omitempty"`
	Hidden     []entry `json:"hidden,omitempty"`
	// Struck are the servers that the organiser has taken off. No program can bring them again.
	Struck []netip.AddrPort `json:"struck,omitempty"`
}

// entry is a server with the people who brought it.
type entry struct {
	Addr hostport.AddrPort `json:"addr"`
	Name string            `json:"name,omitempty"`
	By   []people.ID       `json:"by,omitempty"`
}

// State returns the state, to save or restore it.
func (l *Lists) State() *State { return &l.state }

// BringResult is the result of [Lists.Bring].
type BringResult struct {
	// Favourites and Hidden count the person's servers in each list. Refused counts the servers that
	// got into neither, because they are private addresses, were struck off, or are too many.
	Favourites, Hidden, Refused int
	// IsNew says that the lists have changed.
	IsNew bool
}

// Lines returns the result as lines for the log. The room need not repeat a player's line.
func (t BringResult) Lines(player people.ID) (lines []sentence.Sentence) {
	switch {
	case t.Hidden > 0:
		lines = append(lines, sentence.Of("room.brings-hides", "player", player, "n", t.Favourites, "hidden", t.Hidden))
	case t.Favourites > 0:
		lines = append(lines, sentence.Of("room.brings", "player", player, "n", t.Favourites))
	}
	if t.Refused > 0 {
		lines = append(lines, sentence.Of("room.cannot-share", "player", player, "n", t.Refused, "own", wire.MaxBrought, "all", Max))
	}
	return lines
}

// Bring adds somebody's servers to the lists. They replace the person's earlier servers, unless
// adds is set. Reach is the least reach of a server that the group may use.
func (l *Lists) Bring(player people.ID, reach discovery.Reach, favourites, hidden []wire.Brought, adds bool) (t BringResult) {
	before := *l
	if !adds {
		l.Withdraw(player)
	}
	// copies, because views share the old ones
	l.state.Favourites, l.state.Hidden = slices.Clone(l.state.Favourites), slices.Clone(l.state.Hidden)
	var refused int
	t.Favourites, t.Refused = l.put(&l.state.Favourites, player, reach, favourites)
	t.Hidden, refused = l.put(&l.state.Hidden, player, reach, hidden)
	t.Refused += refused
	if t.IsNew = !l.isSameAs(before); !t.IsNew {
		*l = before // people keep the order that they have seen
	}
	return t
}

// put adds somebody's servers to one list.
func (l *Lists) put(
	list *[]entry, player people.ID, reach discovery.Reach, brought []wire.Brought,
) (taken, refused int) {
	theirs := 0
	for i := range *list {
		if slices.Contains((*list)[i].By, player) {
			theirs++
		}
	}
	for _, one := range brought {
		addr := discovery.Canonical(one.Addr.AddrPort)
		at := slices.IndexFunc(*list, func(o entry) bool { return o.Addr.AddrPort == addr })
		switch {
		case discovery.ReachOf(addr.Addr()) < reach, slices.Contains(l.state.Struck, addr):
			refused++
			continue
		case at >= 0 && (slices.Contains((*list)[at].By, player) || len((*list)[at].By) >= maxBy):
			taken++
			continue
		case theirs >= wire.MaxBrought, at < 0 && len(*list) >= Max:
			refused++
			continue
		case at < 0:
			*list = append(*list, entry{Addr: hostport.At(addr), Name: brief(one.Name), By: []people.ID{player}})
		default:
			known := &(*list)[at]
			known.By = append(slices.Clip(known.By), player) // views share the old one
		}
		taken, theirs = taken+1, theirs+1
	}
	return taken, refused
}

// isSameAs reports whether lists have the same entries as others in any order.
func (l *Lists) isSameAs(other Lists) bool {
	entries := func(list []entry) (entries []string) {
		for _, one := range list {
			entries = append(entries, fmt.Sprintf("%v %q %q", one.Addr, one.Name, slices.Sorted(slices.Values(one.By))))
		}
		return slices.Sorted(slices.Values(entries))
	}
	return slices.Equal(entries(l.state.Favourites), entries(other.state.Favourites)) && slices.Equal(entries(l.state.Hidden), entries(other.state.Hidden))
}

func brief(name string) string {
	name = discovery.CleanText(name)
	return strings.ToValidUTF8(name[:min(len(name), longestTitle)], "")
}

// change keeps the entries that keep accepts. The function may also change them.
func (l *Lists) change(keep func(*entry) bool) {
	for _, list := range []*[]entry{&l.state.Favourites, &l.state.Hidden} {
		var kept []entry
		for _, one := range *list {
			if keep(&one) {
				kept = append(kept, one)
			}
		}
		*list = kept
	}
}

// Withdraw removes somebody's servers.
func (l *Lists) Withdraw(player people.ID) {
	l.change(func(o *entry) bool {
		o.By = slices.DeleteFunc(slices.Clone(o.By), func(by people.ID) bool { return by == player })
		return len(o.By) > 0
	})
}

// Hide adds a server that the organiser refuses to play on. Players' own entries cannot take up its
// place.
func (l *Lists) Hide(addr netip.AddrPort, title string, organiser people.ID) error {
	if most := Max + wire.MaxBrought; len(l.state.Hidden) >= most {
		return fmt.Errorf("a room hides %d servers at most: take some off the list", most)
	}
	l.Drop(addr)
	refused := entry{Addr: hostport.At(addr), Name: brief(title), By: []people.ID{organiser}}
	l.state.Hidden = append(slices.Clip(l.state.Hidden), refused)
	return nil
}

// Drop takes a server off both lists, and reports whether it was there.
func (l *Lists) Drop(addr netip.AddrPort) (was bool) {
	l.change(func(o *entry) bool {
		was = was || o.Addr.AddrPort == addr
		return o.Addr.AddrPort != addr
	})
	return was
}

// Block is [Lists.Drop] for good: nobody brings the server again.
func (l *Lists) Block(addr netip.AddrPort) (was bool) {
	if was = l.Drop(addr); was {
		l.state.Struck = append(slices.Clip(l.state.Struck), addr)
		l.state.Struck = l.state.Struck[max(0, len(l.state.Struck)-maxStruck):]
	}
	return was
}

// Ours returns the group's own servers.
func (l *Lists) Ours() (ours []netip.AddrPort) {
	for _, one := range l.state.Favourites {
		ours = append(ours, one.Addr.AddrPort)
	}
	return ours
}

// Hidden returns the people who refuse to play on each server. If these are more than half of a
// list, only the organiser's refusals count: one player could otherwise keep all from playing.
func (l *Lists) Hidden(list []discovery.Server, organiser people.ID) (hidden []selection.Veto) {
	onlyTheirs := false
	if 2*len(l.state.Hidden) > len(list) {
		listed := 0
		for i := range list {
			if slices.ContainsFunc(l.state.Hidden, func(o entry) bool {
				return o.Addr.AddrPort == list[i].Addr && !slices.Contains(o.By, organiser)
			}) {
				listed++
			}
		}
		onlyTheirs = 2*listed > len(list)
	}
	for _, one := range l.state.Hidden {
		for _, by := range one.By {
			if !onlyTheirs || by == organiser {
				hidden = append(hidden, selection.Veto{Player: string(by), Server: one.Addr.AddrPort})
			}
		}
	}
	return hidden
}

// View returns the lists as everybody may see them.
func (l *Lists) View(names *people.Names) wire.Lists {
	shown := func(list []entry) []wire.Brought {
		brought := make([]wire.Brought, len(list))
		for i, one := range list {
			brought[i] = wire.Brought{Addr: one.Addr, Name: one.Name}
			for _, name := range names.All(one.By) {
				if !slices.Contains(brought[i].By, name) { // all forgotten people have one name
					brought[i].By = append(brought[i].By, name)
				}
			}
		}
		return brought
	}
	return wire.Lists{Favourites: shown(l.state.Favourites), Hidden: shown(l.state.Hidden)}
}
