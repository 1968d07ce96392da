package room_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// TestSupply checks that the organiser's program gives its list again when each round begins, and
// that the room waits once for a program that is gone.
func TestSupply(t *testing.T) {
	s := settings(0)
	s.Servers, s.Renews = []netip.AddrPort{addrOf(0), addrOf(1)}, true
	n := newSession(t, s)
	n.join("ann")
	round := func(waits bool) {
		t.Helper()
		before := n.fetches
		n.goes()
		n.step(room.Tick{})
		if waits != (n.fetches == before) {
			t.Errorf("waits for the list: %v", !waits)
		}
	}
	outputs, _ := n.room.Step(room.Proceed{}, n.now)
	asked := 0
	for _, o := range outputs {
		if f, is := o.(room.Fetch); is && len(f.Servers) == 2 {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the list of a moment ago is asked for %d times", asked)
	}
	n.step(room.Listed{Err: errors.New("no name server")})
	n.now = n.now.Add(2 * time.Minute)
	n.step(room.Resume{})
	n.join("ann")
	round(true)
	n.inStage(wire.Listing)
	same(t, n.room, restored(t, n.room))
	if err := n.orders(room.Supply{Game: "xonotic", Servers: []netip.AddrPort{addrOf(2)}}); err == nil {
		t.Error("a list of another game is taken")
	}
	if err := n.page("ann", room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); reason(err) != wire.ReasonSecret {
		t.Errorf("anybody gives a list: %v", err)
	}
	before := n.fetches
	if err := n.orders(room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); err != nil || n.fetches != before+1 {
		t.Errorf("the list is taken: %v, and then asked for %d times", err, n.fetches-before)
	}
	n.listed(1)
	n.inStage(wire.Measuring)
	n.informs("ann", 12)
	n.measures("ann", 10)
	n.done("ann")
	n.verifies("ann")
	n.inStage(wire.Launching)
	n.now = n.now.Add(2 * time.Minute)
	n.step(room.Resume{})
	n.join("ann")
	round(true)
	for range int(13 * time.Second / tick) {
		n.wait(tick)
	}
	if n.fetches != before+2 || n.room.Settings().Renews ||
		!strings.Contains(n.log(), "gives no new server list: taking the last one") {
		t.Errorf("after 13 s the list was asked for %d times; the log:\n%s", n.fetches-before, n.log())
	}
}

// TestOwnGone checks that a room without its organiser's list, because the store lost it, says so
// and takes no other list instead. It waits for the organiser's program to give it again, or fails.
func TestOwnGone(t *testing.T) {
	for _, renews := range []bool{false, true} {
		s := settings(0)
		s.Servers, s.Renews = []netip.AddrPort{addrOf(0), addrOf(1)}, renews
		n := newSession(t, s)
		n.step(room.OwnKept{Kept: "the hash of the organiser's list"})
		n.join("ann")
		data, err := n.room.Save()
		if err != nil || strings.Contains(string(data), addrOf(0).String()) {
			t.Fatalf("saved is %s, %v", data, err)
		}
		n.revive() // a store without such a list
		same(t, n.room, restored(t, n.room))
		n.step(room.Resume{})
		if !strings.Contains(n.log(), "the organiser’s own list of servers is gone") {
			t.Errorf("nobody hears of it; the log:\n%s", n.log())
		}
		n.join("ann")
		n.step(room.Proceed{})
		if n.fetches > 0 {
			t.Error("another list is asked for")
		}
		if !renews {
			n.inStage(wire.Failed)
			continue
		}
		n.inStage(wire.Listing)
		if err := n.orders(room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); err != nil || n.fetches != 1 {
			t.Errorf("the list anew is taken: %v, and then asked for %d times", err, n.fetches)
		}
		n.revive()
		if own := n.room.Settings().Servers; len(own) != 1 {
			t.Errorf("the list is %v", own)
		}
	}
}
