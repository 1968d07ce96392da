package room

import (
	"cmp"
	"errors"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/people"
	"muster/host/room/sides"
	"muster/host/wire"
)

// Listing waits for the server list.
type Listing struct {
	base
	// Told says that people were told of a slow list.
	Told bool `json:",omitempty"`
	// Awaits says that the organiser's program will give its list again.
	Awaits bool `json:",omitempty"`
	// list is the list once it has come. Players' programs may still look around their networks.
	list *Listed
}

func (*Listing) traits() traits {
	return traits{name: wire.PhaseListing, sides: sides.Joining}
}

func (*Listing) refuseLongLook(*Room) error { return nil }

func (*Listing) joined(r *Room, player people.ID) { r.out.lookAround(&r.parts, player) }

func (l *Listing) lookedAround(r *Room, _ people.ID) { l.goOn(r) }

func (l *Listing) listed(r *Room, list Listed) {
	l.list = &list
	l.goOn(r)
}

func (l *Listing) supplied(r *Room) {
	if l.Awaits {
		l.fetch(r)
	}
}

func (l *Listing) resume(r *Room) {
	if !l.Awaits {
		l.fetch(r)
	}
}

// begin asks for the server list.
func (l *Listing) begin(r *Room) {
	l.Awaits = r.source.Awaits(r.parts.Settings, r.opened, r.wall)
	r.enter(l)
	r.outage.Begin()
	if !l.Awaits {
		l.fetch(r)
	}
	for _, player := range r.parts.Attendance.Players() {
		r.out.lookAround(&r.parts, player)
	}
}

func (l *Listing) tick(r *Room) {
	waited := r.now.Sub(r.since)
	if note, is := r.source.IsOverdue(waited); is && l.Awaits {
		r.parts.Settings.Renews, r.out.mustSave = false, true
		r.out.say(note)
		l.fetch(r)
	}
	if note := listing.Slow(waited); !note.IsZero() && !l.Told && l.list == nil {
		l.Told = true
		r.out.say(note)
	}
	l.goOn(r)
}

// fetch asks for the list, and waits for the organiser's program no longer. A list that came before
// counts no longer, as after a restart.
func (l *Listing) fetch(r *Room) {
	l.Awaits, l.list = false, nil
	query, err := r.source.Query(r.parts.Settings, r.parts.Lists.Ours())
	if err != nil {
		r.fail(false, wire.Told(err))
		return
	}
	r.out.emit(Fetch{r.parts.Settings.Game, query.Servers, query.Also})
}

// goOn begins to measure, once the list has come and all programs have looked around.
func (l *Listing) goOn(r *Room) {
	g := &r.parts
	if l.list == nil || g.Nearby.IsLooking("") || r.out.lookBeyond(g, g.Attendance.Players(), l.list.Local) {
		return
	}
	l.list.begin(r)
}

// Listed is the server list that was asked for.
type Listed struct {
	// List is the topology of a list that [Shared] made, which all rooms may share.
	List *topology.Tree
	// Kept is the hash of the list if the host keeps it apart from its rooms, or empty.
	Kept string
	// Local are its servers on the host's own networks.
	Local []LocalServer
	// Said has the list's facts about its servers.
	Said discovery.Said
	// Gap is how long a server of the list rests before it answers an address again, 0 if unknown.
	Gap time.Duration
	// Note is a note on the list, such as on its age. It may be empty.
	Note sentence.Sentence
	// Err is why there is no list.
	Err error
}

// Shared returns a list as all members of a room have it, including the hidden local servers; see
// [listing.Shared].
func Shared(servers []discovery.Server, local []LocalServer) []discovery.Server {
	return listing.Shared(servers, nearby.Hidden(local))
}

func (in Listed) step(r *Room) error {
	r.phase.listed(r, in)
	return nil
}

// begin starts the measuring of the list, and of the servers on players' own networks.
func (in Listed) begin(r *Room) {
	g := &r.parts
	found, note, err := g.Begin(facts.List{
		Tree: in.List, Kept: in.Kept, Err: in.Err, Local: in.Local, Said: in.Said, Gap: in.Gap,
	}, r.clocks())
	if err != nil {
		r.fail(true, wire.Told(err))
		return
	}
	coordinating := g.Settings.Strategy == wire.Coordinated
	if coordinating {
		r.enter(&Coordinating{})
	} else {
		r.enter(&Measuring{})
	}
	r.out.say(sentence.Of("room.listed", "n", len(g.Servers.List)))
	r.out.say(cmp.Or(note, in.Note))
	r.out.say(found...)
	players := r.withoutPages()
	if coordinating {
		r.out.recall(g, players...)
	}
	if g.Nearby.HasTwoAddresses() {
		for _, player := range players {
			r.out.brief(&r.parts, player)
		}
	} else {
		r.out.emit(Send{Message: wire.List{Round: g.Number, Servers: g.Servers.List}})
		for _, player := range players {
			g.Attendance.Brief(player, g.Number)
		}
	}
	g.Attendance.Await(r.now, players...)
	for _, player := range players {
		g.Evidence[player].Share(!coordinating && len(r.facts.NATGroup(player)) > 1)
		r.measure(player)
	}
	if !coordinating {
		r.out.ask(r.parts.Number, r.probing.Share(r.facts, r.moment()))
	}
}

// withoutPages returns the players with programs, and leaves the others out of the round: they come along, and count
// by estimates.
func (r *Room) withoutPages() []people.ID {
	g := &r.parts
	pages := people.Filtered(g.Attendance.Players(), g.Roster.IsBrowser)
	g.Attendance.LeaveOut(attendance.Browsing, pages...)
	g.CountPages(pages)
	return people.Without(g.Attendance.Players(), pages...)
}

// Supply gives the room the organiser's own list again. The organiser's program does that
// when each round begins. Kept is as in [OwnKept].
type Supply struct {
	Game    string
	Servers []netip.AddrPort
	Kept    string
}

func (Supply) steers() {}

func (a Supply) do(r *Room, _ caller) error {
	if err := r.source.Supply(r.parts.Settings, a.Game, a.Servers, a.Kept, r.wall); err != nil {
		return err
	}
	r.parts.Settings.Servers, r.parts.Settings.Renews, r.out.mustSave = a.Servers, true, true
	r.phase.supplied(r)
	return nil
}

// OwnKept says that the store has the organiser's own list under a hash. The room is saved
// without the list from then on.
type OwnKept struct{ Kept string }

func (in OwnKept) step(r *Room) error {
	r.source.Keep(r.parts.Settings, in.Kept)
	return nil
}

// Started gives the address of a running game server that the organiser's program has started. The
// room goes there in a round of its own, in which everyone measures the server like any other. The
// zero address says that the server no longer runs.
type Started struct {
	Game string            `json:"game"`
	Addr hostport.AddrPort `json:"addr"`
	// Known says that the host knows the game. A room without one takes it.
	Known bool `json:"-"`
	// Public says that the host is open to everybody. Such a host allows no private addresses.
	Public bool `json:"-"`
}

func (Started) steers() {}

func (a Started) do(r *Room, _ caller) error {
	if !a.Addr.IsValid() {
		r.source.Stop()
		return nil
	}
	settings := r.parts.Settings
	if settings.Game == "" {
		if !a.Known {
			return wire.Refuse(wire.ReasonAction, "refused.game-none", "game", a.Game)
		}
		settings.Game = a.Game
	}
	note, err := r.source.Start(settings, a.Game, a.Addr.AddrPort, a.Public, r.phase.traits().isBetween)
	if err != nil {
		return err
	}
	r.parts.Settings.Game = settings.Game
	r.phase.started(r, r.source.State().Started, note)
	return nil
}

// The actions on the lists.
type (
	// Bring has the servers that somebody brings on the page. They replace the person's earlier
	// ones.
	Bring struct {
		Favourites []wire.Brought `json:"favourites"`
		Hidden     []wire.Brought `json:"hidden"`
		// Adds says that the earlier ones stay.
		Adds bool `json:"adds"`
	}
	// Hide is the organiser's order to avoid a server, or to allow it again.
	Hide struct {
		Addr   hostport.AddrPort `json:"addr"`
		Hidden bool              `json:"hidden"`
	}
	// Strike takes a server off everybody's lists.
	Strike struct {
		Addr hostport.AddrPort `json:"addr"`
	}
)

func (Hide) steers()   {}
func (Strike) steers() {}

// bring takes the servers that a player's program brings with the player's consent.
func (in Hear) bring(r *Room, m wire.Bring) {
	if m.Game == r.parts.Settings.Game { // else it is for an earlier game
		Bring{Favourites: m.Favourites, Hidden: m.Hidden}.take(r, in.Player, r.parts.Origins.Of(in.Player))
	}
}

func (a Bring) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody() && !by.IsOrganiser:
		return errNickname
	case !by.IsPlayer && !by.IsOrganiser:
		return ballot.ErrGuest
	}
	if err := (wire.Bring{Favourites: a.Favourites, Hidden: a.Hidden}).Check(); err != nil {
		return err
	}
	a.take(r, cmp.Or(by.ID, r.facts.Organiser()), r.parts.Origins.Of(by.ID))
	return nil
}

// take puts somebody's servers into the lists.
func (a Bring) take(r *Room, person people.ID, from Origin) {
	taken := r.parts.Lists.Bring(person, from.Reach(), a.Favourites, a.Hidden, a.Adds)
	for _, line := range taken.Lines(person) {
		if !r.out.journal.Says(line.Key, person) {
			r.out.say(line)
		}
	}
	// A running search ignores the new lists, because a program that brings lists again and again
	// would make everybody measure more. The choice uses them.
	r.out.mustSave = r.out.mustSave || taken.IsNew
}

func (a Hide) do(r *Room, _ caller) error {
	addr, lists := discovery.Canonical(a.Addr.AddrPort), r.parts.Lists
	what, title := r.facts.Called(addr), ""
	if r.facts.IndexOf(addr) >= 0 {
		title = what
	}
	switch {
	case !addr.IsValid():
		return errors.New("which server is to be hidden is missing")
	case !a.Hidden && !r.parts.Lists.Drop(addr):
		return nil
	case !a.Hidden:
		r.out.say(sentence.Of("room.hides-no-more", "server", what))
		r.endSearch()
		return nil
	}
	if err := r.parts.Lists.Hide(addr, title, r.facts.Organiser()); err != nil {
		return err
	}
	note, other, err := decision.AfterHiding(r.facts, addr, r.phase.traits().isVoting)
	if err != nil {
		r.parts.Lists = lists
		return err
	}
	r.out.say(note)
	if other != nil {
		r.rechoose(*other)
	}
	r.endSearch()
	return nil
}

func (a Strike) do(r *Room, _ caller) error {
	addr := discovery.Canonical(a.Addr.AddrPort)
	if !r.parts.Lists.Block(addr) {
		return wire.Refuse(wire.ReasonAction, "refused.on-no-list")
	}
	r.out.say(sentence.Of("room.struck", "server", addr))
	r.endSearch()
	return nil
}

// LocalServer is [nearby.Server].
type LocalServer = nearby.Server
