package player

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
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
	// asks are the places to ask, by number. visits say which machines of providers were asked within the hour.
	asks   []int
	visits map[netip.AddrPort]visit
	// consent is what the player says of machines of providers. asked is the task of the question, 0 for none.
	consent consent
	asked   int
}

// consent says whether machines of providers may see the player's address: once for a room.
type consent int

const (
	unasked consent = iota
	agreed
	declined
)

// isProviders reports whether a place's machine is a provider's, and not one of the group's own list.
func isProviders(place wire.Venue) bool {
	return len(place.Offers) > 0 || place.URL != "" || hostport.IsName(place.Addr.Addr())
}

// maxVisits is how often a machine of a provider is asked in an hour at most: it is there for everybody.
const maxVisits = 8

// visit is what a machine answered last, and when it was asked.
type visit struct {
	at    []time.Time
	found wire.Finalist
}

// rested returns what a place answered within the hour, if it was asked so often that it must be left alone.
func (v *survey) rested(now time.Time, place wire.Venue, samples int) (found wire.Finalist, isSo bool) {
	last, was := v.visits[place.Addr.AddrPort]
	if !was || len(place.Offers) == 0 {
		return found, false
	}
	last.at = slices.DeleteFunc(slices.Clone(last.at), func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	v.visits[place.Addr.AddrPort] = last
	return last.found, len(last.at) > 0 && len(last.at)+samples > maxVisits
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
	case v.consent == unasked && slices.ContainsFunc(m.Places, isProviders):
		v.ask(p, m)
	default:
		v.begin(p, m)
	}
}

// ask asks the player whether providers' machines may see their address, and begins with the answer. A shell that
// asks nobody declines.
func (v *survey) ask(p *port, m wire.Survey) {
	if !p.options.AsksConsent {
		v.consent = declined
		v.begin(p, m)
		return
	}
	v.under, v.found, v.busy, v.asked = m, nil, true, p.begin()
	p.do(AskConsent{Task: v.asked, Places: slices.DeleteFunc(slices.Clone(m.Places), func(place wire.Venue) bool { return !isProviders(place) })})
}

// consented takes the player's answer.
func (v *survey) consented(p *port, in Consented) {
	if in.Task != v.asked || v.asked == 0 {
		return
	}
	if v.asked, v.consent = 0, declined; in.Yes {
		v.consent = agreed
	}
	v.begin(p, v.under)
}

// begin measures places, grouped by protocol.
func (v *survey) begin(p *port, m wire.Survey) {
	*v = survey{under: m, busy: true, seen: make([]wire.Finalist, len(m.Places)), visits: v.visits, consent: v.consent, next: v.next}
	var places []netip.AddrPort
	for i, venue := range m.Places {
		v.seen[i] = wire.Finalist{Server: i, State: discovery.Forbidden, RTTs: []float64{}}
		if !mayAsk(p.line.host, venue.Addr.Addr()) || isProviders(venue) && v.consent != agreed {
			continue
		}
		if found, isSo := v.rested(p.now, venue, m.Samples); isSo {
			found.Server = i
			v.seen[i] = found
			continue
		}
		v.asks = append(v.asks, i)
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
	for _, i := range v.asks {
		venue := v.under.Places[i]
		if venue.Protocol != m.Game {
			continue
		}
		m.Servers, servers = append(m.Servers, i), append(servers, discovery.Server{Addr: venue.Addr.AddrPort})
		if len(venue.Offers) > 0 {
			m.Samples = min(m.Samples, maxVisits)
			v.visit(venue.Addr.AddrPort, p.now, m.Samples)
		}
	}
	v.sampling = p.newSampling(m, servers)
	v.sampling.isPlaces = true
	p.sampleFirst(v.sampling)
}

// visit notes that a machine of a provider is asked so many times.
func (v *survey) visit(at netip.AddrPort, now time.Time, times int) {
	if v.visits == nil || len(v.visits) >= discovery.MaxNames {
		v.visits = map[netip.AddrPort]visit{}
	}
	last := v.visits[at]
	for range times {
		last.at = append(last.at, now)
	}
	if last.found.RTTs == nil {
		last.found = wire.Finalist{State: discovery.Forbidden, RTTs: []float64{}} // until it was asked
	}
	v.visits[at] = last
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
			if at := v.under.Places[f.Server].Addr.AddrPort; v.visits[at].at != nil {
				v.visits[at] = visit{v.visits[at].at, f}
			}
		}
	}
	p.do(Release{s.wants.Game})
	v.sampling, v.protocols = nil, v.protocols[1:]
	v.sampleNext(p, 0)
}
