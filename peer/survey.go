package peer

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// survey is the newest measuring of candidate places, under way or over. It goes on beside
// the round, with sockets of its own.
type survey struct {
	under wire.Survey
	busy  bool
	// next is one that came meanwhile, nil without.
	next  *wire.Survey
	found *wire.Surveyed // nil before there was any
}

// surveys measures candidate places. A host that asks once more, after a lost connection,
// gets what was found; of several that come meanwhile the last counts.
func (s *session) surveys(m wire.Survey) {
	v := &s.survey
	isSame := v.under.Attempt == m.Attempt && slices.Equal(v.under.Places, m.Places)
	switch {
	case v.busy && isSame:
	case v.busy:
		v.next = &m
	case isSame && v.found != nil:
		s.send(*v.found)
	default:
		*v = survey{under: m, busy: true}
		host := s.host
		var places []netip.AddrPort
		for _, v := range m.Places {
			if mayAsk(host, v.Addr.Addr()) {
				places = append(places, v.Addr)
			}
		}
		if len(places) > 0 {
			s.tell(ExposingPlaces{s.scanner.exposure.WithPlaces(places)})
		}
		s.work.Go(func() {
			found := s.placesAt(s.ctx, m, func(v wire.Venue) bool { return mayAsk(host, v.Addr.Addr()) })
			s.post(func() { s.surveyed(found) })
		})
	}
}

// surveyed tells the host what was found.
func (s *session) surveyed(found []wire.Finalist) {
	v := &s.survey
	v.busy, v.found = false, &wire.Surveyed{Attempt: v.under.Attempt, Places: found}
	s.send(*v.found)
	if next := v.next; next != nil {
		v.next = nil
		s.surveys(*next)
	}
}

// placesAt measures places, those of one protocol together.
func (s *session) placesAt(ctx context.Context, m wire.Survey, may func(wire.Venue) bool) []wire.Finalist {
	found := make([]wire.Finalist, len(m.Places))
	groups := map[string][]int{}
	var protocols []string
	for i, v := range m.Places {
		found[i] = wire.Finalist{Server: i, State: discovery.Forbidden, RTTs: []float64{}}
		if !may(v) || s.options.NewPlaceProber == nil {
			continue
		}
		if groups[v.Protocol] == nil {
			protocols = append(protocols, v.Protocol)
		}
		groups[v.Protocol] = append(groups[v.Protocol], i)
	}
	for _, protocol := range protocols {
		places := groups[protocol]
		servers := make([]discovery.Server, len(places))
		for i, place := range places {
			servers[i].Addr = m.Places[place].Addr
		}
		by := scanner{newProber: func(protocol string, _ func(time.Duration)) (Prober, error) {
			return s.options.NewPlaceProber(protocol)
		}, exposure: s.scanner.exposure, isPlaces: true}
		seen, err := s.sample(ctx, &by, servers, wire.Finalists{Game: protocol, Servers: places, Samples: m.Samples, After: m.After}, func([]wire.Finalist) {})
		if err = errors.Join(err, by.close()); err != nil && ctx.Err() == nil {
			s.log.Warn("places not measured", "protocol", protocol, "error", err)
		}
		m.After = 0
		for _, f := range seen {
			found[f.Server] = f
			found[f.Server].Info = nil
		}
	}
	return found
}
