package room_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// TestStarted checks that the room goes to a server that the organiser's program has started as
// soon as all have measured it. If that fails the next list is the game's again.
func TestStarted(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "A")
	n.InStage(wire.Failed)
	fetches := n.Fetches
	if err := n.Acts(n.PageOf("cat"), room.Started{Game: "openarena", Addr: addrOf(9)}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat orders it: %v", err)
	}
	for what, a := range map[string]room.Started{
		"another game": {Game: "xonotic", Addr: addrOf(9)}, "no port": {Game: "openarena", Addr: netip.MustParseAddrPort("192.0.2.1:0")},
		"everybody": {Game: "openarena", Addr: netip.MustParseAddrPort("255.255.255.255:1")}, "a private one": {
			Game:   "openarena",
			Addr:   netip.MustParseAddrPort("10.0.0.1:1"),
			Public: true,
		},
	} {
		if err := n.Orders(a); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if err := n.Orders(room.Started{Game: "openarena", Addr: addrOf(9)}); err != nil {
		t.Fatal(err)
	}
	n.InStage(wire.Listing)
	if asked := n.Fetched; n.Fetches != fetches+1 || !slices.Equal(asked.Servers, []netip.AddrPort{addrOf(9)}) {
		t.Errorf("%d lists, the last of them of %v", n.Fetches-fetches, asked.Servers)
	}
	same(t, n.Room, restored(t, n.Room))
	n.Gets(listOf(10)[9:])
	if err := n.Orders(room.Started{Game: "openarena", Addr: addrOf(8)}); err == nil {
		t.Error("another is taken while this one is measured")
	}
	n.Informs("ann", 12)
	n.Measures("ann", 40)
	n.Measures("cat", 50)
	n.Done("ann", "cat")
	n.LookAgain()
	n.InStage(wire.Launching)
	if way := n.View().Way; way == nil || way.Connect != addrOf(9).String() {
		t.Errorf("people go to %+v", way)
	}
	n.Step(room.Proceed{})
	n.Gets(listOf(10)[9:])
	n.Measures("ann", lost)
	n.Measures("cat", lost)
	n.Done("ann", "cat")
	n.InStage(wire.Failed)
	n.Goes()
	if asked := n.Fetched; len(asked.Servers) > 0 {
		t.Errorf("the list is that of a server that is gone: %v", asked.Servers)
	}
}
