package fleet

import "net/netip"

// seatsPrefix holds the source addresses of players. Each place has a /24 of
// it, so that several players of one place can differ by address, as two
// households do, or share one, as behind a NAT.
var seatsPrefix = netip.MustParsePrefix("127.200.0.0/13")

// maxPlaces is how many places have source addresses of their own.
const maxPlaces = 1 << (24 - 13)

// sourceOf is the first of a place's source addresses.
func sourceOf(place int) netip.Addr {
	base := seatsPrefix.Addr().As4()
	return netip.AddrFrom4([4]byte{127, base[1] + byte(place>>8), byte(place), 1})
}

// placeOfSource is the place whose source address that is.
func placeOfSource(addr netip.Addr) (place int, ok bool) {
	if !seatsPrefix.Contains(addr) {
		return 0, false
	}
	a, base := addr.As4(), seatsPrefix.Addr().As4()
	return int(a[1]-base[1])<<8 | int(a[2]), true
}

// seating tells where in the world the sender of a query sits.
type seating struct {
	places int
	home   int // of senders that nobody has seated
	taken  map[netip.AddrPort]int
}

// seat notes that a source sits at a place. Port 0 stands for every port of the
// address.
func (s *seating) seat(source netip.AddrPort, place int) { s.taken[source] = place }

func (s *seating) placeOf(source netip.AddrPort) int {
	if place, ok := s.taken[source]; ok {
		return place
	}
	if place, ok := s.taken[netip.AddrPortFrom(source.Addr(), 0)]; ok {
		return place
	}
	if place, ok := placeOfSource(source.Addr()); ok && place < s.places {
		return place
	}
	return s.home
}
