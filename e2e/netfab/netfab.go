// Package netfab is a fabric of links between network namespaces, with faults: an internet for
// tests, where real programs meet loss, outages and poor routers.
//
// [Fabric] is the model, pure and seeded: packets and the time go in, packets and their times come
// out. [Net] drives it with real packets, on Linux.
//
//	machine ─▶ router ─▶ up ─▶ │ core: distance │ ─▶ down ─▶ router ─▶ machine
//	           (NAT)           │ by address     │            (NAT)
//	└──────── site ──────────┘                   └────────── site ───────┘
package netfab

import (
	"container/heap"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"time"
)

// Site is a place with its own line to the internet, shared by its machines. Machines of one site
// reach each other at once, and hear each other's multicast.
type Site struct {
	// Name identifies the site. A site's faults depend on it and the fabric's seed.
	Name string
	// Up leads to the internet, and Down from it.
	Up, Down Line
	// NAT is nil where machines have public addresses. IPv6 is never translated.
	NAT *NAT
}

// Fabric is the model of an internet. Times count from its beginning, and must not decrease from
// call to call.
type Fabric struct {
	seed     uint64
	distance func(from, to netip.Addr) time.Duration
	sites    []*site
	machines []machine
	queue    agenda
	entered  uint64
}

type site struct {
	up, down lane
	router   *router
	cutUntil time.Duration
}

type machine struct {
	site     int
	prefixes []netip.Prefix
}

// New returns a fabric without sites. distance is the time of a packet through the core from one
// public address to another.
func New(seed uint64, distance func(from, to netip.Addr) time.Duration) *Fabric {
	return &Fabric{seed: seed, distance: distance}
}

// AddSite connects a site, and returns its number.
func (f *Fabric) AddSite(s Site) int {
	lane := func(l Line, way string) lane {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s.Name + way)) // a hash never fails
		return lane{Line: l, rng: rand.New(rand.NewPCG(f.seed, h.Sum64()))}
	}
	added := &site{up: lane(s.Up, "/up"), down: lane(s.Down, "/down")}
	if s.NAT != nil {
		added.router = newRouter(*s.NAT)
	}
	f.sites = append(f.sites, added)
	return len(f.sites) - 1
}

// AddMachine puts a machine with these addresses at a site, and returns its number.
func (f *Fabric) AddMachine(site int, prefixes ...netip.Prefix) int {
	f.machines = append(f.machines, machine{site, prefixes})
	return len(f.machines) - 1
}

// Renumber gives a machine other addresses. Packets to its old addresses are lost.
func (f *Fabric) Renumber(machine int, prefixes ...netip.Prefix) {
	f.machines[machine].prefixes = prefixes
}

// RenumberSite gives a site's router another public address. It forgets its
// mappings.
func (f *Fabric) RenumberSite(site int, public netip.Addr) {
	config := f.sites[site].router.NAT
	config.Public = public
	f.sites[site].router = newRouter(config)
}

// SetLines changes a site's line from now on.
func (f *Fabric) SetLines(site int, up, down Line) {
	f.sites[site].up.Line, f.sites[site].down.Line = up, down
}

// Cut interrupts a site's line until then. Packets that would enter or leave it meanwhile are lost.
// The router keeps its mappings.
func (f *Fabric) Cut(site int, until time.Duration) { f.sites[site].cutUntil = until }

// Counts counts what happened to a site's packets so far.
type Counts struct {
	Up, Down Passed
	// Mappings are the router's. refused counts the packets for which it had no space, and Evicted
	// the mappings that it dropped before their time.
	Mappings, Refused, Evicted int
}

// Passed counts the packets of a line: those that entered, those lost on the way, and those lost
// because too many were waiting.
type Passed struct{ Entered, Lost, Overflowed int }

// Counts returns the counts of a site.
func (f *Fabric) Counts(site int) Counts {
	s := f.sites[site]
	c := Counts{Up: s.up.passed, Down: s.down.passed}
	if r := s.router; r != nil {
		c.Mappings, c.Refused, c.Evicted = len(r.outward), r.refused, r.evicted
	}
	return c
}

// Delivery is a packet that has arrived at a machine.
type Delivery struct {
	Machine int
	Packet  []byte
}

// stage is how far a packet has come.
type stage uint8

const (
	atDown  stage = iota // before the line of its destination's site
	atHome               // after that line
	arrived              // at the machine
)

type event struct {
	at     time.Duration
	nth    uint64 // events of one time keep their order
	stage  stage
	where  int // a machine if it has arrived, or else a site
	packet []byte
}

// Send sends an IP packet from a machine. The fabric keeps the packet.
func (f *Fabric) Send(from int, packet []byte, now time.Duration) {
	home := f.machines[from].site
	h, ok := parse(packet)
	if !ok {
		return
	}
	if h.dst.IsMulticast() {
		for i, m := range f.machines {
			if m.site == home && i != from {
				f.enter(event{at: now, stage: arrived, where: i, packet: append([]byte(nil), packet...)})
			}
		}
		return
	}
	if to, ok := f.machineAt(home, h.dst); ok {
		f.enter(event{at: now, stage: arrived, where: to, packet: packet})
		return
	}
	s := f.sites[home]
	if mtu := s.up.MTU; mtu > 0 && len(packet) > mtu {
		if answer := tooBig(packet, mtu); answer != nil {
			f.enter(event{at: now, stage: arrived, where: from, packet: answer})
		}
		return
	}
	if s.router != nil && !h.is6 && !s.router.out(packet, now) {
		return
	}
	if now < s.cutUntil {
		s.up.passed.Entered++
		s.up.passed.Lost++
		return
	}
	for _, at := range s.up.pass(len(packet), now) {
		f.cross(packet, at)
	}
}

// cross takes a packet through the core, to the site of its destination.
func (f *Fabric) cross(packet []byte, now time.Duration) {
	h, _ := parse(packet)
	if to, ok := f.siteOf(h.dst); ok {
		f.enter(event{at: now + f.distance(h.src, h.dst), stage: atDown, where: to, packet: append([]byte(nil), packet...)})
	}
}

// siteOf returns the site with a public address.
func (f *Fabric) siteOf(addr netip.Addr) (int, bool) {
	for i, s := range f.sites {
		if s.router != nil && s.router.Public == addr {
			return i, true
		}
		if s.router != nil && addr.Is4() {
			continue // machines behind it have no address out here
		}
		if _, ok := f.machineAt(i, addr); ok {
			return i, true
		}
	}
	return 0, false
}

func (f *Fabric) machineAt(site int, addr netip.Addr) (int, bool) {
	for i, m := range f.machines {
		if m.site != site {
			continue
		}
		for _, p := range m.prefixes {
			if p.Contains(addr) {
				return i, true
			}
		}
	}
	return 0, false
}

// Next returns the time of the next event, if nobody sends anything before.
func (f *Fabric) Next() (at time.Duration, ok bool) {
	if len(f.queue) == 0 {
		return 0, false
	}
	return f.queue[0].at, true
}

// Due returns the next packet that has arrived by now, if there is one.
func (f *Fabric) Due(now time.Duration) (Delivery, bool) {
	for len(f.queue) > 0 && f.queue[0].at <= now {
		e := heap.Pop(&f.queue).(event)
		switch e.stage {
		case atDown:
			f.descend(e)
		case atHome:
			f.arrive(e)
		case arrived:
			return Delivery{e.where, e.packet}, true
		}
	}
	return Delivery{}, false
}

// descend puts a packet on the line to its destination's site.
func (f *Fabric) descend(e event) {
	s := f.sites[e.where]
	if mtu := s.down.MTU; mtu > 0 && len(e.packet) > mtu {
		if answer := tooBig(e.packet, mtu); answer != nil {
			f.cross(answer, e.at)
		}
		return
	}
	if e.at < s.cutUntil {
		s.down.passed.Entered++
		s.down.passed.Lost++
		return
	}
	for _, at := range s.down.pass(len(e.packet), e.at) {
		f.enter(event{at: at, stage: atHome, where: e.where, packet: append([]byte(nil), e.packet...)})
	}
}

// arrive takes a packet through the router.
func (f *Fabric) arrive(e event) {
	s := f.sites[e.where]
	h, ok := parse(e.packet)
	if !ok || e.at < s.cutUntil {
		return
	}
	if s.router != nil && !h.is6 && !s.router.in(e.packet, e.at) {
		return
	}
	h, _ = parse(e.packet)
	if to, ok := f.machineAt(e.where, h.dst); ok {
		f.enter(event{at: e.at, stage: arrived, where: to, packet: e.packet})
	}
}

func (f *Fabric) enter(e event) {
	f.entered++
	e.nth = f.entered
	heap.Push(&f.queue, e)
}

// agenda is a heap with the earliest event first.
type agenda []event

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(e any)   { *a = append(*a, e.(event)) }

func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].nth < a[j].nth
}

func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = event{}
	*a = (*a)[:last]
	return e
}
