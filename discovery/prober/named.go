package prober

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/names"
)

// A server that is listed by name is looked up when the plan names it, so in each run anew. Its addresses
// are tried one after the other, as long as it is silent or cannot be reached there. Queries to any of them
// are queries to the server, so that a late answer counts.
//
//	plan.Next ─▶ lookup ─▶ first address ── silence, no route, refused ──▶ next address ─▶ …
//	                           │                                              │
//	                           └───────────────── answer ─────────────────────┘
//
// Over UDP a reply tells only the address that it comes from. So two servers whose names lead to one
// address are asked one after the other. Over TCP each has connections of its own, under its own name.

// lookupsAtOnce is few enough for a home router's name server.
const lookupsAtOnce = 16

// sought are the servers of a run that are listed by name.
type sought struct {
	resolver names.Resolver
	isStream bool
	places   map[int]*led           // by index in the list; nil: not looked up yet
	asked    map[netip.AddrPort]int // who is asked there
	found    chan finding
	slots    chan struct{}
	busy     fifo[deadline] // probes whose address another server is asked at
}

// led is where a name leads.
type led struct {
	addrs []netip.AddrPort // those that are left to try
	at    int              // which of them is asked
	tried []netip.AddrPort
}

// finding is the outcome of a lookup.
type finding struct {
	probe *probe
	gen   uint32
	place names.Place
	err   error
}

// newSought returns nil if no server is listed by name.
func newSought(servers []netip.AddrPort, resolver names.Resolver, isStream bool) *sought {
	if !slices.ContainsFunc(servers, func(s netip.AddrPort) bool { return hostport.IsName(s.Addr()) }) {
		return nil
	}
	return &sought{
		resolver: resolver, isStream: isStream, places: map[int]*led{}, asked: map[netip.AddrPort]int{},
		found: make(chan finding), slots: make(chan struct{}, lookupsAtOnce),
	}
}

// lookUp finds out where a name leads, and tells the run.
func (s *sought) lookUp(ctx context.Context, f finding, name netip.AddrPort) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	f.place, f.err = s.resolver.Find(ctx, hostport.Host(name.Addr()), name.Port())
	<-s.slots
	select {
	case s.found <- f:
	case <-ctx.Done():
	}
}

// bare returns an address without the name that [under] gave it.
func bare(a netip.Addr) netip.Addr {
	if a.Zone() == "" || a.IsLinkLocalUnicast() {
		return a
	}
	return a.WithZone("").Unmap()
}

// greeted returns the address that the greeting names: the server's name, if it is asked under one.
func greeted(to netip.AddrPort) netip.AddrPort {
	if name := hostport.Of(to.Addr().Zone(), to.Port()); name.IsValid() && bare(to.Addr()) != to.Addr() {
		return name
	}
	return to
}

// seeks looks up a server that is listed by name, unless that is done. It reports whether the probe has to
// wait for that.
func (r *run) seeks(p *probe) bool {
	name := r.targets.at[p.target]
	if r.sought == nil || r.sought.places[p.target] != nil || !hostport.IsName(name.Addr()) {
		return false
	}
	f := finding{probe: p, gen: p.gen}
	r.lookups.Go(func() { r.sought.lookUp(r.seeking, f, name) })
	return true
}

// findings is where lookups end; nil if there are none.
func (r *run) findings() <-chan finding {
	if r.sought == nil {
		return nil
	}
	return r.sought.found
}

// find goes on with a server whose name was looked up. The address that answered last is the first.
func (r *run) find(f finding) {
	p := f.probe
	if p.gen != f.gen {
		return
	}
	if f.err != nil {
		r.lose(p, f.err)
		return
	}
	l, name := &led{}, r.targets.keys[p.target]
	for _, addr := range f.place.Addrs {
		if r.sought.isStream {
			addr = netip.AddrFrom16(addr.As16()).WithZone(f.place.Host) // the greeting needs the name
		}
		l.addrs = append(l.addrs, netip.AddrPortFrom(addr, queryPort(r.options.Protocol, f.place.Port)))
	}
	if at := slices.Index(l.addrs, r.answered[name]); at > 0 {
		l.addrs[0], l.addrs[at] = l.addrs[at], l.addrs[0]
	}
	r.sought.places[p.target] = l
	r.targets.at[p.target] = l.addrs[0]
	r.request(p, named)
}

// useNextAddress makes the next address of a silent server its address, if it has another.
func (r *run) useNextAddress(p *probe) {
	if l := r.led(p); l != nil && !p.heard {
		l.at = (l.at + 1) % len(l.addrs)
		r.targets.at[p.target] = l.addrs[l.at]
	}
}

// tryNextAddress gives up an address of a server, and asks at the next one. It returns false if there
// is no next address.
func (r *run) tryNextAddress(p *probe, at netip.AddrPort) bool {
	l := r.led(p)
	if l == nil || p.heard || len(l.addrs) < 2 {
		return false
	}
	gone := slices.Index(l.addrs, at)
	if gone < 0 {
		return true // given up before
	}
	isAsked := gone == l.at
	l.addrs = slices.Delete(l.addrs, gone, gone+1)
	if gone < l.at {
		l.at--
	}
	l.at %= len(l.addrs)
	if isAsked {
		p.due = 0
		r.targets.at[p.target] = l.addrs[l.at]
		r.request(p, named)
	}
	return true
}

// led returns where the server's name leads, nil if it is listed by its address.
func (r *run) led(p *probe) *led {
	if r.sought == nil {
		return nil
	}
	return r.sought.places[p.target]
}

// retries is how often a server's question is repeated: each of its addresses gets it at least once.
func (r *run) retries(p *probe) int {
	if l := r.led(p); l != nil {
		return max(r.options.Retries, len(l.addrs)-1)
	}
	return r.options.Retries
}

// claims takes a probe's address for it. It returns false if another server is asked there: then the probe
// waits, and leaves its other addresses to others.
func (r *run) claims(p *probe, why reason) bool {
	if r.sought == nil {
		return true
	}
	at := r.targets.at[p.target]
	other, isBusy := r.sought.asked[at]
	if !isBusy {
		other, isBusy = r.targets.first[at]
		isBusy = isBusy && r.targets.states[other].probe != nil
	}
	l := r.led(p)
	switch {
	case isBusy && other != p.target:
		r.leaves(p)
		r.sought.busy.push(deadline{at: r.network.now() + busyPause, probe: p, gen: p.gen, why: why})
		return false
	case l != nil && !slices.Contains(l.tried, at):
		l.tried = append(l.tried, at)
		r.sought.asked[at] = p.target
	}
	return true
}

// expireBusy asks the servers that have waited for their address.
func (r *run) expireBusy(now time.Duration) {
	for r.sought != nil && r.sought.busy.len() > 0 && r.sought.busy.first().at <= now {
		if d := r.sought.busy.pop(); d.probe.gen == d.gen && d.probe.due == 0 {
			r.request(d.probe, d.why)
		}
	}
}

// whose returns the server that is asked at an address.
func (r *run) whose(at netip.AddrPort) (index int, listed bool) {
	if r.sought != nil {
		if index, listed = r.sought.asked[at]; listed {
			return index, true
		}
	}
	index, listed = r.targets.first[at]
	return index, listed
}

// hears notes the address that a server answers from. From then on it is asked there.
func (r *run) hears(p *probe, from netip.AddrPort) {
	if l := r.led(p); l != nil {
		l.at = max(0, slices.Index(l.addrs, from))
		r.targets.at[p.target] = from
		if r.answered == nil || len(r.answered) >= discovery.MaxNames {
			r.answered = map[netip.AddrPort]netip.AddrPort{}
		}
		r.answered[r.targets.keys[p.target]] = from
	}
}

// leaves ends all that is under way at a server's addresses.
func (r *run) leaves(p *probe) {
	l := r.led(p)
	if l == nil {
		r.network.release(r.targets.at[p.target])
		return
	}
	for _, at := range l.tried {
		r.network.release(at)
		delete(r.sought.asked, at)
	}
	l.tried = nil
}

// busyPause is how soon a server is asked whose address was busy.
const busyPause = 250 * time.Millisecond
