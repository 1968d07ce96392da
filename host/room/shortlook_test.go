package room_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// shortlySearched returns a room of two that has searched a short list and looks again.
func shortlySearched(t *testing.T) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Join("ann", "bob")
	n.Gets(far()[:50])
	n.searchesOn("ann", "bob")
	return n
}

// looksAgain answers a player's last look with the earlier RTTs. One server's RTT is longer by
// more.
func (n *session) looksAgain(name string, server int, more time.Duration) {
	m := n.Looks[name]
	v, probes := wire.Verified{Round: m.Round, Attempt: m.Attempt}, traceOf(n.Room, name)
	for _, at := range m.Servers {
		rtt := probes[at].RTT
		if at == server {
			rtt += more
		}
		v.Servers = append(v.Servers, wire.Finalist{
			Server: at,
			State:  discovery.Answered,
			Sent:   m.Samples,
			RTTs:   slices.Repeat([]float64{discovery.MS(rtt)}, m.Samples),
		})
	}
	n.Says(name, v)
}

// TestShortLook checks that a look after the search of a short list takes one sample, and that only
// a player with a sample in doubt is asked again.
func TestShortLook(t *testing.T) {
	n := shortlySearched(t)
	chosen := n.Chosen().Server
	before := n.Saw("ann", chosen).RTT
	for _, name := range []string{"ann", "bob"} {
		if m := n.Looks[name]; m.Samples != 1 || !slices.Contains(m.Servers, chosen) {
			t.Fatalf("%s takes %d samples of %v, without %d", name, m.Samples, m.Servers, chosen)
		}
	}
	n.looksAgain("ann", chosen, 40*time.Millisecond)
	n.looksAgain("bob", chosen, 0)
	n.InStage(wire.Chosen)
	if m := n.Looks["bob"]; m.Attempt != 1 {
		t.Errorf("bob is asked again for %v", m.Servers)
	}
	m := n.Looks["ann"]
	if m.Attempt != 2 || m.Samples != 1 || !slices.Equal(m.Servers, []int{chosen}) {
		t.Errorf("ann takes %d samples of %v, want one of %d", m.Samples, m.Servers, chosen)
	}
	n.looksAgain("ann", chosen, 0)
	if n.Room.Stage() == wire.Chosen {
		t.Errorf("there is a third look; the log:\n%s", n.Story())
	}
	if c := n.Chosen(); c.Server != chosen || c.JitterMS["ann"] != 0 || c.Loss["ann"] != 0 || c.RTT["ann"] != discovery.MS(before) {
		t.Errorf("one packet that met a queue, beside %v, makes server %d, now %+v", before, chosen, c)
	}
}

// betweenMates is the least time from one question of an address to the next.
const betweenMates = 1100 * time.Millisecond

// TestLooksRest checks that a player asks no server twice within a second.
func TestLooksRest(t *testing.T) {
	for _, servers := range []int{50, 1000} { // searched as a short list, and as a long one
		s := settings(2)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.Join("ann", "bob")
		n.Gets(far()[:servers])
		n.searchesOn("ann", "bob")
		chosen := n.Chosen().Server
		last := map[string]time.Time{}
		for _, name := range []string{"ann", "bob"} {
			m, probes := n.Looks[name], traceOf(n.Room, name)
			last[name] = n.Now.Add(time.Duration(m.After))
			for _, server := range m.Servers {
				probe, probed := probes[server]
				if asked := n.View().Room.Began.Add(probe.At - probe.RTT); probed && last[name].Sub(asked) < betweenMates {
					t.Errorf("of %d servers %s asks %d again after %v", servers, name, server, last[name].Sub(asked))
				}
			}
		}
		n.Now = last["ann"].Add(200 * time.Millisecond) // when the answers are there
		n.looksAgain("ann", chosen, 40*time.Millisecond)
		n.looksAgain("bob", chosen, 0)
		n.InStage(wire.Chosen)
		m := n.Looks["ann"]
		if again := n.Now.Add(time.Duration(m.After)); m.Attempt != 2 || again.Sub(last["ann"]) < betweenMates {
			t.Errorf("of %d servers ann asks again after %v in look %d", servers, again.Sub(last["ann"]), m.Attempt)
		}
	}
}
