package fleet

import (
	"net/netip"
	"testing"
)

func TestPlaceOf(t *testing.T) {
	s := seating{places: 1000, home: 7, taken: map[netip.AddrPort]int{}}
	s.taken[netip.MustParseAddrPort("127.0.0.1:5000")] = 2
	s.taken[netip.MustParseAddrPort("127.0.0.2:0")] = 3
	s.taken[netip.MustParseAddrPort("127.200.4.1:5000")] = 5
	for source, want := range map[string]int{
		"127.0.0.1:5000":     2,
		"127.0.0.1:5001":     7,
		"127.0.0.2:5001":     3,
		"127.200.4.1:5000":   5, // seated elsewhere
		"127.200.4.1:5001":   4,
		"127.200.4.200:5001": 4,
		"127.203.0.1:1":      768,
		"127.203.232.1:1":    7, // place 1000 is one too many
		"127.208.0.1:1":      7,
	} {
		if got := s.placeOf(netip.MustParseAddrPort(source)); got != want {
			t.Errorf("%s sits at place %d, want %d", source, got, want)
		}
	}
}

func TestSourceOfEveryPlace(t *testing.T) {
	for place := range maxPlaces {
		if got, ok := placeOfSource(sourceOf(place)); !ok || got != place {
			t.Fatalf("place %d comes back as %d", place, got)
		}
	}
}
