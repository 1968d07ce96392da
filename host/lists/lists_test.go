package lists

import (
	"net/netip"
	"testing"

	"muster/discovery"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// TestLists checks that rooms share equal lists and their frames, and that many rounds and games do
// not make many of them.
func TestLists(t *testing.T) {
	l := New(&store.None{})
	local := []room.LocalServer{{Addr: someServers(9)[8].Addr}}
	tree := l.Share(someServers(3), nil)
	if l.Share(someServers(3), nil) != tree || l.Restored(room.Shared(someServers(3), nil)) != tree {
		t.Error("an equal list is not shared")
	}
	if l.Share(someServers(4), nil) == tree || l.Share(someServers(3), local) == tree {
		t.Error("another list is shared")
	}
	for round := range 10 * maxFrames {
		first, err := l.Frame(wire.List{Round: round, Servers: tree.List()})
		again, _ := l.Frame(wire.List{Round: round, Servers: tree.List()})
		if err != nil || &first.Data[0] != &again.Data[0] {
			t.Fatalf("round %d: the frame is not shared, %v", round, err)
		}
		if list, err := wire.Unmarshal(first); err != nil || list.(wire.List).Round != round {
			t.Fatalf("round %d: the frame is %+v, %v", round, list, err)
		}
	}
	for n := range 2 * maxLists {
		l.Share(someServers(n+10), nil)
	}
	if len(l.newest) > maxLists {
		t.Errorf("%d lists are kept", len(l.newest))
	}
	if frame, err := l.Frame(wire.List{Round: 1, Servers: tree.List()}); err != nil || len(frame.Data) == 0 {
		t.Errorf("a list that is kept no more has no frame: %v", err)
	}
}

func someServers(n int) []discovery.Server {
	list := make([]discovery.Server, n)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + i>>8), byte(i)}), 27960)
	}
	return list
}
