package room_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// TestSupply checks that the organiser's program gives its list again when each round begins, and
// that the room waits once for a program that is gone.
func TestSupply(t *testing.T) {
	s := settings(0)
	s.Servers, s.Renews = []netip.AddrPort{addrOf(0), addrOf(1)}, true
	n := newSession(t, s)
	n.Join("ann")
	round := func(waits bool) {
		t.Helper()
		before := n.Fetches
		n.Goes()
		n.Step(room.Tick{})
		if waits != (n.Fetches == before) {
			t.Errorf("waits for the list: %v", !waits)
		}
	}
	outputs, _ := n.Room.Step(room.Proceed{}, roomtest.At(n.Now, 0))
	asked := 0
	for _, o := range outputs {
		if f, is := o.(room.Fetch); is && len(f.Servers) == 2 {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the list of a moment ago is asked for %d times", asked)
	}
	n.Step(room.Listed{Err: errors.New("no name server")})
	n.Now = n.Now.Add(2 * time.Minute)
	n.Step(room.Resume{})
	n.Join("ann")
	round(true)
	n.InStage(wire.Listing)
	same(t, n.Room, restored(t, n.Room))
	if err := n.Orders(room.Supply{Game: "xonotic", Servers: []netip.AddrPort{addrOf(2)}}); err == nil {
		t.Error("a list of another game is taken")
	}
	if err := n.OnPage("ann", room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); reason(err) != wire.ReasonSecret {
		t.Errorf("anybody gives a list: %v", err)
	}
	before := n.Fetches
	if err := n.Orders(room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); err != nil || n.Fetches != before+1 {
		t.Errorf("the list is taken: %v, and then asked for %d times", err, n.Fetches-before)
	}
	n.Listed(1)
	n.InStage(wire.Measuring)
	n.Informs("ann", 12)
	n.Measures("ann", 10)
	n.Done("ann")
	n.Verifies("ann")
	n.InStage(wire.Launching)
	n.Now = n.Now.Add(2 * time.Minute)
	n.Step(room.Resume{})
	n.Join("ann")
	round(true)
	for range int(13 * time.Second / tick) {
		n.Wait(tick)
	}
	if n.Fetches != before+2 || n.Room.Settings().Renews ||
		!strings.Contains(n.Story(), "gives no new server list: taking the last one") {
		t.Errorf("after 13 s the list was asked for %d times; the log:\n%s", n.Fetches-before, n.Story())
	}
}

// TestOwnGone checks a room whose organiser's list the store has lost. The room says so and takes
// no other list. It waits until the organiser's program gives the list again, or fails.
func TestOwnGone(t *testing.T) {
	for _, renews := range []bool{false, true} {
		s := settings(0)
		s.Servers, s.Renews = []netip.AddrPort{addrOf(0), addrOf(1)}, renews
		n := newSession(t, s)
		n.Step(room.OwnKept{Kept: "the hash of the organiser's list"})
		n.Join("ann")
		data, err := n.Room.Save()
		if err != nil || strings.Contains(string(data), addrOf(0).String()) {
			t.Fatalf("saved is %s, %v", data, err)
		}
		n.Revive() // a store without such a list
		same(t, n.Room, restored(t, n.Room))
		n.Step(room.Resume{})
		if !strings.Contains(n.Story(), "the organiser’s own list of servers is gone") {
			t.Errorf("nobody hears of it; the log:\n%s", n.Story())
		}
		n.Join("ann")
		n.Step(room.Proceed{})
		if n.Fetches > 0 {
			t.Error("another list is asked for")
		}
		if !renews {
			n.InStage(wire.Failed)
			continue
		}
		n.InStage(wire.Listing)
		if err := n.Orders(room.Supply{Game: "openarena", Servers: []netip.AddrPort{addrOf(2)}}); err != nil || n.Fetches != 1 {
			t.Errorf("the list anew is taken: %v, and then asked for %d times", err, n.Fetches)
		}
		n.Revive()
		if own := n.Room.Settings().Servers; len(own) != 1 {
			t.Errorf("the list is %v", own)
		}
	}
}

// TestOursAreAsked checks that everybody measures the group's own servers of a long list, wherever
// they are, and that one wins though the search finds a better one.
func TestOursAreAsked(t *testing.T) {
	s := settings(2)
	s.Strategy, s.Prefer = wire.Coordinated, discovery.Millis(time.Second)
	n := newSession(t, s)
	list, ours := far(), []int{3, 996}
	n.Join("ann")
	n.Says("ann", wire.Bring{Game: "openarena", Favourites: []wire.Brought{{Addr: hostport.At(list[ours[0]].Addr)}, {Addr: hostport.At(list[ours[1]].Addr)}}})
	n.Join("bob")
	n.Gets(list)
	n.InStage(wire.Refining)
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	for _, server := range ours {
		for _, name := range n.Players() {
			if traceOf(n.Room, name)[server].State != discovery.Answered {
				t.Errorf("%s has not measured %v", name, list[server].Addr)
			}
		}
	}
	if !n.Chosen().Ours {
		t.Errorf("chosen is %+v", n.Chosen())
	}
}
