package room_test

import (
	"slices"
	"testing"

	"muster/host/wire"
)

// TestServerThatIsNearToAll checks that a server is left out with a note, and no honest player is,
// if it answers three players at once who sit 100 ms apart from each other.
func TestServerThatIsNearToAll(t *testing.T) {
	const servers, liar, best = 60, 41, 59
	names := []string{"ann", "bob", "cat"}
	n := newSession(t, settings(len(names)))
	n.Join(names...)
	n.Gets(spreadOut(servers))
	n.InStage(wire.Measuring)
	n.Informs(names[0], slices.Repeat([]int{12}, servers)...)
	for player, name := range names {
		n.Took(name)
		ms := make([]int, servers)
		for server := range ms {
			ms[server] = 150 + server%7 // far from two of them, near to one
			if server%3 == player {
				ms[server] = 12 + server%5
			}
		}
		ms[liar], ms[best] = 1, 90
		n.Measures(name, ms...)
	}
	n.Done(names...)
	n.InStage(wire.Chosen)
	n.Noted("20.41.0.1:27960 answers players who are far apart as if it were next door to each: it’s left out")
	if chosen := n.Chosen().Server; chosen != best {
		t.Errorf("server %d is chosen, want %d", chosen, best)
	}
	for _, p := range n.View().People {
		if !p.Doubt.IsZero() || p.LeftOut {
			t.Errorf("%s is doubted: %q", p.Name, p.Doubt)
		}
	}
	same(t, n.Room, restored(t, n.Room))
}
