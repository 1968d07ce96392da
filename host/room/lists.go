package room

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/wire"
	"muster/selection"
)

// lists are the servers that people have brought into the room: their favourites, which
// are the group's own, and those that they never want to see. They are of the room's game,
// and stay when a round is over, and when who brought them has left.
type lists struct {
	Favourites []wire.Brought `json:"favourites,omitempty"`
	Hidden     []wire.Brought `json:"hidden,omitempty"`
	// Struck are those that the organiser has taken off, however often somebody's program
	// brings them again.
	Struck []netip.AddrPort `json:"struck,omitempty"`
	// Left are the names that stand in the lists and are free now, by secrets derived from
	// what their holders have: who comes back with that has them again, and no other who
	// takes the name. (Rooms saved before have "left", the other way round.)
	Left map[string]string `json:"gone,omitempty"`
}

const (
	// mostBrought is how many servers each list of a room takes, and mostStruck how many
	// the organiser can take off it: everybody is told of all.
	mostBrought = 400
	mostStruck  = 1000
	// mostLeft is of how many names that are free the room knows whose they were: what was
	// brought under more is nobody's. As many come and go as like, and each would stay in the
	// lists.
	mostLeft = maxPlayers
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
func (Hear) bring(r *Room, p *player, m wire.Bring) {
	if m.Game == r.settings.Game { // or it is of a game that is over
		r.takes(p.name, p.origin, m.Favourites, m.Hidden, false)
	}
}

// organiserName is by which name the organiser's own lists stand.
func (r *Room) organiserName() string {
	for p := range r.everyone() {
		if p.organiser {
			return p.name
		}
	}
	return "the organiser"
}

func (a Bring) do(r *Room, by caller) error {
	name := r.organiserName()
	var origin Origin // nobody knows of most
	switch {
	case by.person == nil && !by.organiser:
		return errNickname
	case !by.isPlayer && !by.organiser:
		return ballot.ErrGuest
	case by.isPlayer:
		name, origin = by.name, r.round.player(by.name).origin
	case by.person != nil:
		name, origin = by.name, r.guests.named(by.name).origin
	}
	m := wire.Bring{Favourites: a.Favourites, Hidden: a.Hidden}
	if err := m.Check(); err != nil {
		return err
	}
	r.takes(name, origin, m.Favourites, m.Hidden, a.Adds)
	return nil
}

// takes puts what somebody brings into the lists, all but what may be any machine where
// other players are.
func (r *Room) takes(name string, from Origin, favourites, hidden []wire.Brought, adds bool) {
	l := &r.lists
	before := *l
	if !adds {
		l.withdraw(name)
	}
	passed := 0
	put := func(list *[]wire.Brought, brought []wire.Brought) (n int) {
		theirs := 0
		for i := range *list {
			theirs += count(slices.Contains((*list)[i].By, name))
		}
		for _, one := range brought {
			one.Addr, one.Name = discovery.Canonical(one.Addr), brief(one.Name)
			at := slices.IndexFunc(*list, func(o wire.Brought) bool { return o.Addr == one.Addr })
			switch {
			case discovery.ReachOf(one.Addr.Addr()) < from.reach(), slices.Contains(l.Struck, one.Addr):
				passed++
			case at >= 0 && slices.Contains((*list)[at].By, name):
				n++
			case theirs >= wire.MaxBrought, at < 0 && len(*list) >= mostBrought:
				passed++
			case at < 0:
				*list = append(*list, wire.Brought{Addr: one.Addr, Name: one.Name, By: []string{name}})
				n, theirs = n+1, theirs+1
			default:
				known := &(*list)[at]
				known.By = append(slices.Clip(known.By), name) // others may be shown the old one
				n, theirs = n+1, theirs+1
			}
		}
		return n
	}
	// they are copied, as pages may be shown the old ones
	l.Favourites, l.Hidden = slices.Clone(l.Favourites), slices.Clone(l.Hidden)
	likes, hides := put(&l.Favourites, favourites), put(&l.Hidden, hidden)
	told := func(what string) bool { // whoever changes their lists time and again fills no log
		return slices.ContainsFunc(r.log, func(n wire.Note) bool { return strings.Contains(n.Text, what) })
	}
	if what := name + " brings "; likes+hides > 0 && !told(what) {
		text := what + serversInWords(likes) + " that the room may call its own"
		if hides > 0 {
			text += fmt.Sprintf(", and %d never to play on", hides)
		}
		r.note("%s", text)
	}
	if what := " of " + name + " cannot be shared"; passed > 0 && !told(what) {
		r.note("%s%s: on a network of their own, taken off by the organiser, or beyond the %d of a player and the %d that a room keeps", serversInWords(passed), what, wire.MaxBrought, mostBrought)
	}
	if l.says(before) {
		*l = before // nothing is new, and people are shown them in the order of before
		return
	}
	// A search under way goes on as it is: else one program that brings lists time and
	// again would have everybody asked for more. They count at the choice.
	r.binds = true
}

// says reports whether lists say the same as others, whatever their order.
func (l *lists) says(other lists) bool {
	entries := func(list []wire.Brought) (entries []string) {
		for _, one := range list {
			entries = append(entries, fmt.Sprintf("%v %q %q", one.Addr, one.Name, slices.Sorted(slices.Values(one.By))))
		}
		return slices.Sorted(slices.Values(entries))
	}
	return slices.Equal(entries(l.Favourites), entries(other.Favourites)) && slices.Equal(entries(l.Hidden), entries(other.Hidden))
}

// longestTitle is how much of a server's name the lists keep, in bytes.
const longestTitle = 64

func brief(name string) string {
	name = discovery.CleanText(name)
	return strings.ToValidUTF8(name[:min(len(name), longestTitle)], "")
}

// reach is that which a server must have for others to be sent to it by somebody there:
// who is on the internet names none of a local network.
func (o Origin) reach() discovery.Reach {
	if !o.Addr.IsValid() && !o.Home && !o.Near.IsValid() {
		return discovery.InternetReach
	}
	at := o.Addr
	if o.Near.IsValid() {
		at = o.Near
	}
	return max(discovery.ReachOf(at), discovery.MachineReach)
}

// relisted has what goes on take the lists as they are by now.
func (r *Room) relisted() {
	r.binds = true
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.round.search = nil // it looked for something else
	}
}

// change makes each list another, of those that keep reports true of.
func (l *lists) change(keep func(*wire.Brought) bool) {
	for _, list := range []*[]wire.Brought{&l.Favourites, &l.Hidden} {
		var kept []wire.Brought
		for _, one := range *list {
			if keep(&one) {
				kept = append(kept, one)
			}
		}
		*list = kept
	}
}

// withdraw takes back what somebody brought.
func (l *lists) withdraw(name string) {
	l.change(func(o *wire.Brought) bool {
		o.By = slices.DeleteFunc(slices.Clone(o.By), func(by string) bool { return by == name })
		return len(o.By) > 0
	})
}

// rename calls somebody otherwise.
func (l *lists) rename(from, to string) {
	l.change(func(o *wire.Brought) bool {
		if at := slices.Index(o.By, from); at >= 0 {
			o.By = slices.Clone(o.By)
			o.By[at] = to
		}
		return true
	})
}

// nobodyNow stands for those who brought a server under a name that is somebody else's by now.
// It is longer than any nickname, so that nobody can take it.
const nobodyNow = "somebody who was in this room before"

// disown leaves what was brought under a name with nobody who is here: who takes that name
// now cannot take it back, and does not answer for it.
func (l *lists) disown(name string) {
	l.change(func(o *wire.Brought) bool {
		if at := slices.Index(o.By, name); at >= 0 {
			o.By = slices.Clone(o.By)
			if slices.Contains(o.By, nobodyNow) {
				o.By = slices.Delete(o.By, at, at+1)
			} else {
				o.By[at] = nobodyNow
			}
		}
		return true
	})
}

// leaves notes whose a name was that becomes free, by all that they may come back with: none
// of a name under which nothing stands.
func (l *lists) leaves(name string, credentials ...string) {
	left, names := map[string]string{}, map[string]bool{}
	for whose, name := range l.Left {
		if l.names(name) { // or what they brought has been struck off since
			left[whose], names[name] = name, true
		}
	}
	if len(names) >= mostLeft && !names[name] {
		l.disown(name)
	}
	for _, credential := range credentials {
		if credential != "" && l.names(name) {
			left[derived("lists", credential)] = name
		}
	}
	l.Left = left
}

// names reports whether something in the lists stands under a name.
func (l *lists) names(name string) bool {
	isTheirs := func(o wire.Brought) bool { return slices.Contains(o.By, name) }
	return slices.ContainsFunc(l.Favourites, isTheirs) || slices.ContainsFunc(l.Hidden, isTheirs)
}

// knows reports whether it is known whose a credential was.
func (l *lists) knows(credential string) bool {
	return credential != "" && l.Left[derived("lists", credential)] != ""
}

// comes gives a free name to somebody, and what stands under it only to whose it was. Who
// comes by another name than before has theirs by that one.
func (l *lists) comes(name, credential string) {
	was := l.Left[derived("lists", credential)]
	if was != name {
		l.disown(name)
	}
	if was != "" {
		l.rename(was, name)
	}
	l.forget(func(left string) bool { return left == was || left == name })
}

// forget has it unknown whose some names were.
func (l *lists) forget(is func(name string) bool) {
	l.Left = maps.Clone(l.Left)
	maps.DeleteFunc(l.Left, func(_, name string) bool { return is(name) })
}

// strike takes a server off both lists.
func (l *lists) strike(addr netip.AddrPort) (was bool) {
	l.change(func(o *wire.Brought) bool {
		was = was || o.Addr == addr
		return o.Addr != addr
	})
	return was
}

// ours are the group's own servers, and never those that nobody is to see.
func (l *lists) ours() (ours []netip.AddrPort) {
	for _, one := range l.Favourites {
		ours = append(ours, one.Addr)
	}
	return ours
}

// hidden says who never wants to play where, of a list. Where that is more than half of the
// list only the organiser's word counts: else one player could keep all from playing.
func (l *lists) hidden(list []discovery.Server, organiser string) (hidden []selection.Veto) {
	onlyTheirs := false
	if 2*len(l.Hidden) > len(list) {
		listed := 0
		for i := range list {
			listed += count(slices.ContainsFunc(l.Hidden, func(o wire.Brought) bool {
				return o.Addr == list[i].Addr && !slices.Contains(o.By, organiser)
			}))
		}
		onlyTheirs = 2*listed > len(list)
	}
	for _, one := range l.Hidden {
		for _, by := range one.By {
			if onlyTheirs && by != organiser {
				continue
			}
			hidden = append(hidden, selection.Veto{Player: by, Server: one.Addr})
		}
	}
	return hidden
}

// view is what everybody may see of the lists.
func (l *lists) view() wire.Lists {
	return wire.Lists{Favourites: append([]wire.Brought{}, l.Favourites...), Hidden: append([]wire.Brought{}, l.Hidden...)}
}

func (a Hide) do(r *Room, by caller) error {
	addr, before, name := discovery.Canonical(a.Addr), r.lists, r.organiserName()
	what := addr.String()
	server := r.round.indexOf(addr)
	if server >= 0 {
		what = r.round.serverName(server)
	}
	switch {
	case !addr.IsValid():
		return errors.New("which server is to be hidden is missing")
	case !a.Hidden:
		if !r.lists.strike(addr) {
			return nil
		}
		r.note("%s may be played on again", what)
	case len(r.lists.Hidden) >= mostBrought+wire.MaxBrought: // players' own leave the organiser room
		return fmt.Errorf("a room hides %d servers at most: take some off the list", mostBrought+wire.MaxBrought)
	default:
		if r.lists.strike(addr); server >= 0 {
			r.lists.Hidden = append(slices.Clip(r.lists.Hidden), wire.Brought{Addr: addr, Name: brief(r.round.vetoedName(addr)), By: []string{name}})
		} else {
			r.lists.Hidden = append(slices.Clip(r.lists.Hidden), wire.Brought{Addr: addr, By: []string{name}})
		}
	}
	if a.Hidden && r.isVoting() {
		selected := r.selectFor(r.round.chosenFor())
		if selected.Chosen == nil {
			r.lists = before
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
	if !r.lists.strike(addr) {
		return errors.New("that server is on no list")
	}
	r.lists.Struck = append(slices.Clip(r.lists.Struck), addr)
	r.lists.Struck = r.lists.Struck[max(0, len(r.lists.Struck)-mostStruck):]
	r.note("the organiser has taken %s off the room's lists", addr)
	r.relisted()
	return nil
}
