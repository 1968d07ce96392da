package demo

import (
	"net"
	"net/netip"
	"testing"

	"muster/internal/sim"
)

// TestEntrance checks that each player comes from an address of their own, and that the host knows its country.
func TestEntrance(t *testing.T) {
	all, err := sim.NamedPlaces(places[:]...)
	if err != nil {
		t.Fatal(err)
	}
	at := locate(all)
	for i, place := range all {
		e, err := open(i)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		conn, err := net.Dial("tcp", e.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		comes, err := e.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer comes.Close()
		from, err := netip.ParseAddrPort(comes.RemoteAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		if country, _ := at(from.Addr()); country != place.Country {
			t.Errorf("%s comes from %s in %q, want %q", names[i], from, country, place.Country)
		}
	}
	if country, _ := at(netip.MustParseAddr("127.0.0.1")); country != "" {
		t.Errorf("the visitor is in %q", country)
	}
}
