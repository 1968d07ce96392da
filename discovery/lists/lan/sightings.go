package lan

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

const (
	// maxSightings bounds what strangers can make Muster remember: more rooms than a
	// LAN party has hosts.
	maxSightings = 256
	// maxAddrs of one room are more than a host has network cards.
	maxAddrs = 8
	// forgetAfter is how many rounds a room may be silent: two packets may get lost.
	forgetAfter = 3
)

// sighting is an announcement of a room, as received in one way.
type sighting struct {
	source
	id    string
	room  Room
	addrs []netip.AddrPort
}

// source is the sender, and the card of this machine.
type source struct {
	instance string // the room's name in DNS-SD, one for each of its host's cards
	way      string // this machine's card, and the family
}

// answer is the DNS library's report of a service.
type answer struct {
	name   string
	port   int
	fields []string
	addrs  []netip.Addr
}

// sight reads an answer that came in on a card. The library delivers all services, from
// anybody.
func sight(a answer, card, way string) (sighting, error) {
	if !strings.HasSuffix(strings.ToLower(a.name), suffix) {
		return sighting{}, malformed("%q is no room", a.name)
	}
	if a.port <= 0 || a.port > 0xffff {
		return sighting{}, malformed("port %d", a.port)
	}
	id, room, err := parseTXT(a.fields)
	if err != nil {
		return sighting{}, err
	}
	room.Port = uint16(a.port)
	s := sighting{source: source{a.name, way}, id: id, room: room}
	for _, addr := range a.addrs {
		if addr = onCard(addr.Unmap(), card); isHost(addr) {
			s.addrs = append(s.addrs, netip.AddrPortFrom(addr, room.Port))
		}
	}
	if len(s.addrs) == 0 {
		return sighting{}, malformed("a room without an address")
	}
	return s, nil
}

// onCard adds to a link-local IPv6 address the card that leads there.
func onCard(a netip.Addr, card string) netip.Addr {
	if a.Is6() && a.IsLinkLocalUnicast() {
		return a.WithZone(card)
	}
	return a.WithZone("")
}

// isHost reports whether an address can be another machine's.
func isHost(a netip.Addr) bool {
	return a.IsGlobalUnicast() || a.IsLinkLocalUnicast()
}

// sightings are the recent announcements. The zero value is ready.
type sightings struct {
	round int
	last  map[source]heard
}

type heard struct {
	sighting
	round int
}

// receive takes the announcements of a round, and forgets rooms that have long been
// silent.
func (s *sightings) receive(news []sighting) {
	s.round++
	if s.last == nil {
		s.last = make(map[source]heard)
	}
	maps.DeleteFunc(s.last, func(_ source, h heard) bool { return s.round-h.round >= forgetAfter })
	for _, n := range news {
		if _, known := s.last[n.source]; known || len(s.last) < maxSightings {
			s.last[n.source] = heard{sighting: n, round: s.round}
		}
	}
}

// rooms returns the known rooms, one entry a room however many cards received it,
// ordered by name. The newest announcement of a room counts.
func (s *sightings) rooms(cards []Interface) []Found {
	list := []Found{}
	at := make(map[string]int)
	newestFirst := slices.SortedFunc(maps.Values(s.last), func(a, b heard) int {
		return cmp.Or(cmp.Compare(b.round, a.round), cmp.Compare(a.instance, b.instance), cmp.Compare(a.way, b.way))
	})
	for _, h := range newestFirst {
		i, known := at[h.id]
		if !known {
			i = len(list)
			at[h.id] = i
			list = append(list, Found{ID: h.id, Room: h.room})
		}
		list[i].Addrs = append(list[i].Addrs, h.addrs...)
	}
	for i, f := range list {
		best := reachFirst(f.Addrs, cards)
		list[i].Addrs = best[:min(len(best), maxAddrs)]
	}
	slices.SortFunc(list, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// same reports whether two lists show the same.
func same(a, b []Found) bool {
	return slices.EqualFunc(a, b, func(a, b Found) bool {
		return a.ID == b.ID && a.Room == b.Room && slices.Equal(a.Addrs, b.Addrs)
	})
}
