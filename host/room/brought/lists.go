// Package brought keeps the servers that people bring into a room: favourites, which become the
// group's own, and servers that they refuse to play on.
//
// Each entry knows who brought it. Players come, go, rename themselves and take names that others
// had. Entries under a name belong to the person who had it then, and that person gets them back by
// a credential. The lists are bounded, however many names people come by.
package brought

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
)

const (
	// Most bounds the servers in each list of a room, because everybody hears of all.
	Most = 400
	// mostStruck bounds the servers that the organiser can take off the lists.
	mostStruck = 1000
	// mostLeft bounds the free names whose owners the lists remember. Entries under other free
	// names belong to nobody. Without a bound the lists would grow with everyone who comes and
	// goes.
	mostLeft = wire.MaxPlayers
	// longestTitle is how much of a server's name the lists keep, in bytes.
	longestTitle = 64
	// Nobody stands for people who brought a server under a name that somebody else has by now. It
	// is longer than any nickname, so that nobody can take it.
	Nobody = "somebody who was in this room before"
)

// Lists are the servers that people have brought for one game. The zero value is empty. A copy does
// not change with the original.
type Lists struct{ state State }

// State is what a saved room keeps of the lists.
type State struct {
	Favourites []wire.Brought `json:"favourites,omitempty"`
	Hidden     []wire.Brought `json:"hidden,omitempty"`
	// Struck are the servers that the organiser has taken off. No program can bring them again.
	Struck []netip.AddrPort `json:"struck,omitempty"`
	// Left are free names that stand in the lists, by a credential of their last owners.
	Left map[string]string `json:"gone,omitempty"`
}

// State returns the state, for a room that is saved or restored.
func (l *Lists) State() *State { return &l.state }

// BringResult says what became of servers that somebody brought.
type BringResult struct {
	// Favourites and Hidden count those in each list. Refused counts the others: they may be any
	// machine in other players' networks, were struck off, or are too many.
	Favourites, Hidden, Refused int
	// IsNew says that the lists have changed.
	IsNew bool
}

// Lines returns what the log tells of it. The room need not repeat a line about the same player.
func (t BringResult) Lines(name string) (lines []sentence.Sentence) {
	switch {
	case t.Hidden > 0:
		lines = append(lines, sentence.Of("room.brings-hides", "player", name, "n", t.Favourites, "hidden", t.Hidden))
	case t.Favourites > 0:
		lines = append(lines, sentence.Of("room.brings", "player", name, "n", t.Favourites))
	}
	if t.Refused > 0 {
		lines = append(lines, sentence.Of("room.cannot-share", "player", name, "n", t.Refused, "own", wire.MaxBrought, "all", Most))
	}
	return lines
}

// Bring puts somebody's servers into the lists. They replace the earlier ones, unless adds is set.
// Reach is the least reach of a server that the group may use.
func (l *Lists) Bring(name string, reach discovery.Reach, favourites, hidden []wire.Brought, adds bool) (t BringResult) {
	before := *l
	if !adds {
		l.Withdraw(name)
	}
	// copies, because views share the old ones
	l.state.Favourites, l.state.Hidden = slices.Clone(l.state.Favourites), slices.Clone(l.state.Hidden)
	var refused int
	t.Favourites, t.Refused = l.put(&l.state.Favourites, name, reach, favourites)
	t.Hidden, refused = l.put(&l.state.Hidden, name, reach, hidden)
	t.Refused += refused
	if t.IsNew = !l.isSameAs(before); !t.IsNew {
		*l = before // people see them in the earlier order
	}
	return t
}

// put adds somebody's servers to one list.
func (l *Lists) put(
	list *[]wire.Brought, name string, reach discovery.Reach, brought []wire.Brought,
) (taken, refused int) {
	theirs := 0
	for i := range *list {
		if slices.Contains((*list)[i].By, name) {
			theirs++
		}
	}
	for _, one := range brought {
		addr := discovery.Canonical(one.Addr.AddrPort)
		at := slices.IndexFunc(*list, func(o wire.Brought) bool { return o.Addr.AddrPort == addr })
		switch {
		case discovery.ReachOf(addr.Addr()) < reach, slices.Contains(l.state.Struck, addr):
			refused++
			continue
		case at >= 0 && slices.Contains((*list)[at].By, name):
			taken++
			continue
		case theirs >= wire.MaxBrought, at < 0 && len(*list) >= Most:
			refused++
			continue
		case at < 0:
			*list = append(*list, wire.Brought{Addr: hostport.At(addr), Name: brief(one.Name), By: []string{name}})
		default:
			known := &(*list)[at]
			known.By = append(slices.Clip(known.By), name) // views share the old one
		}
		taken, theirs = taken+1, theirs+1
	}
	return taken, refused
}

// isSameAs reports whether lists say the same as others in any order.
func (l *Lists) isSameAs(other Lists) bool {
	entries := func(list []wire.Brought) (entries []string) {
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
func (l *Lists) change(keep func(*wire.Brought) bool) {
	for _, list := range []*[]wire.Brought{&l.state.Favourites, &l.state.Hidden} {
		var kept []wire.Brought
		for _, one := range *list {
			if keep(&one) {
				kept = append(kept, one)
			}
		}
		*list = kept
	}
}

// Withdraw takes somebody's servers back.
func (l *Lists) Withdraw(name string) { l.withdraw(func(by string) bool { return by == name }) }

func (l *Lists) withdraw(is func(name string) bool) {
	l.change(func(o *wire.Brought) bool {
		o.By = slices.DeleteFunc(slices.Clone(o.By), is)
		return len(o.By) > 0
	})
}

// Forget takes somebody's servers under any of their names back, letter case apart. It forgets the
// owner of the names.
func (l *Lists) Forget(names ...string) {
	isTheirs := func(by string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(by, name) })
	}
	l.withdraw(isTheirs)
	l.release(isTheirs)
}

// Rename gives somebody another name.
func (l *Lists) Rename(from, to string) {
	l.change(func(o *wire.Brought) bool {
		if at := slices.Index(o.By, from); at >= 0 {
			o.By = slices.Clone(o.By)
			o.By[at] = to
		}
		return true
	})
}

// releaseName leaves the entries under a name to nobody who is here. The next person of that name
// cannot take them back, and does not answer for them.
func (l *Lists) releaseName(name string) {
	l.change(func(o *wire.Brought) bool {
		if at := slices.Index(o.By, name); at >= 0 {
			o.By = slices.Clone(o.By)
			if slices.Contains(o.By, Nobody) {
				o.By = slices.Delete(o.By, at, at+1)
			} else {
				o.By[at] = Nobody
			}
		}
		return true
	})
}

// Leave notes the owner of a name that becomes free, by every credential that may bring that person
// back.
func (l *Lists) Leave(name string, credentials ...string) {
	left, names := map[string]string{}, map[string]bool{}
	for whose, name := range l.state.Left {
		if l.hasName(name) { // or all their servers have been struck off since
			left[whose], names[name] = name, true
		}
	}
	if len(names) >= mostLeft && !names[name] {
		l.releaseName(name)
	}
	for _, credential := range credentials {
		if credential != "" && l.hasName(name) {
			left[credential] = name
		}
	}
	l.state.Left = left
}

// hasName reports whether something in the lists stands under a name.
func (l *Lists) hasName(name string) bool {
	isTheirs := func(o wire.Brought) bool { return slices.Contains(o.By, name) }
	return slices.ContainsFunc(l.state.Favourites, isTheirs) || slices.ContainsFunc(l.state.Hidden, isTheirs)
}

// Knows reports whether a credential belongs to somebody who left.
func (l *Lists) Knows(credential string) bool {
	return credential != "" && l.state.Left[credential] != ""
}

// Come says that somebody takes a free name. The entries under it stay with the person who had it. A
// person who had another name gets their entries under the new one. The credential may be empty.
func (l *Lists) Come(name, credential string) {
	was := ""
	if credential != "" {
		was = l.state.Left[credential]
	}
	if was != name {
		l.releaseName(name)
	}
	if was != "" {
		l.Rename(was, name)
	}
	l.release(func(left string) bool { return left == was || left == name })
}

// release forgets the owners of some names.
func (l *Lists) release(is func(name string) bool) {
	l.state.Left = maps.Clone(l.state.Left)
	maps.DeleteFunc(l.state.Left, func(_, name string) bool { return is(name) })
}

// Hide adds a server that the organiser refuses to play on, whatever others say of it. It needs a
// place that players' own entries leave free.
func (l *Lists) Hide(addr netip.AddrPort, title, organiser string) error {
	if most := Most + wire.MaxBrought; len(l.state.Hidden) >= most {
		return fmt.Errorf("a room hides %d servers at most: take some off the list", most)
	}
	l.Drop(addr)
	entry := wire.Brought{Addr: hostport.At(addr), Name: brief(title), By: []string{organiser}}
	l.state.Hidden = append(slices.Clip(l.state.Hidden), entry)
	return nil
}

// Drop takes a server off both lists, and reports whether it was there.
func (l *Lists) Drop(addr netip.AddrPort) (was bool) {
	l.change(func(o *wire.Brought) bool {
		was = was || o.Addr.AddrPort == addr
		return o.Addr.AddrPort != addr
	})
	return was
}

// Block is [Lists.Drop] for good: nobody brings the server again.
func (l *Lists) Block(addr netip.AddrPort) (was bool) {
	if was = l.Drop(addr); was {
		l.state.Struck = append(slices.Clip(l.state.Struck), addr)
		l.state.Struck = l.state.Struck[max(0, len(l.state.Struck)-mostStruck):]
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

// Hidden returns the people who refuse to play on each server. If that is more than half of a list,
// only the organiser's word counts, because one player could otherwise keep all from playing.
func (l *Lists) Hidden(list []discovery.Server, organiser string) (hidden []selection.Veto) {
	onlyTheirs := false
	if 2*len(l.state.Hidden) > len(list) {
		listed := 0
		for i := range list {
			if slices.ContainsFunc(l.state.Hidden, func(o wire.Brought) bool {
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
				hidden = append(hidden, selection.Veto{Player: by, Server: one.Addr.AddrPort})
			}
		}
	}
	return hidden
}

// View returns the lists as everybody may see them.
func (l *Lists) View() wire.Lists {
	return wire.Lists{
		Favourites: append([]wire.Brought{}, l.state.Favourites...), Hidden: append([]wire.Brought{}, l.state.Hidden...),
	}
}
