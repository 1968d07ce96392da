package room

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// shortlySearched is a room of two that has searched a short list and looks again.
func shortlySearched(t *testing.T) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob")
	n.gets(far()[:50])
	n.searches()
	return n
}

// looksAgain has a player answer what it was asked for last: each RTT as before, and more of one
// server's.
func (n *session) looksAgain(name string, server int, more time.Duration) {
	m := lastFinalists(n, name)
	v := wire.Verified{Round: m.Round, Attempt: m.Attempt}
	for _, at := range m.Servers {
		rtt := n.room.round.player(name).witness.At(at).RTT
		if at == server {
			rtt += more
		}
		v.Servers = append(v.Servers, wire.Finalist{Server: at, State: discovery.Answered, Sent: m.Samples, RTTs: slices.Repeat([]float64{discovery.MS(rtt)}, m.Samples)})
	}
	n.says(name, v)
}

func lastFinalists(n *session, name string) (last wire.Finalists) {
	for _, m := range n.sent[name] {
		if f, is := m.(wire.Finalists); is {
			last = f
		}
	}
	return last
}

// TestShortLook: after the search of a short list a look takes one sample, and only who has a
// sample in doubt is asked another time.
func TestShortLook(t *testing.T) {
	n := shortlySearched(t)
	chosen := n.room.round.choice.Newest().Chosen.Server
	for _, name := range []string{"ann", "bob"} {
		if m := lastFinalists(n, name); m.Samples != 1 || !slices.Contains(m.Servers, chosen) {
			t.Fatalf("%s takes %d samples of %v, without %d", name, m.Samples, m.Servers, chosen)
		}
	}
	n.looksAgain("ann", chosen, 40*time.Millisecond)
	n.looksAgain("bob", chosen, 0)
	n.inStage(wire.Chosen)
	if m := lastFinalists(n, "bob"); m.Attempt != 1 || slices.Contains(n.room.round.looks.Save().Waiting, "bob") {
		t.Errorf("bob is asked again for %v", m.Servers)
	}
	m := lastFinalists(n, "ann")
	if m.Attempt != 2 || m.Samples != 1 || !slices.Equal(m.Servers, []int{chosen}) {
		t.Errorf("ann takes %d samples of %v, want one of %d", m.Samples, m.Servers, chosen)
	}
	n.looksAgain("ann", chosen, 0)
	if n.room.phase.stage() == wire.Chosen {
		t.Errorf("there is a third look; the log:\n%s", n.log())
	}
	if look, _ := n.room.round.player("ann").witness.Looked(chosen); look.Quality.Jitter != 0 || len(look.RTTs) != 3 {
		t.Errorf("one packet that met a queue makes it %v, of %v", look.Quality, look.RTTs)
	}
}

// betweenMates is the least time from one question of an address to the next.
const betweenMates = 1100 * time.Millisecond

// TestLooksRest: no server hears twice within a second from one player.
func TestLooksRest(t *testing.T) {
	for _, servers := range []int{50, 1000} { // searched as short lists are, and as long ones
		s := settings(2)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.join("ann", "bob")
		n.gets(far()[:servers])
		n.searches()
		chosen := n.room.round.choice.Newest().Chosen.Server
		last := map[string]time.Time{}
		for _, name := range []string{"ann", "bob"} {
			m, p := lastFinalists(n, name), n.room.round.player(name)
			last[name] = n.now.Add(time.Duration(m.After))
			for _, server := range m.Servers {
				probe, probed := p.witness.Probe(server)
				if asked := n.room.round.measuring.Add(probe.At - probe.RTT); probed && last[name].Sub(asked) < betweenMates {
					t.Errorf("of %d servers %s asks %d again after %v", servers, name, server, last[name].Sub(asked))
				}
			}
		}
		n.now = last["ann"].Add(200 * time.Millisecond) // when the answers are there
		n.looksAgain("ann", chosen, 40*time.Millisecond)
		n.looksAgain("bob", chosen, 0)
		n.inStage(wire.Chosen)
		m := lastFinalists(n, "ann")
		if again := n.now.Add(time.Duration(m.After)); m.Attempt != 2 || again.Sub(last["ann"]) < betweenMates {
			t.Errorf("of %d servers ann asks again after %v in look %d", servers, again.Sub(last["ann"]), m.Attempt)
		}
	}
}
