package room

import (
	"net/netip"
	"testing"
	"time"

	"muster/host/wire"
)

// TestStarted: the room goes to a server that the organiser's program has started, as soon
// as all have measured it; if that comes to nothing the next list is the game's again.
func TestStarted(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "A")
	n.inStage(wire.Failed)
	fetches := n.fetches
	if err := n.acts(n.pageOf("cat"), Started{Game: "openarena", Addr: addr(9)}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat orders it: %v", err)
	}
	for what, a := range map[string]Started{
		"another game": {Game: "xonotic", Addr: addr(9)}, "no port": {Game: "openarena", Addr: netip.MustParseAddrPort("192.0.2.1:0")},
		"everybody": {Game: "openarena", Addr: netip.MustParseAddrPort("255.255.255.255:1")}, "a private one": {Game: "openarena", Addr: netip.MustParseAddrPort("10.0.0.1:1"), Public: true},
	} {
		if err := n.orders(a); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if err := n.orders(Started{Game: "openarena", Addr: addr(9)}); err != nil {
		t.Fatal(err)
	}
	if n.inStage(wire.Listing); n.fetches != fetches+1 || n.room.source.Save().Started != addr(9) {
		t.Errorf("%d lists, %v", n.fetches-fetches, n.room.source.Save().Started)
	}
	same(t, n.room, restored(t, n.room))
	n.gets(listOf(10)[9:])
	if err := n.orders(Started{Game: "openarena", Addr: addr(8)}); err == nil {
		t.Error("another is taken while this one is measured")
	}
	n.informs("ann", 12)
	n.measures("ann", 40)
	n.measures("cat", 50)
	n.done("ann", "cat")
	n.lookAgain()
	n.inStage(wire.Launching)
	if way := n.view().Way; way == nil || way.Connect != addr(9).String() {
		t.Errorf("people go to %+v", way)
	}
	n.step(Proceed{})
	n.gets(listOf(10)[9:])
	n.measures("ann", lost)
	n.measures("cat", lost)
	n.done("ann", "cat")
	if n.inStage(wire.Failed); n.room.source.Save().Started.IsValid() {
		t.Error("the list is that of a server that is gone")
	}
}
