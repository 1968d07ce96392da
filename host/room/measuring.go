package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/nearby"
	"muster/host/room/outage"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
)

const (
	// slowestRate is the slowest probing, in servers a second, that a room
	// waits for.
	slowestRate = 100
	// measuringGrace comes on top of the time that the list itself takes.
	measuringGrace = time.Minute
)

// Gathering waits for the players.
type Gathering struct{}

func (*Gathering) stage() wire.Stage { return wire.Gathering }

// tick gives the places of players who are gone to others.
func (*Gathering) tick(r *Room) {
	for _, name := range r.round.attendance.Gone(r.now) {
		p := r.round.player(name)
		r.note("%s has been gone for %v: the place is free", name, attendance.GoneAfter)
		r.unseat(p, r.roster.Person(name).HasPage)
	}
}

func (*Gathering) proceed(r *Room) {
	if len(r.round.players) == 0 {
		r.note("nobody is here yet")
		return
	}
	r.list()
}

// Listing waits for the server list.
type Listing struct {
	// Told: people know that it is slow to come.
	Told bool `json:",omitempty"`
	// Awaits: the organiser's program gives the list anew.
	Awaits bool `json:",omitempty"`
	// came is the list, which waits for what players find on their own networks.
	came *Listed
}

// slowList is after how long people are told what they wait for.
const slowList = 5 * time.Second

func (*Listing) stage() wire.Stage { return wire.Listing }
func (*Listing) proceed(*Room)     {}

func (l *Listing) tick(r *Room) {
	l.await(r)
	if !l.Told && l.came == nil && r.now.Sub(r.since) >= slowList {
		l.Told = true
		r.note("the list of servers is slow to come: waiting for it")
	}
	l.goOn(r)
}

// goOn has everyone measure, once the list is there and all have looked around.
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
	// Note is what people should know of it, such as its age; empty is nothing.
	Note string
	// Err is why there is no list.
	Err error
}

// Shared is a list as everyone in a room has it: what cannot be asked or said
// on the wire is gone, each server stands in it once, in the order of
// [topology.Compare]. Neighbours share their markers then, and have nearly the
// same RTT. The hidden ones of the local servers are in it too.
func Shared(servers []discovery.Server, local []LocalServer) []discovery.Server {
	var usable []discovery.Server
	add := func(s discovery.Server) {
		if s = canonical(s); s.Addr.IsValid() && s.Addr.Port() != 0 {
			usable = append(usable, s)
		}
	}
	for _, s := range servers {
		add(s)
	}
	for _, addr := range nearby.Hidden(local) {
		add(discovery.Server{Addr: addr})
	}
	slices.SortFunc(usable, discovery.CompareAddr)
	usable = slices.CompactFunc(usable, func(a, b discovery.Server) bool { return a.Addr == b.Addr })
	usable = usable[:min(len(usable), discovery.MaxServers)]
	slices.SortFunc(usable, topology.Compare)
	return usable
}

// canonical is a server as [discovery.AppendList] can say it: a country of two
// capitals or none, and no AS of the numbers that its markers use.
func canonical(s discovery.Server) discovery.Server {
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const firstMarker = 0xff000000
	s.Addr = discovery.Canonical(s.Addr)
	s.Addr = netip.AddrPortFrom(s.Addr.Addr().WithZone(""), s.Addr.Port())
	if len(s.Country) != 2 || strings.Trim(s.Country, capitals) != "" {
		s.Country = ""
	}
	if s.ASN >= firstMarker {
		s.ASN = 0
	}
	return s
}

// step has everyone measure the list, as soon as all have looked around.
func (in Listed) step(r *Room) error {
	if listing, is := r.phase.(*Listing); is { // or nobody waits for it
		listing.came = &in
		listing.goOn(r)
	}
	return nil
}

// begin has everyone measure the list, and what players found on their own networks.
// Without a list that has to do: a LAN party may have no internet, and a game no master.
func (in Listed) begin(r *Room) {
	var listed []discovery.Server
	if in.Err == nil {
		listed = in.List.List()
	}
	var found []LocalServer
	if r.settings.LookAround {
		found = r.round.nearby.Found(names(r.round.active()), r.settings.Game, listed, in.Local)
	}
	if len(nearby.Hidden(found)) > 0 {
		if in.Err != nil {
			in.Note = fmt.Sprintf("only servers on players' own networks are listed: %v", in.Err)
		}
		in.List, in.Kept, in.Err = topology.New(Shared(listed, found)), "", nil
	}
	in.Local = append(slices.Clip(in.Local), found...)
	switch {
	case in.Err != nil:
		r.fail(true, "no server list: %v", in.Err)
		return
	case len(in.List.List()) == 0:
		r.fail(true, "the server list is empty")
		return
	}
	servers := in.List.List()
	r.round.topology, r.round.packed, r.round.kept = in.List, nil, in.Kept
	r.round.servers = selection.Servers{List: servers, Infos: map[int]*discovery.Info{}, Lone: map[int]bool{}}
	r.round.hearsay = evidence.Hearsay{}
	r.round.measuring = r.now
	r.round.take(in.Said)
	titles := map[int]string{}
	for _, s := range r.round.nearby.Place(in.Local, servers) {
		r.said("", s.Server, s.Info)
		titles[s.Server] = r.round.servers.Called(s.Server)
	}
	measuring := &Measuring{}
	if r.strategy() == wire.Coordinated {
		r.enter(&Coordinating{})
	} else {
		r.enter(measuring)
	}
	r.note("%s listed", serversInWords(len(servers)))
	if in.Note != "" {
		r.note("%s", in.Note)
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

// seedFor is a seed of each player's own: all in one order would ask every server
// and address at the same moment.
func (r *Room) seedFor(p *player) uint64 {
	return r.tuning.Seed + uint64(r.round.number) + uint64(slices.Index(r.round.players, p))<<32
}

// strategy returns how the players measure this round's list. A saved room may still
// measure a short list whole: rooms did not search those before.
func (r *Room) strategy() string {
	_, coordinating := r.phase.(*Coordinating) // also where the organiser has everyone ask more
	_, measuring := r.phase.(*Measuring)
	switch {
	case coordinating:
		return wire.Coordinated
	case measuring && r.settings.Strategy == wire.Coordinated:
		return string(discovery.Conventional)
	}
	return r.settings.Strategy
}

// isMeasuring reports whether players measure, each on its own or as the host asks.
func (r *Room) isMeasuring() bool {
	return r.duty() == attendance.Measure
}

// measure starts a player, and gives back what is already known of it.
func (r *Room) measure(p *player) {
	var known []discovery.Result
	for _, hidden := range r.round.nearby.HiddenFrom(p.name) {
		known = append(known, discovery.Result{Server: hidden, State: discovery.Lost})
	}
	for server := range p.witness.Servers() {
		known = append(known, p.witness.At(server))
	}
	m := wire.Measure{Round: r.round.number, Game: r.settings.Game, Strategy: r.strategy(), Seed: r.seedFor(p), Known: len(known)}
	if n := len(r.settings.Limits); n > 0 {
		m.MaxRTT = discovery.Millis(r.settings.Limits[n-1])
	}
	if p.shares {
		m.Strategy = wire.Coordinated
	}
	if m.Strategy != wire.Coordinated {
		p.witness.AskAll(r.now)
	}
	m.Most = r.promise(p)
	r.send(p, m)
	p.briefed = r.round.number
	if len(known) > 0 {
		r.send(p, wire.Report{Round: r.round.number, Results: known})
	}
	// A search of a long list might pass the local servers over, and they could
	// hardly be nearer.
	var local []int
	for _, server := range r.round.nearby.Around(p.name) {
		if p.witness.IsUnprobed(server) {
			local = append(local, server)
		}
	}
	if _, coordinating := r.phase.(*Coordinating); coordinating && len(local) > 0 {
		r.ask(p, local)
	}
}

// Measuring has every player measure the list whole, or its part of it.
type Measuring struct{ groups *search.Groups }

func (*Measuring) stage() wire.Stage { return wire.Measuring }

// proceed chooses while some still measure.
func (*Measuring) proceed(r *Room) { r.choose(true) }

// tick goes on without players who vanished or say nothing, and with what there
// is when the time is up: nobody holds the others for ever.
func (m *Measuring) tick(r *Room) {
	if m.groups != nil {
		r.round.attendance.Excuse(r.now, m.groups.Idle()...)
	}
	r.leaveOutOverdue()
	if len(r.round.active()) == 0 {
		r.fail(true, "nobody is left to measure")
		return
	}
	m.shareOut(r)
	m.finishGroups(r)
	limit := measuringGrace + time.Duration(len(r.round.servers.List)/slowestRate)*time.Second
	if r.now.Sub(r.since) > limit {
		r.note("time is up after %v: choosing from what has been measured", limit)
		r.choose(false)
		return
	}
	m.advance(r)
}

// advance chooses when all are done.
func (m *Measuring) advance(r *Room) {
	m.finishGroups(r)
	active := r.round.active()
	if len(active) > 0 && !slices.ContainsFunc(active, func(p *player) bool { return !r.round.mark(p).Done }) {
		r.choose(false)
	}
}

// finished notes that a player's plan has come to its end.
func (m *Measuring) finished(r *Room, p *player) {
	if r.round.mark(p).Done || p.shares {
		return
	}
	r.round.attendance.Finish(r.now, p.name)
	probed, answered := p.witness.Progress()
	r.note("%s has measured %s, %d answered", p.name, serversInWords(probed), answered)
	m.advance(r)
}

// finishGroups notes who has measured the list together.
func (m *Measuring) finishGroups(r *Room) {
	if m.groups == nil {
		return
	}
	for _, players := range m.groups.Finished() {
		first := r.round.player(players[0])
		if first == nil {
			continue
		}
		group, news := r.round.natGroupOf(first), false
		for _, p := range group {
			if p.shares && !r.round.mark(p).Done {
				r.round.attendance.Finish(r.now, p.name)
				news = true
			}
		}
		if news {
			probed, answered := r.round.knowledge(group[0]).Progress()
			r.note("%d players behind one address have measured %s together, %d answered", len(group), serversInWords(probed), answered)
		}
	}
}

// shareOut asks the NAT groups that share for what they do not know, if they are no longer the
// same.
func (m *Measuring) shareOut(r *Room) {
	sharing := r.round.natGroups(filtered(r.round.active(), func(p *player) bool { return p.shares && r.round.mark(p).Here }))
	if m.groups != nil && m.groups.Are(namesOf(sharing)) || m.groups == nil && len(sharing) == 0 {
		return
	}
	out, members := r.round.unreported(m.groups), r.members(sharing)
	m.groups = search.Form(members, out)
	for i, players := range sharing {
		mates := r.round.natGroupOf(players[0])
		known := witnesses(mates)
		var unasked []int
		for server := range r.round.servers.List {
			if m.groups.IsOut(i, server) || evidence.Pooled(known, server).State != discovery.Unprobed {
				continue
			}
			if !slices.ContainsFunc(mates, func(p *player) bool { return r.round.nearby.IsHidden(p.name, server) }) {
				unasked = append(unasked, server)
			}
		}
		r.askAll(m.groups.Deal(i, members[i], unasked))
	}
}

// leaveOutOverdue goes on without players who have held the others for long enough.
func (r *Room) leaveOutOverdue() {
	for _, note := range r.round.attendance.LeaveOutOverdue(outage.StalledAfter, r.now) {
		r.note("%s", note)
	}
}
