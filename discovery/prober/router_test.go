package prober

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

// farServers returns n servers on the internet, each in a network of its own.
func farServers(n int) []discovery.Server {
	servers := make([]discovery.Server, n)
	for i := range servers {
		servers[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(20 + i%150), byte(i / 150), 7, byte(i)}), 27960)
	}
	return servers
}

// nat is a router with room for a fixed number of partners. It forgets them after 30 s
// of silence and drops packets for others.
type nat struct {
	room  int
	known map[netip.AddrPort]time.Time
}

func (n *nat) passes(to netip.AddrPort) bool {
	now := time.Now()
	if last, known := n.known[to]; !known || now.Sub(last) > 30*time.Second {
		live := 0
		for _, at := range n.known {
			if now.Sub(at) <= 30*time.Second {
				live++
			}
		}
		if live >= n.room {
			return false
		}
	}
	n.known[to] = now
	return true
}

// isDead reports whether a server is dead: one in eight is.
func isDead(addr netip.AddrPort) bool { b := addr.Addr().As4(); return (int(b[0])+3*int(b[1]))%8 == 0 }

// TestSmallRouter checks a router with room for 300 or 100 servers at a time. All live
// servers are found, and the player is told. A caller that waits for answers is told
// when to expect none, and otherwise gets some every 15 seconds.
func TestSmallRouter(t *testing.T) {
	for _, c := range []struct {
		room, servers int
		rate          float64
		within        time.Duration
		neighbours    int // of one block are asked one after the other
	}{
		{300, 400, 250, 45 * time.Second, 1},
		{100, 300, 250, 3 * time.Minute, 1},
		{300, 1000, 250, 4 * time.Minute, 1},
		{100, 300, 20, 3 * time.Minute, 1},
		{300, 1000, 5000, 4 * time.Minute, 1},
		{100, 500, 250, 5 * time.Minute, 5},
	} {
		t.Run(fmt.Sprintf("room for %d, %d servers, %v a second, %d neighbours", c.room, c.servers, c.rate, c.neighbours), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home := &nat{c.room, map[netip.AddrPort]time.Time{}}
				sky := newSky(func(q sighting) []packet {
					if !home.passes(q.addr) || isDead(q.addr) {
						return nil
					}
					return say(80*ms, markedReply(q.text))
				})
				var log strings.Builder
				start := time.Now()
				var from, until time.Duration // of the rest
				p := virtual(t, Options{Protocol: marked{}, Rate: c.rate,
					Logger: slog.New(slog.NewTextHandler(&log, nil)), Rests: func(d time.Duration) {
						from, until = time.Since(start), time.Since(start)+d
					}}, sky)
				servers := farServers(c.servers)
				for i := range servers {
					if n := c.neighbours; n > 1 {
						servers[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(20 + i/n), 0, byte(i % n), 7}), 27960)
					}
				}
				wrong := 0
				for _, r := range scan(t, p, servers) {
					if (r.State == discovery.Answered) == isDead(servers[r.Server].Addr) {
						wrong++
					}
				}
				took := time.Since(start)
				if wrong > c.servers/100 || took > c.within || !strings.Contains(log.String(), "your router forgets connections") {
					t.Errorf("%d servers were lost wrongly, in %v; the player is told %s", wrong, took, log.String())
				}
				if rest := until - from; rest < 25*time.Second || rest > 35*time.Second {
					t.Errorf("it rests for %v", rest)
				}
				var asked []time.Duration
				for _, times := range sky.asked {
					asked = append(asked, times...)
				}
				slices.Sort(asked)
				for i, at := range asked[1:] {
					if since := asked[i]; at-since > 15*time.Second && (since > until || at < from) {
						t.Errorf("nobody is asked from %v to %v", since, at)
					}
				}
				if room := p.Stats().RouterCapacity; room < c.room*4/5 || room > c.room*6/5 {
					t.Errorf("it is taken to have room for %d", room)
				}
			})
		})
	}
}

// The router is not suspected of other losses, and nobody waits for it.
func TestRouterIsNotBlamed(t *testing.T) {
	servers := farServers(3000)
	for name, c := range map[string]struct {
		lost   func(server int, at time.Duration) bool
		within time.Duration
	}{
		"a third is dead": {func(i int, _ time.Duration) bool { return i*7%10 < 3 }, 16 * time.Second},
		"the line is down for five seconds": {func(_ int, at time.Duration) bool {
			return at > 4*time.Second && at < 9*time.Second
		}, 22 * time.Second},
		"all are dead":                  {func(int, time.Duration) bool { return true }, 30 * time.Second},
		"the list ends in dead servers": {func(i int, _ time.Duration) bool { return i >= 2600 }, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				index := map[netip.AddrPort]int{}
				for i, s := range servers {
					index[s.Addr] = i
				}
				var sky *sky
				sky = newSky(func(q sighting) []packet {
					if c.lost(index[q.addr], sky.now()) {
						return nil
					}
					return say(80*ms, markedReply(q.text))
				})
				var log strings.Builder
				p := virtual(t, Options{Protocol: marked{}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, sky)
				start := time.Now()
				err := p.Run(context.Background(), servers, discovery.NewConventional(len(servers)), nil)
				if took := time.Since(start); err != nil ||
					strings.Contains(log.String(), "your router") && strings.Contains(log.String(), "forgets") ||
					took > c.within || p.Stats().RouterCapacity != 0 {
					t.Errorf("took %v, %v; %s", took, err, log.String())
				}
			})
		})
	}
}
