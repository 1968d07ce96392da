package player

import (
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/wire"
)

// survey is the newest measuring of candidate places, running or finished. It runs during the round, with its own
// sockets.
type survey struct {
	under wire.Survey
	busy  bool
	// next is a survey that arrived meanwhile, or nil.
	next  *wire.Survey
	found *wire.Surveyed // nil before the first
	// seen are the places measured so far. protocols are those still to ask, and sampling asks the first of them.
	seen      []wire.Finalist
	protocols []string
	sampling  *sampling
}

// hear measures candidate places. A host that repeats a request after a lost connection gets the earlier findings. Of
// several surveys that arrive meanwhile, the last counts.
func (v *survey) hear(p *port, m wire.Survey) {
	isSame := v.under.Attempt == m.Attempt && v.under.Places.Equal(m.Places)
	switch {
	case v.busy && isSame:
	case v.busy:
		v.next = &m
	case isSame && v.found != nil:
		p.send(*v.found)
	default:
		v.begin(p, m)
	}
}

// begin measures places, grouped by protocol.
func (v *survey) begin(p *port, m wire.Survey) {
	*v = survey{under: m, busy: true, seen: make([]wire.Finalist, len(m.Places))}
	var places []netip.AddrPort
	for i, venue := range m.Places {
		v.seen[i] = wire.Finalist{Server: i, State: discovery.Forbidden, RTTs: []float64{}}
		if !mayAsk(p.line.host, venue.Addr.Addr()) {
			continue
		}
		places = append(places, venue.Addr.AddrPort)
		if p.options.HasPlaces && !slices.Contains(v.protocols, venue.Protocol) {
			v.protocols = append(v.protocols, venue.Protocol)
		}
	}
	if len(places) > 0 {
		p.tell(ExposingPlaces{p.exposure.WithPlaces(places)})
	}
	v.sampleNext(p, m.After)
}

// sampleNext samples the places of the next protocol, or tells the host the findings.
func (v *survey) sampleNext(p *port, after discovery.Millis) {
	if len(v.protocols) == 0 {
		v.busy, v.found = false, &wire.Surveyed{Attempt: v.under.Attempt, Places: v.seen}
		p.send(*v.found)
		if next := v.next; next != nil {
			v.next = nil
			v.hear(p, *next)
		}
		return
	}
	m := wire.Finalists{Game: v.protocols[0], Samples: v.under.Samples, After: after}
	var servers []discovery.Server
	for i, venue := range v.under.Places {
		if venue.Protocol == m.Game && mayAsk(p.line.host, venue.Addr.Addr()) {
			m.Servers, servers = append(m.Servers, i), append(servers, discovery.Server{Addr: venue.Addr.AddrPort})
		}
	}
	v.sampling = p.newSampling(m, servers)
	v.sampling.isPlaces = true
	p.sampleFirst(v.sampling)
}

// sampled continues after a sample of places.
func (v *survey) sampled(p *port, s *sampling, err error) {
	switch {
	case err != nil:
		p.do(Warn{"places not measured", []any{"protocol", s.wants.Game, "error", err}})
	case !s.isOver():
		return
	default:
		for _, f := range s.found {
			f.Info = nil
			v.seen[f.Server] = f
		}
	}
	p.do(Release{s.wants.Game})
	v.sampling, v.protocols = nil, v.protocols[1:]
	v.sampleNext(p, 0)
}
