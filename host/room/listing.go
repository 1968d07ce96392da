package room

import (
	"cmp"
	"iter"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/evidence"
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
		r.settings.Renews, r.binds = false, true
		if note != "" {
			r.note("%s", note)
		}
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
	query, err := r.source.Query(r.settings, r.lists.Ours())
	if err != nil {
		r.fail(false, "%v", err)
		return
	}
	r.do(Fetch{r.settings.Game, query.Servers, query.Also})
}

// goOn begins to measure, once the list is there and all have looked around.
func (l *Listing) goOn(r *Room) {
	if l.came != nil && !r.round.nearby.IsLooking("") {
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
	var listed []discovery.Server
	if in.Err == nil {
		listed = in.List.List()
	}
	var found []LocalServer
	if r.settings.LookAround {
		found = r.round.nearby.Found(names(r.round.active()), r.settings.Game, listed, in.Local)
	}
	list, note, err := listing.Begin(listing.New(in.List, in.Kept), in.Err, nearby.Hidden(found))
	if err != nil {
		r.fail(true, "%v", err)
		return
	}
	r.round.list, r.round.hearsay, r.round.measuring = list, evidence.Hearsay{}, r.now
	r.round.servers, r.round.gap = r.round.hearsay.About(list.Servers(in.Said, r.now)), in.Gap
	servers, titles := r.round.servers.List, map[int]string{}
	for _, s := range r.round.nearby.Place(append(in.Local[:len(in.Local):len(in.Local)], found...), servers) {
		r.said("", s.Server, s.Info)
		titles[s.Server] = r.round.servers.Called(s.Server)
	}
	measuring := &Measuring{}
	if r.strategy() == wire.Coordinated {
		r.enter(&Coordinating{})
	} else {
		r.enter(measuring)
	}
	r.note("%s listed", discovery.ServersInWords(len(servers)))
	if note := cmp.Or(note, in.Note); note != "" {
		r.note("%s", note)
	}
	for _, note := range r.round.nearby.Notes(names(r.round.players), titles) {
		r.note("%s", note)
	}
	if r.round.nearby.HasTwoAddresses() {
		for _, p := range r.round.players {
			r.send(p, r.round.listFor(p))
		}
	} else {
		r.do(Send{Message: wire.List{Round: r.round.number, Servers: servers}})
	}
	r.round.attendance.Await(r.now, names(r.round.players)...)
	for _, p := range r.round.players {
		p.shares = r.phase == measuring && len(r.round.natGroupOf(p)) > 1
		r.measure(p)
	}
	if r.phase == measuring {
		measuring.shareOut(r)
	}
}

// forgetSaid keeps no more of the list's word than was of use.
func (r *round) forgetSaid() {
	r.servers = listing.Trim(r.servers, r.asked(), r.measuring)
	r.choice.ForgetSaid(r.servers.Said)
}

// asked returns the servers that somebody has asked, one perhaps several times.
func (r *round) asked() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, p := range r.players {
			for _, probe := range p.witness.Probes() { // also what does not count
				if !yield(probe.Server) {
					return
				}
			}
			for server := range p.witness.Servers() {
				if !yield(server) {
					return
				}
			}
		}
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
	if err := r.source.Supply(r.settings, a.Game, a.Servers, a.Kept, r.now); err != nil {
		return err
	}
	r.settings.Servers, r.settings.Renews, r.binds = a.Servers, true, true
	if phase, is := r.phase.(*Listing); is && phase.Awaits {
		phase.fetch(r)
	}
	return nil
}

// OwnKept says by which hash the store has the organiser's own list, as it is: the room is
// saved without it from then on.
type OwnKept struct{ Kept string }

func (in OwnKept) step(r *Room) error {
	r.source.Keep(r.settings, in.Kept)
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
	note, err := r.source.Start(r.settings, a.Game, a.Addr, a.Public, isBetween)
	if err != nil {
		return err
	}
	r.note("%s", note)
	r.nextRound()
	return nil
}
