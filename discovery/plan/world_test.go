package plan

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/topology"
)

// far is a made-up internet: the RTT of each server, negative if it is silent.
type far []time.Duration

// execute drives a plan with this many probes under way, answered in a random order. It
// returns the probes in their order.
func (f far) execute(t *testing.T, plan discovery.Plan, inFlight int) []discovery.Probe {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var asked []discovery.Probe
	var pending []discovery.Result
	seen := make(map[int]bool)
	observe := func() {
		at := rng.IntN(len(pending))
		plan.Observe(pending[at])
		pending = append(pending[:at], pending[at+1:]...)
	}
	for {
		if len(pending) == inFlight {
			observe()
		}
		probe, verdict := plan.Next()
		switch verdict {
		case discovery.Stop:
			for len(pending) > 0 {
				observe()
			}
			return asked
		case discovery.Wait:
			if len(pending) == 0 {
				t.Fatalf("after %d probes the plan waits for nothing", len(asked))
			}
			observe()
		case discovery.Go:
			if seen[probe.Server] || probe.Server < 0 || probe.Server >= len(f) {
				t.Fatalf("probe %d names server %d again, or one that is not there", len(asked), probe.Server)
			}
			seen[probe.Server] = true
			asked = append(asked, probe)
			r := discovery.Result{Server: probe.Server, Order: len(asked), Phase: probe.Phase, State: discovery.Lost}
			if f[probe.Server] >= 0 {
				r.State, r.RTT = discovery.Answered, f[probe.Server]
			}
			pending = append(pending, r)
		}
	}
}

// scattered returns a list of n servers in a few countries, ASes and prefixes. Some
// have no known place, some use IPv6, some share an address.
func scattered(n int, seed uint64) []discovery.Server {
	rng := rand.New(rand.NewPCG(seed, 3))
	countries, ases := []string{"", "AU", "DE", "JP", "US"}, []uint32{0, 1, 2, 3, 4, 5, 6}
	used := make(map[netip.AddrPort]bool)
	var servers []discovery.Server
	for len(servers) < n {
		addr := netip.AddrFrom4([4]byte{byte(60 + rng.IntN(4)), byte(rng.IntN(6)), byte(rng.IntN(3)), byte(rng.IntN(40))})
		if rng.IntN(8) == 0 {
			addr = netip.MustParseAddr(fmt.Sprintf("2001:db8:%x::%x", rng.IntN(4), rng.IntN(9)))
		}
		s := discovery.Server{Addr: netip.AddrPortFrom(addr, uint16(27960+rng.IntN(4)))}
		at := int(addr.As16()[13]) + int(addr.As16()[5])
		s.Country, s.ASN = countries[at%len(countries)], ases[(at*3)%len(ases)]
		if !used[s.Addr] {
			used[s.Addr] = true
			servers = append(servers, s)
		}
	}
	return servers
}

const ms = time.Millisecond

// many returns n lines of servers in a prefix, from .1 upwards.
func many(n int, prefix, rest string) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s.%d:1 %s", prefix, i+1, rest))
	}
	return lines
}

// trace runs a plan on a world given as RTTs in ms, one probe at a time. It returns the
// probes of each phase.
func trace(t *testing.T, strategy discovery.Strategy, servers []discovery.Server, o discovery.PlanOptions,
	rtts []int) (samples, ordered []int, s discovery.PlanSummary) {
	t.Helper()
	world := make(far, len(rtts))
	for i, rtt := range rtts {
		world[i] = time.Duration(rtt) * ms
	}
	plan, err := New(strategy, topology.New(servers), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range world.execute(t, plan, 1) {
		if p.Phase == discovery.Calibration {
			samples = append(samples, p.Server)
		} else {
			ordered = append(ordered, p.Server)
		}
	}
	return samples, ordered, plan.Summary()
}

// globe has a few near networks among many far ones.
func globe(t *testing.T, seed uint64) ([]discovery.Server, []int) {
	var networks []testlist.Network
	for i := range 40 {
		networks = append(networks, testlist.Network{Country: []string{"DE", "GB", "FR", "SE"}[i%4], Servers: 40, RTT: 300 + i})
	}
	networks = append(networks, testlist.Network{Country: "AU", Servers: 30, RTT: 20},
		testlist.Network{Country: "AU", Servers: 20, RTT: 40}, testlist.Network{Country: "NZ", Servers: 10, RTT: 60},
		testlist.Network{Country: "JP", Servers: 20, RTT: 150}, testlist.Network{Country: "US", Servers: 60, RTT: 190},
		testlist.Network{Country: "US", Servers: 60, RTT: 215})
	return testlist.Build(t, networks, seed)
}

func nearOf(rtts []int, limit int) (n int) {
	for _, rtt := range rtts {
		if rtt < limit {
			n++
		}
	}
	return n
}

func pickInts(from, at []int) (picked []int) {
	for _, i := range at {
		picked = append(picked, from[i])
	}
	return picked
}
