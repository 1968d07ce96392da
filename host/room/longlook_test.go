package room_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
)

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

// TestLongLook checks that players in a look of half a minute ask about once a second each, and
// that the others see them do so. The choice tells what they saw, even if they do not end the look
// themselves.
func TestLongLook(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	ways := []way{{30, 1, 0.2}, {36, 1, 0}, {40, 1, 0}, {44, 1, 0}, {48, 1, 0}}
	n := toLook(t, ways, 30*time.Second, rng)
	m := n.Looks["bob"]
	if m.Samples < 20 || m.Samples > 30 {
		t.Errorf("%d samples in 30 s", m.Samples)
	}
	n.Says("bob", wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: looked(ways, m, 12, rng), More: true})
	view := n.View().Look
	if view == nil || view.Until.Sub(n.Now) < 29*time.Second || view.Finalists[0].Lines["bob"].Sent != 12 ||
		len(view.Finalists[0].Lines) != 1 {
		t.Fatalf("what is shown is %+v", view)
	}
	n.Wait(29 * time.Second) // nobody is overdue yet
	if !n.IsVerifying() {
		t.Fatalf("the look is over; the log:\n%s", n.Story())
	}
	same(t, n.Room, restored(t, n.Room))
	if chosen := n.chooses(ways, rng); chosen == 0 {
		t.Error("the server that loses every fifth packet is chosen")
	}
	s := n.Choice()
	if says := strings.Join(catalogue.InEnglish().SayAll(s.Explain()), "\n"); s.LookedS < 29 || s.Chosen.WorstMS["dan"] == 0 ||
		!strings.Contains(says, "Everyone tested the best server for ") {
		t.Errorf("%+v: %s", s.Chosen, says)
	}
}

// TestLongLookCutShort checks that the organiser's go ends the look with the results so far.
func TestLongLookCutShort(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 18))
	ways := []way{{30, 1, 0.4}, {36, 1, 0}, {60, 1, 0}, {64, 1, 0}, {68, 1, 0}}
	n := toLook(t, ways, 30*time.Second, rng)
	n.Wait(15 * time.Second)
	for _, name := range []string{"ann", "bob", "cat"} { // dan says nothing
		m := n.Looks[name]
		n.Says(name, wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: looked(ways, m, 12, rng), More: true})
	}
	if err := n.Acts(n.PageOf("bob"), room.Go{}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob ends the look: %v", err)
	}
	if err := n.Orders(room.Go{Stage: wire.Chosen}); err != nil {
		t.Fatal(err)
	}
	n.Noted("the organiser says go: choosing from what this look has shown so far")
	if chosen := n.Chosen(); chosen.Server != 1 || n.Choice().LookedS != 15 {
		t.Errorf("chosen is %+v after %v s", chosen, n.Choice().LookedS)
	}
	if m := n.Looks["dan"]; len(m.Servers) != 0 {
		t.Errorf("dan still looks at %v", m.Servers)
	}
}

// TestLongLookEnds checks that a player without all results at the end of the look holds nobody up,
// and that the results so far count.
func TestLongLookEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 18))
	ways := []way{{30, 1, 0}, {36, 1, 0}, {60, 1, 0}}
	n := toLook(t, ways, 30*time.Second, rng)
	n.Wait(30*time.Second + lookTime + time.Second)
	n.Noted("dan didn’t look again: taking the first measurements")
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
