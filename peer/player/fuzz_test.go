package player

import (
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
)

// FuzzPlayer lets a host say anything at any time, and lets the shell answer late or never. The program must not panic,
// must ask only addresses that the host may ask for, and must always have a next moment.
func FuzzPlayer(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
	f.Add([]byte{1, 2, 11, 10, 3, 1, 11, 10, 4, 2, 11, 10, 10, 11, 6, 1, 12, 9, 0, 10})
	f.Fuzz(func(t *testing.T, choices []byte) {
		upTo := func(most int) int {
			if len(choices) == 0 {
				return 0
			}
			n := int(choices[0]) % (most + 1)
			choices = choices[1:]
			return n
		}
		servers := append(serversOf(6), discovery.Server{Addr: netip.MustParseAddrPort("127.0.0.1:27960")})
		s := newScript(t, Options{Once: upTo(1) > 0, HasPlaces: upTo(1) > 0, Seed: 1})
		for range 500 {
			if len(choices) == 0 {
				break
			}
			round := 1 + upTo(1)
			switch upTo(13) {
			case 0:
				s.hears(wire.Welcome{Version: wire.Version, Epoch: uint64(upTo(1)), Token: "token"})
			case 1:
				s.hears(wire.List{Round: round, Servers: servers[upTo(3):]})
			case 2:
				strategy := []string{"conventional", wire.Coordinated}[upTo(1)]
				s.hears(wire.Measure{Round: round, Game: "openarena", Strategy: strategy, Known: upTo(1), Max: upTo(4)})
			case 3:
				s.hears(wire.Ask{Round: round, Servers: []int{upTo(7)}, Own: upTo(3), Names: []int{upTo(3)}})
			case 4:
				s.hears(wire.Finalists{
					Round:   round,
					Game:    "openarena",
					Attempt: upTo(3),
					Servers: []int{upTo(7), 0}[upTo(2):],
					Samples: 1 + upTo(6),
					Max:     upTo(3),
				})
			case 5:
				s.hears(wire.Survey{
					Attempt: upTo(2),
					Samples: 1 + upTo(1),
					Places: wire.Venues{{Name: "a", Addr: hostport.At(servers[upTo(6)].Addr), Protocol: "tcp"},
						{Name: "b", Addr: hostport.At(servers[2].Addr), Protocol: "beacon"}},
				})
			case 6:
				s.hears(wire.Launch{Round: round, Game: "openarena", Address: servers[upTo(6)].Addr.String(), Again: int64(upTo(9))})
			case 7:
				s.hears(wire.Report{Round: round, Results: []discovery.Result{{Server: upTo(6), State: discovery.Answered, RTT: ms}}})
			case 8:
				s.hears(wire.Look{Game: "openarena"}, wire.Room{"room": []byte(`{"game":"xonotic"}`)})
				s.step(Found{Game: "openarena", Servers: []wire.NearServer{{Addr: servers[0].Addr}}})
			case 9:
				s.step(Lost{})
				s.step(Connected{2, netip.MustParseAddr("203.0.113.1")})
			case 10:
				s.passes(time.Duration(upTo(255)) * 20 * ms)
			case 11:
				if len(s.runs) > 0 {
					s.asks(upTo(6))
				}
			case 12:
				task := 1 + upTo(20)
				s.step(Progressed{Task: task, State: wire.LaunchStarted})
				s.step(Launched{task})
				s.step(Tried{Task: task})
				s.step(Brought{Task: task})
			case 13:
				s.step(Resting{For: time.Second})
			}
			if next := s.player.Next(); next.After(s.now.Add(RealPace.Flush)) {
				t.Fatalf("at %v the program needs no time until %v", s.now, next)
			}
		}
		for _, run := range s.runs {
			for _, server := range run.Servers {
				if !server.Addr.Addr().IsLoopback() {
					continue
				}
				plan := run.Watched(func(discovery.Result) {})
				for probe, verdict := plan.Next(); verdict == discovery.Go; probe, verdict = plan.Next() {
					if run.Servers[probe.Server].Addr.Addr().IsLoopback() {
						t.Fatalf("a host on the internet has %v asked", server.Addr)
					}
				}
			}
		}
	})
}
