package room_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
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
