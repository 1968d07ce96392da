package prober

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

// victim is a stranger's address. A list names many of its ports.
var victim = netip.MustParseAddr("203.0.113.7")

func portsOf(addr netip.Addr, n int) []discovery.Server {
	servers := make([]discovery.Server, n)
	for i := range servers {
		servers[i].Addr = netip.AddrPortFrom(addr, uint16(1024+i))
	}
	return servers
}

// meter counts the packets that arrive, second by second.
type meter struct {
	start time.Time

	mu      sync.Mutex // guards the fields below
	seconds map[int]int
	total   int
}

func newMeter() *meter { return &meter{start: time.Now(), seconds: map[int]int{}} }

func (m *meter) count() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seconds[int(time.Since(m.start)/time.Second)]++
	m.total++
}

func (m *meter) most() (most int) {
	for _, n := range m.seconds {
		most = max(most, n)
	}
	return most
}

// rounds makes peers measure a list again and again, as a host may ask. It returns the
// packets that arrive there. Each round is a run of its own, and every tenth one is run
// by another prober of the same program.
func rounds(t *testing.T, peers int, servers []discovery.Server, whole time.Duration) *meter {
	m := newMeter()
	var together sync.WaitGroup
	for range peers {
		together.Go(func() {
			allowance := NewAllowance()
			for n := 0; time.Since(m.start) < whole; n++ {
				sky := newSky(func(sighting) []packet { m.count(); return nil })
				p := virtual(t, Options{Protocol: plain{}, Allowance: allowance, Rate: 1000}, sky)
				p.Share(peers)
				for range 10 {
					if err := p.Run(context.Background(), servers, discovery.NewConventional(len(servers)), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	together.Wait()
	return m
}

// TestNobodyIsAimed checks the bounds when a host asks its peers for all ports of one
// address, or for all addresses of a network, round after round.
func TestNobodyIsAimed(t *testing.T) {
	t.Parallel()
	network := func(servers int) (list []discovery.Server) {
		addr := netip.MustParseAddr("203.0.113.0")
		for i := range servers {
			if i%256 == 0 {
				addr = netip.MustParseAddr("203.0.113.0")
			}
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, uint16(1024+i/256))})
			addr = addr.Next()
		}
		return list
	}
	const whole = 4 * time.Minute
	for _, c := range []struct {
		name    string
		peers   int
		servers []discovery.Server
		second  int // most packets in any second
		// the most packets of a peer: in the first moment, and in each later second
		first, later float64
	}{
		{"one address, one peer", 1, portsOf(victim, 2000), 16 + 8, 256, 0.5},
		{"one address, five peers", 5, portsOf(victim, 2000), 5 * (16 + 8), 256, 0.5},
		{"one address, a room of 64", 64, portsOf(victim, 300), 256 + 128, 256, 0.5},
		{"one network, one peer", 1, network(4000), 64 + 32, 1024, 4},
		{"one network, a room of 64", 64, network(600), 1024 + 512, 1024, 4},
		{"one IPv6 customer", 1, func() (list []discovery.Server) {
			addr := netip.MustParseAddr("2001:db8:1:2::")
			for range 2000 {
				list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)})
				addr = addr.Next()
			}
			return list
		}(), 16 + 8, 256, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := rounds(t, c.peers, c.servers, whole)
				total := float64(c.peers) * (c.first + c.later*time.Since(m.start).Seconds())
				if m.most() > c.second || float64(m.total) > total {
					t.Errorf("%d packets in one second, want at most %d; %d in all, want at most %.0f", m.most(), c.second, m.total, total)
				}
			})
		})
	}
}

// TestHonestEvening checks that the bounds allow twenty rounds over a list with 32
// servers at one address. Each server demands its challenge, and seven get second
// looks.
func TestHonestEvening(t *testing.T) {
	for _, among := range []int{1, 8, 64} {
		synctest.Test(t, func(t *testing.T) {
			sky := newSky(func(q sighting) []packet {
				if q.text == "ask|" {
					return say(50*ms, "challenge|abcd")
				}
				return say(50*ms, "info|de_dust")
			})
			p := virtual(t, Options{Protocol: plain{}}, sky)
			for n := range 20 {
				p.Share(among)
				began := time.Now()
				for _, r := range scan(t, p, portsOf(victim, 32)) {
					if r.State != discovery.Answered || r.Info == nil {
						t.Fatalf("%d players, round %d: server %d is %v, %+v", among, n, r.Server, r.State, r.Info)
					}
				}
				if took := time.Since(began); took > 8*time.Second*time.Duration(max(1, among/fullRatePlayers)) {
					t.Errorf("%d players, round %d took %v", among, n, took)
				}
				p.Share(1)
				for range 3 {
					time.Sleep(time.Second)
					scan(t, p, portsOf(victim, 7))
				}
				time.Sleep(200*time.Second - time.Since(began))
			}
			if got := p.Stats().Forbidden; got > 0 {
				t.Errorf("%d players: %d servers were not asked", among, got)
			}
		})
	}
}

// TestLoopbackIsFree checks a fleet with all its servers on this machine.
func TestLoopbackIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet { return say(20*ms, markedReply(q.text)) })
		p := virtual(t, Options{Protocol: marked{}, Rate: 10000}, sky)
		start := time.Now()
		results := scan(t, p, portsOf(netip.MustParseAddr("127.0.0.1"), 30000))
		if took := time.Since(start); len(results) != 30000 || took > 3100*ms || p.Stats().Forbidden > 0 {
			t.Errorf("%d servers in %v, %d forbidden", len(results), took, p.Stats().Forbidden)
		}
	})
}

// TestLANParty checks sixty A2S servers on one machine of the local network.
func TestLANParty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet {
			if q.text == "ask|" {
				return say(ms, "challenge|abcd")
			}
			return say(ms, "info|de_dust")
		})
		p := virtual(t, Options{Protocol: plain{}}, sky)
		for range 5 {
			start := time.Now()
			results := scan(t, p, portsOf(netip.MustParseAddr("192.168.1.10"), 60))
			if took := time.Since(start); len(results) != 60 || took > 3*time.Second || p.Stats().Forbidden > 0 {
				t.Errorf("%d servers in %v, %d forbidden", len(results), took, p.Stats().Forbidden)
			}
			time.Sleep(3 * time.Minute)
		}
	})
}

// A server that may not be asked is neither lost nor answered.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet { return say(20*ms, markedReply(q.text)) })
		p := virtual(t, Options{Protocol: marked{}}, sky)
		for n, want := range []string{"map[answered:95 forbidden:405]", "map[answered:80 forbidden:420]",
			"map[answered:80 forbidden:420]", "map[answered:20 forbidden:480]"} {
			states := map[string]int{}
			for _, r := range scan(t, p, portsOf(victim, 500)) {
				states[r.State.String()]++
			}
			if got := fmt.Sprint(states); got != want {
				t.Errorf("round %d: %s, want %s", n, got, want)
			}
		}
		if s := p.Stats(); s.Forbidden+s.PacketsSent != 2000 {
			t.Errorf("%d forbidden, %d packets", s.Forbidden, s.PacketsSent)
		}
	})
}

// A server that waits for its turn delays no other.
func TestWaitingHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet { return say(20*ms, markedReply(q.text)) })
		p := virtual(t, Options{Protocol: marked{}, InFlight: 4}, sky)
		servers := append(portsOf(victim, 40), list(1)...)
		scan(t, p, servers)
		if at := sky.asked[address(0)]; len(at) != 1 || at[0] > 500*ms {
			t.Errorf("the server behind them was asked at %v", at)
		}
	})
}

// A plan that wants to know is told about servers as they are asked. It never hears
// about those that are not asked in time.
func TestWitness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := virtual(t, Options{Protocol: marked{}}, newSky(func(sighting) []packet { return nil }))
		ctx, cancel := context.WithTimeout(t.Context(), 900*ms)
		defer cancel()
		w := witness{discovery.NewConventional(40), map[int]bool{}}
		p.Run(ctx, portsOf(victim, 40), w, nil)
		if got := len(w.asked); got < 16 || got > 16+8 {
			t.Errorf("%d of 40 servers at one address were asked in 0.9 s", got)
		}
	})
}

type witness struct {
	discovery.Plan
	asked map[int]bool
}

func (w witness) Asked(server int) { w.asked[server] = true }

// Places differ by address and network, for IPv6 by customer and site.
func TestPlaces(t *testing.T) {
	a := NewAllowance()
	for _, c := range []struct {
		one, other             string
		sameAddress, sameBlock bool
	}{
		{"203.0.113.7", "203.0.113.7", true, true},
		{"203.0.113.7", "203.0.113.8", false, true},
		{"203.0.113.7", "203.0.114.7", false, false},
		{"203.0.113.7", "::ffff:203.0.113.7", true, true},
		{"2001:db8:1:2::3", "2001:db8:1:2:ffff::", true, true},
		{"2001:db8:1:2::3", "2001:db8:1:3::3", false, true},
		{"2001:db8:1:2::3", "2001:db8:2:2::3", false, false},
	} {
		at, of := a.place(netip.MustParseAddr(c.one))
		at2, of2 := a.place(netip.MustParseAddr(c.other))
		if got := fmt.Sprint(at == at2, of == of2); got != fmt.Sprint(c.sameAddress, c.sameBlock) {
			t.Errorf("%s and %s: %s", c.one, c.other, got)
		}
	}
}
