package room

import (
	"cmp"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/group"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/wire"
)

// Listing waits for the server list.
type Listing struct {
	// Told: people know that it is slow to come.
	Told bool `json:",omitempty"`
	// Awaits: the organiser's program gives the list anew.
	Awaits bool `json:",omitempty"`
	// came is the list, which waits for what players find on their own networks.
	came *Listed
}

func (*Listing) stage() wire.Stage { return wire.Listing }
func (*Listing) proceed(*Room)     {}

func (l *Listing) tick(r *Room) {
	waited := r.now.Sub(r.since)
	if note, is := r.source.IsOverdue(waited); is && l.Awaits {
		r.group.Settings.Renews, r.binds = false, true
		r.tell(note)
		l.fetch(r)
	}
	if note := listing.Slow(waited); note != "" && !l.Told && l.came == nil {
		l.Told = true
		r.note("%s", note)
	}
	l.goOn(r)
}

// fetch gets the list, whatever was waited for.
func (l *Listing) fetch(r *Room) {
	l.Awaits = false
	query, err := r.source.Query(r.group.Settings, r.group.Lists.Ours())
	if err != nil {
		r.fail(false, "%v", err)
		return
	}
	r.do(Fetch{r.group.Settings.Game, query.Servers, query.Also})
}

// goOn begins to measure, once the list is there and all have looked around.
func (l *Listing) goOn(r *Room) {
	if l.came != nil && !r.group.Nearby.IsLooking("") {
		l.came.begin(r)
	}
}

// Listed is the server list that was asked for.
type Listed struct {
	// List is the topology of a list that [Shared] made, which all rooms may share.
	List *topology.Tree
	// Kept is the hash by which the host keeps the list apart from the rooms that have
	// it; empty if it does not.
	Kept string
	// Local are those of its servers that are on the host's own networks.
	Local []LocalServer
	// Said is what the list says of its servers.
	Said discovery.Said
	// Gap is how long a server of the list needs peace before it answers an address again, 0
	// if that is not known.
	Gap time.Duration
	// Note is what people should know of it, such as its age; empty is nothing.
	Note string
	// Err is why there is no list.
	Err error
}

// Shared is a list as everyone in a room has it, with the hidden ones of the local servers; see
// [listing.Shared].
func Shared(servers []discovery.Server, local []LocalServer) []discovery.Server {
	return listing.Shared(servers, nearby.Hidden(local))
}

func (in Listed) step(r *Room) error {
	if phase, is := r.phase.(*Listing); is { // or nobody waits for it
		phase.came = &in
		phase.goOn(r)
	}
	return nil
}

// begin begins the round with the list, and with what players found on their own networks. Then
// everyone measures it.
func (in Listed) begin(r *Room) {
	g := &r.group
	found, note, err := g.Begin(group.List{
		Tree: in.List, Kept: in.Kept, Err: in.Err, Local: in.Local, Said: in.Said, Gap: in.Gap,
	}, r.now)
	if err != nil {
		r.fail(true, "%v", err)
		return
	}
	_, coordinating := r.measuring()
	if coordinating {
		r.enter(&Coordinating{})
	} else {
		r.enter(&Measuring{})
	}
	r.note("%s listed", discovery.ServersInWords(len(g.Servers.List)))
	r.tell(cmp.Or(note, in.Note))
	r.tell(found...)
	players := g.Attendance.Players()
	if g.Nearby.HasTwoAddresses() {
		for _, player := range players {
			r.send(player, g.ListFor(player))
		}
	} else {
		r.do(Send{Message: wire.List{Round: g.Number, Servers: g.Servers.List}})
	}
	g.Attendance.Await(r.now, players...)
	for _, player := range players {
		g.Evidence[player].Share(!coordinating && len(g.Mates(player)) > 1)
		r.measure(player)
	}
	if !coordinating {
		r.ask(r.probing.Share(g, r.moment()))
	}
}

// Supply gives the room the organiser's own list anew. The organiser's program does that
// as each round begins. Kept is as in [OwnKept].
type Supply struct {
	Game    string
	Servers []netip.AddrPort
	Kept    string
}

func (Supply) steers() {}

func (a Supply) do(r *Room, _ caller) error {
	if err := r.source.Supply(r.group.Settings, a.Game, a.Servers, a.Kept, r.now); err != nil {
		return err
	}
	r.group.Settings.Servers, r.group.Settings.Renews, r.binds = a.Servers, true, true
	if phase, is := r.phase.(*Listing); is && phase.Awaits {
		phase.fetch(r)
	}
	return nil
}

// OwnKept says by which hash the store has the organiser's own list, as it is: the room is
// saved without it from then on.
type OwnKept struct{ Kept string }

func (in OwnKept) step(r *Room) error {
	r.source.Keep(r.group.Settings, in.Kept)
	return nil
}

// Started says where the organiser's program has started a game server, which answers by
// now: the room goes there in a round of its own, in which everyone measures it and looks
// at it as at any other. The zero address says that it runs no more.
type Started struct {
	Game string         `json:"game"`
	Addr netip.AddrPort `json:"addr"`
	// Public: the host is for everybody, and has nobody asked in private networks.
	Public bool `json:"-"`
}

func (Started) steers() {}

func (a Started) do(r *Room, _ caller) error {
	if !a.Addr.IsValid() {
		r.source.Stop()
		return nil
	}
	isBetween := false
	switch r.phase.(type) {
	case *Failed, *Voting, *Launching:
		isBetween = true
	}
	note, err := r.source.Start(r.group.Settings, a.Game, a.Addr, a.Public, isBetween)
	if err != nil {
		return err
	}
	r.note("%s", note)
	r.nextRound()
	return nil
}
