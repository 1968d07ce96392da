package room

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/outage"
	"muster/host/room/search"
	"muster/host/wire"
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
	r.note("%s has measured %s, %d answered", p.name, discovery.ServersInWords(probed), answered)
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
			r.note("%d players behind one address have measured %s together, %d answered", len(group), discovery.ServersInWords(probed), answered)
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
