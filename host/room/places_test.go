package room_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/wire"
)

// venues returns places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 7787)
		vs = append(vs, wire.Venue{Name: name, Addr: hostport.At(addr), Protocol: "beacon"})
	}
	return vs
}

// TestHomes checks that nobody is shown the addresses of players' computers, and that a program which names ever new
// ports of its router makes the others measure a few times only.
func TestHomes(t *testing.T) {
	s := settings(0)
	s.Seeks, s.Places = wire.SeekPlace, venues("London")
	n := newSession(t, s)
	for i, name := range []string{"ann", "bob"} {
		hello := n.Hello(name)
		n.Origins[name], hello.Beacon = room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(7 + i)})}, 7787
		n.JoinAs(hello)
	}
	asked := 0
	for port := range uint16(1000) {
		n.Says("bob", wire.Outside{Port: port + 1})
		asked += strings.Count(n.Took("ann"), "survey")
	}
	if places := n.Surveys["ann"].Places; asked == 0 || asked > 9 || places[len(places)-1].Name != "bob's computer" {
		t.Errorf("ann is asked %d times, at last for %v", asked, places)
	}
	if shown := fmt.Sprintf("%+v", n.View()); strings.Contains(shown, "203.0.113") {
		t.Error("a player's address is shown")
	}
	same(t, n.Room, restored(t, n.Room))
}
