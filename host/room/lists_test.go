package room_test

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
)

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
