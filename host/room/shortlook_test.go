package room_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
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

// lateRoom returns a room that searches two servers. Ben's version does not get into the nearer one.
func lateRoom(t *testing.T, origins map[string]room.Origin) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Origins = origins
	n.Join("ann")
	n.JoinAs(wire.Hello{Name: "ben", Editions: edition56, Program: "BENS"})
	n.Gets(far()[:2])
	n.InStage(wire.Refining)
	n.Wait(200 * time.Millisecond)
	return n
}

// findsLate lets a player report a server. If the server answered, the report has its facts.
func (n *session) findsLate(name string, state discovery.State, server int) {
	n.Helper()
	info := discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44, MaxPlayers: 16}
	if server == 1 {
		info = discovery.Info{Version: "5.6.1", Protocol: 41, OldestProtocol: 37, MaxPlayers: 16}
	}
	result := discovery.Result{Server: server, State: state}
	if state == discovery.Answered {
		result.RTT = 20 * time.Millisecond
		n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: server, Info: info}}})
	}
	n.Says(name, wire.Report{Round: 1, Results: []discovery.Result{result}})
}

// TestLastAnswer checks that a search waits for the last answer if no server suits everyone without
// it, although everybody has measured one.
func TestLastAnswer(t *testing.T) {
	n := lateRoom(t, map[string]room.Origin{"ann": public("192.0.2.1"), "ben": public("192.0.2.3")})
	for _, name := range []string{"ann", "ben"} {
		n.findsLate(name, discovery.Answered, 0)
	}
	n.findsLate("ann", discovery.Answered, 1)
	n.Wait(8 * time.Second)
	n.InStage(wire.Refining)
	n.findsLate("ben", discovery.Answered, 1)
	n.Wait(300 * time.Millisecond)
	n.InStage(wire.Chosen)
	if got := n.Chosen().Server; got != 1 {
		t.Errorf("server %d is chosen; the log:\n%s", got, n.Story())
	}
}

// TestLastAnswerInstead checks that a search waits as long for a player who was asked in place of
// another at the same address, who has heard nothing.
func TestLastAnswerInstead(t *testing.T) {
	n := lateRoom(t, map[string]room.Origin{"ann": public("192.0.2.1"), "ben": public("192.0.2.1")})
	isAsked := func(name string, server int) bool {
		return slices.ContainsFunc(n.takes(name), func(ask wire.Ask) bool { return slices.Contains(ask.Servers, server) })
	}
	first, second := "ann", "ben"
	for _, name := range []string{"ann", "ben"} {
		n.findsLate(name, discovery.Answered, 0)
	}
	if isAsked("ben", 1) {
		first, second = "ben", "ann"
	}
	n.Wait(7 * time.Second)
	n.findsLate(first, discovery.Lost, 1)
	if !isAsked(second, 1) {
		t.Fatalf("%s is not asked; the log:\n%s", second, n.Story())
	}
	n.Wait(8 * time.Second)
	n.InStage(wire.Refining)
	n.findsLate(second, discovery.Answered, 1)
	n.Wait(300 * time.Millisecond)
	if stage := n.Room.Stage(); stage == wire.Failed {
		t.Errorf("nothing suits; the log:\n%s", n.Story())
	}
}

// way is the path between a player and a server: its ping without a queue, the average queue, both
// in ms, and the share of lost packets.
type way struct{ rtt, queue, loss float64 }

// ask returns the fate of one packet. One in 70 meets a full queue.
func (w way) ask(rng *rand.Rand) (ms float64, answered bool) {
	ms = w.rtt + w.queue*rng.ExpFloat64()
	if rng.IntN(70) == 0 {
		ms += 20 + 40*rng.Float64()
	}
	return ms, rng.Float64() >= w.loss
}

// looked returns what a player sees in so many samples.
func looked(ways []way, m wire.Finalists, samples int, rng *rand.Rand) (seen []wire.Finalist) {
	for _, server := range m.Servers {
		f := wire.Finalist{
			Server: server,
			State:  discovery.Lost,
			RTTs:   []float64{},
			Sent:   samples,
			Info:   &discovery.Info{Name: fmt.Sprint("server ", server), MaxPlayers: 16},
		}
		for range samples {
			if ms, answered := ways[server].ask(rng); answered {
				f.State, f.RTTs = discovery.Answered, append(f.RTTs, ms)
			}
		}
		seen = append(seen, f)
	}
	return seen
}

// toLook returns a room whose players have measured servers behind such paths, the same for all,
// and are asked to look at the best again.
func toLook(t *testing.T, ways []way, long time.Duration, rng *rand.Rand) *session {
	t.Helper()
	names := []string{"ann", "bob", "cat", "dan"}
	s := settings(len(names))
	s.LongLook = discovery.Millis(long)
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.Join(names...)
	n.Listed(len(ways))
	for _, name := range names {
		var ms []int
		n.Informs(name, slices.Repeat([]int{16}, len(ways))...)
		for _, w := range ways {
			rtt, _ := w.ask(rng)
			ms = append(ms, int(rtt))
		}
		n.Measures(name, ms...)
		n.Done(name)
	}
	n.InStage(wire.Chosen)
	return n
}

// chooses lets everybody look as often as they are asked to, and returns the chosen server.
func (n *session) chooses(ways []way, rng *rand.Rand) (server int) {
	n.Helper()
	for range 2 * maxTries {
		if !n.IsVerifying() {
			break
		}
		for _, name := range n.Players() {
			m := n.Looks[name]
			n.Says(name, wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: looked(ways, m, m.Samples, rng)})
		}
	}
	return n.Chosen().Server
}

var looks = flag.Int("looks", 0, "how many rooms look at servers that lose packets or jitter, for bench/experiments/long-look.md")

// TestLooks checks that a long look chooses a server behind clean paths at least as often as a
// short one if the nearest servers are behind poor ones.
func TestLooks(t *testing.T) {
	rooms := max(*looks, 12)
	cases := []way{{0, 1, 0}, {0, 1, .01}, {0, 1, .02}, {0, 1, .03}, {0, 1, .05}, {0, 1, .1}, {0, 4, 0}, {0, 8, 0}, {0, 16, 0}}
	var better, worse int
	for _, nearer := range []float64{0, 3, 10} {
		for i, poor := range cases {
			row := fmt.Sprintf("| %2.0f ms | %3.0f %% | %2.0f ms |", nearer, 100*poor.loss, poor.queue)
			clean := map[time.Duration]int{}
			for _, long := range []time.Duration{0, 15 * time.Second, 30 * time.Second, 60 * time.Second} {
				for seed := range rooms {
					rng := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
					ways := []way{{40 - nearer, poor.queue, poor.loss}, {41 - nearer, poor.queue, poor.loss}, {40, 1, 0}, {42, 1, 0}, {44, 1, 0}}
					n := toLook(t, ways, long, rng)
					if n.chooses(ways, rng) >= 2 {
						clean[long]++
					}
				}
				row += fmt.Sprintf(" %3.0f %% |", 100*float64(clean[long])/float64(rooms))
			}
			if poor.loss >= .05 || poor.queue >= 8 {
				better += clean[30*time.Second]
				worse += clean[0]
			}
			if *looks > 0 {
				t.Log(row)
			}
		}
	}
	if better < worse {
		t.Errorf("clean ways are chosen %d times after a long look, %d after a short one", better, worse)
	}
}
