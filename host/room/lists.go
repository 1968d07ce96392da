package room

import (
	"errors"
	"net/netip"

	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/wire"
)

// The actions on the lists.
type (
	// Bring is what somebody brings on the page, in place of what they brought before.
	Bring struct {
		Favourites []wire.Brought `json:"favourites"`
		Hidden     []wire.Brought `json:"hidden"`
		// Adds: to what they brought before.
		Adds bool `json:"adds"`
	}
	// Hide has the room never go to a server, or is the organiser's word that it may.
	Hide struct {
		Addr   netip.AddrPort `json:"addr"`
		Hidden bool           `json:"hidden"`
	}
	// Strike takes a server off the lists, whoever brought it.
	Strike struct {
		Addr netip.AddrPort `json:"addr"`
	}
)

func (Hide) steers()   {}
func (Strike) steers() {}

// bring takes what a player's program brings, with the player's consent.
func (in Hear) bring(r *Room, m wire.Bring) {
	if m.Game == r.group.Settings.Game { // or it is of a game that is over
		r.takes(in.Player, r.group.Origins.Of(in.Player), m.Favourites, m.Hidden, false)
	}
}

func (a Bring) do(r *Room, by caller) error {
	name := r.group.OrganiserName()
	switch {
	case !by.IsSomebody() && !by.IsOrganiser:
		return errNickname
	case !by.IsPlayer && !by.IsOrganiser:
		return ballot.ErrGuest
	case by.IsSomebody():
		name = by.Name
	}
	m := wire.Bring{Favourites: a.Favourites, Hidden: a.Hidden}
	if err := m.Check(); err != nil {
		return err
	}
	r.takes(name, r.group.Origins.Of(by.Name), m.Favourites, m.Hidden, a.Adds)
	return nil
}

// takes puts what somebody brings into the lists.
func (r *Room) takes(name string, from Origin, favourites, hidden []wire.Brought, adds bool) {
	taken := r.group.Lists.Bring(name, from.Reach(), favourites, hidden, adds)
	for _, line := range taken.Lines(name) {
		if !r.journal.Says(line.What) {
			r.note("%s", line.Text)
		}
	}
	// A search under way goes on as it is: else one program that brings lists time and
	// again would have everybody asked for more. They count at the choice.
	r.binds = r.binds || taken.IsNew
}

// relisted has what goes on take the lists as they are by now.
func (r *Room) relisted() {
	r.binds = true
	r.searchAnew()
}

// searchAnew makes the search forget what it looked for, as that is another thing now.
func (r *Room) searchAnew() {
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.probing.Forget()
	}
}

func (a Hide) do(r *Room, by caller) error {
	g := &r.group
	addr, before, name := discovery.Canonical(a.Addr), g.Lists, g.OrganiserName()
	what, title := g.Called(addr), ""
	if g.IndexOf(addr) >= 0 {
		title = what
	}
	switch {
	case !addr.IsValid():
		return errors.New("which server is to be hidden is missing")
	case !a.Hidden:
		if !g.Lists.Drop(addr) {
			return nil
		}
		r.note("%s may be played on again", what)
	default:
		if err := g.Lists.Hide(addr, title, name); err != nil {
			return err
		}
	}
	if a.Hidden && r.isVoting() {
		selected := g.Select(g.ChosenFor())
		if selected.Chosen == nil {
			g.Lists = before
			return errors.New("nothing would be left to play on")
		}
		r.note("%s hides %s", name, what)
		r.rechoose(selected)
	} else if a.Hidden {
		r.note("%s hides %s: it is not chosen any more", name, what)
	}
	r.relisted()
	return nil
}

func (a Strike) do(r *Room, _ caller) error {
	addr := discovery.Canonical(a.Addr)
	if !r.group.Lists.Strike(addr) {
		return errors.New("that server is on no list")
	}
	r.note("the organiser has taken %s off the room's lists", addr)
	r.relisted()
	return nil
}
