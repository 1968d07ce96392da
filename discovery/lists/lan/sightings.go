package lan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	// maxVias is how many of the players are named whose programs announce a room.
	maxVias = 3
	// forgetAfter is how many rounds a room may be silent: two packets may get lost.
	forgetAfter = 3
)

// sighting is an announcement of a room, as received in one way.
type sighting struct {
	source
	card  string // of this machine
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
	s := sighting{source: source{a.name, way}, card: card, id: id, room: room}
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
	last  map[source]datedSighting
}

type datedSighting struct {
	sighting
	round int
}

// receive takes the announcements of a round, and forgets rooms that have long been
// silent.
func (s *sightings) receive(news []sighting) {
	s.round++
	if s.last == nil {
		s.last = make(map[source]datedSighting)
	}
	maps.DeleteFunc(s.last, func(_ source, h datedSighting) bool { return s.round-h.round >= forgetAfter })
	for _, n := range news {
		if _, known := s.last[n.source]; known || len(s.last) < maxSightings {
			s.last[n.source] = datedSighting{sighting: n, round: s.round}
		}
	}
}

// rooms returns the known rooms, one entry a room however many cards received it and however many
// programs announce it, ordered by name. The host's own word counts more than a player's program's,
// and the newest of several.
func (s *sightings) rooms(cards []Interface) []Found {
	list := []Found{}
	at := make(map[binding]int)
	bestFirst := slices.SortedFunc(maps.Values(s.last), func(a, b datedSighting) int {
		return cmp.Or(cmp.Compare(a.rank(cards), b.rank(cards)), cmp.Compare(b.round, a.round),
			cmp.Compare(a.instance, b.instance), cmp.Compare(a.way, b.way))
	})
	for _, h := range bestFirst {
		if own, known := at[binding{id: h.id, fingerprint: h.room.Fingerprint}]; known && h.room.Via != "" && !list[own].Relayed {
			isOther := func(a netip.AddrPort) bool { return !slices.Contains(list[own].Addrs, a) }
			if h.room.Fingerprint != "" || !slices.ContainsFunc(h.addrs, isOther) {
				continue // the host has said so itself
			}
		}
		key := h.binding()
		i, known := at[key]
		if !known {
			i = len(list)
			at[key] = i
			list = append(list, Found{ID: key.String(), Room: h.room, Relayed: h.rank(cards) > 0})
			list[i].Via, list[i].Host = "", netip.AddrPort{}
		}
		f := &list[i]
		if via := h.room.Via; via != "" && !slices.Contains(f.Vias, via) && len(f.Vias) < maxVias {
			f.Vias = append(f.Vias, via)
		}
		f.Addrs = append(f.Addrs, h.addrs...)
	}
	for i, f := range list {
		best := reachFirst(f.Addrs, cards)
		list[i].Addrs = best[:min(len(best), maxAddrs)]
		slices.Sort(list[i].Vias)
	}
	slices.SortFunc(list, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// rank is 0 for a host that announces itself on a network of this machine, 2 for somebody's program.
// In between are announcements without a sender that lead elsewhere. A host with several cards sends
// them, beside better ones. If there is none that is better, they are forged: multicast does not
// pass a router.
func (h datedSighting) rank(cards []Interface) int {
	switch {
	case h.room.Via != "":
		return 2
	case !slices.ContainsFunc(h.addrs, func(a netip.AddrPort) bool { return isNear(a, cards) }):
		return 1
	}
	return 0
}

// binding is what announcements of one room have in common, although anybody may copy it. A
// certificate binds all of them to one host. Without one, each address that a player's program gives
// is an entry of its own: a forged address must not hide behind the true one.
type binding struct{ id, fingerprint, at string }

func (h datedSighting) binding() binding {
	b := binding{id: h.id, fingerprint: h.room.Fingerprint}
	if h.room.Via != "" && b.fingerprint == "" {
		addrs := slices.SortedFunc(slices.Values(h.addrs), netip.AddrPort.Compare)
		b.at = fmt.Sprint(slices.Compact(addrs))
	}
	return b
}

// String returns the ID of an entry: that of the room, if nobody else can have the entry's place.
func (b binding) String() string {
	if b.fingerprint == "" && b.at == "" {
		return b.id
	}
	sum := sha256.Sum256([]byte(b.fingerprint + " " + b.at))
	return b.id + "-" + hex.EncodeToString(sum[:idLen])
}

// areEqual reports whether two lists show the same rooms.
func areEqual(a, b []Found) bool {
	return slices.EqualFunc(a, b, func(a, b Found) bool {
		return a.ID == b.ID && a.Room == b.Room && a.Relayed == b.Relayed && slices.Equal(a.Vias, b.Vias) &&
			slices.Equal(a.Addrs, b.Addrs)
	})
}
