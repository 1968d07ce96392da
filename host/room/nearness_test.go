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
	n.join(names...)
	n.gets(spreadOut(servers))
	n.inStage(wire.Measuring)
	n.informs(names[0], slices.Repeat([]int{12}, servers)...)
	for player, name := range names {
		n.took(name)
		ms := make([]int, servers)
		for server := range ms {
			ms[server] = 150 + server%7 // far from two of them, near to one
			if server%3 == player {
				ms[server] = 12 + server%5
			}
		}
		ms[liar], ms[best] = 1, 90
		n.measures(name, ms...)
	}
	n.done(names...)
	n.inStage(wire.Chosen)
	n.noted("20.41.0.1:27960 answers players who are far apart as if it were next door to each: it’s left out")
	if chosen := n.chosen().Server; chosen != best {
		t.Errorf("server %d is chosen, want %d", chosen, best)
	}
	for _, p := range n.view().People {
		if !p.Doubt.IsZero() || p.LeftOut {
			t.Errorf("%s is doubted: %q", p.Name, p.Doubt)
		}
	}
	same(t, n.room, restored(t, n.room))
}
