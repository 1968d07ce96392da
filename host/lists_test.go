package host

import (
	"testing"

	"muster/host/room"
	"muster/host/wire"
)

// TestLists: rooms share equal lists and their frames, of which no number of rounds
// and games makes many.
func TestLists(t *testing.T) {
	var l lists
	local := []room.LocalServer{{Addr: someServers(9)[8].Addr}}
	tree := l.share(someServers(3), nil)
	if l.share(someServers(3), nil) != tree || l.restored(room.Shared(someServers(3), nil)) != tree {
		t.Error("an equal list is not shared")
	}
	if l.share(someServers(4), nil) == tree || l.share(someServers(3), local) == tree {
		t.Error("another list is shared")
	}
	for round := range 10 * maxFrames {
		first, err := l.frame(wire.List{Round: round, Servers: tree.List()})
		again, _ := l.frame(wire.List{Round: round, Servers: tree.List()})
		if err != nil || &first.Data[0] != &again.Data[0] {
			t.Fatalf("round %d: the frame is not shared, %v", round, err)
		}
		if list, err := wire.Unmarshal(first); err != nil || list.(wire.List).Round != round {
			t.Fatalf("round %d: the frame is %+v, %v", round, list, err)
		}
	}
	for n := range 2 * maxLists {
		l.share(someServers(n+10), nil)
	}
	if len(l.newest) > maxLists {
		t.Errorf("%d lists are kept", len(l.newest))
	}
	if frame, err := l.frame(wire.List{Round: 1, Servers: tree.List()}); err != nil || len(frame.Data) == 0 {
		t.Errorf("a list that is kept no more has no frame: %v", err)
	}
}
