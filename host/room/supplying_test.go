package room

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
)

// TestSupply: the organiser's program gives its list anew as each round begins; one that
// is not there any more is waited for once.
func TestSupply(t *testing.T) {
	s := settings(0)
	s.Servers, s.Renews = []netip.AddrPort{addr(0), addr(1)}, true
	n := newSession(t, s)
	n.join("ann")
	round := func(waits bool) {
		t.Helper()
		before := n.fetches
		n.room.list()
		n.step(Tick{})
		if waits != (n.fetches == before) {
			t.Errorf("waits for the list: %v", !waits)
		}
	}
	outputs, _ := n.room.Step(Proceed{}, n.now)
	asked := 0
	for _, o := range outputs {
		if f, is := o.(Fetch); is && len(f.Servers) == 2 {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the list of a moment ago is asked for %d times", asked)
	}
	n.now = n.now.Add(2 * supplyFresh)
	n.step(Resume{})
	n.join("ann")
	round(true)
	if n.room.phase.(*Listing).Awaits != true {
		t.Fatal("nothing is waited for")
	}
	same(t, n.room, restored(t, n.room))
	if err := n.orders(Supply{Game: "xonotic", Servers: []netip.AddrPort{addr(2)}}); err == nil {
		t.Error("a list of another game is taken")
	}
	if err := n.page("ann", Supply{Game: "openarena", Servers: []netip.AddrPort{addr(2)}}); err != errOrganiserOnly {
		t.Errorf("anybody gives a list: %v", err)
	}
	before := n.fetches
	if err := n.orders(Supply{Game: "openarena", Servers: []netip.AddrPort{addr(2)}}); err != nil || n.fetches != before+1 {
		t.Errorf("the list is taken: %v, and then asked for %d times", err, n.fetches-before)
	}
	n.listed(1)
	n.inStage(wire.Measuring)
	n.now = n.now.Add(2 * supplyFresh)
	n.step(Resume{})
	n.join("ann")
	round(true)
	for range int((supplyWait + time.Second) / tick) {
		n.wait(tick)
	}
	if n.fetches != before+2 || n.room.settings.Renews || !strings.Contains(n.log(), "gives no new list of servers: taking the one from before") {
		t.Errorf("after %v the list was asked for %d times; the log:\n%s", supplyWait, n.fetches-before, n.log())
	}
}
