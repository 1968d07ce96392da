package player_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/peer/player"
	"muster/selection/memory"
)

// TestRemembers checks that the program sends its memory to each host that welcomes it. It also
// checks that a round's results are remembered once the player launches, or when the next round
// begins.
func TestRemembers(t *testing.T) {
	earlier := memory.Cell{Part: memory.Part{Country: "SE", ASN: 8}, MS: 40, Count: 1, Seen: time.Unix(0, 0).UTC()}
	p := player.New(player.Options{Hello: wire.Hello{Name: "ann"}, Pace: player.RealPace, Memory: []memory.Cell{earlier}}, time.Unix(0, 0))
	var said, kept []memory.Cell
	run := 0
	step := func(in player.Input) {
		t.Helper()
		said, kept = nil, nil
		for _, o := range p.Step(in, time.Unix(100, 0)) {
			switch o := o.(type) {
			case player.Send:
				if m, is := o.Message.(wire.Memory); is {
					said = m.Cells
				}
			case player.Remember:
				kept = o.Cells
			case player.Run:
				run = o.Task
			}
		}
	}
	hear := func(m wire.Message) { t.Helper(); step(player.Hear{Message: m}) }
	step(player.Connected{Line: 1, Host: netip.IPv6Loopback()})
	hear(wire.Welcome{Version: wire.Version})
	if !slices.Equal(said, []memory.Cell{earlier}) {
		t.Errorf("a host that welcomes hears %v", said)
	}
	list := []discovery.Server{
		{Addr: netip.MustParseAddrPort("127.0.0.1:27960"), Country: "DE", ASN: 7}, {Addr: netip.MustParseAddrPort("127.0.1.1:27960"), Country: "DE", ASN: 7},
	}
	measure := func(round, server int, ms time.Duration) {
		hear(wire.List{Round: round, Servers: list})
		hear(wire.Measure{Round: round, Game: "openarena", Strategy: wire.Coordinated})
		hear(wire.Ask{Round: round, Servers: []int{server}})
		step(player.Seen{Task: run, Results: []discovery.Result{{Server: server, State: discovery.Answered, RTT: ms * time.Millisecond}}})
	}
	tells := func(when string, want ...float64) {
		t.Helper()
		var got []float64
		for _, c := range kept {
			got = append(got, c.MS)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s the program remembers %v ms, want %v", when, got, want)
		}
	}
	measure(1, 0, 10)
	tells("while it measures")
	hear(wire.Launch{Round: 1, Game: "openarena", Address: "127.0.0.1:27960"})
	tells("once it launches", 10, 40)
	hear(wire.Launch{Round: 1, Game: "openarena", Address: "127.0.0.1:27960", Again: 1})
	tells("at a second launch")
	measure(2, 1, 20)
	hear(wire.List{Round: 3, Servers: list})
	tells("when a round begins", 10, 20, 40)
	hear(wire.Welcome{Version: wire.Version, Epoch: 1})
	if len(said) != 3 {
		t.Errorf("another host hears %v", said)
	}
}
