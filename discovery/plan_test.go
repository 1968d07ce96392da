package discovery

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// far is a made-up internet: the RTT of each server, negative if it is silent.
type far []time.Duration

// execute drives a plan with so many probes under way, answered in a random
// order, and says which servers were asked, in which order and why.
func (f far) execute(t *testing.T, plan Plan, inFlight int) []Probe {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var asked []Probe
	var pending []Result
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
		case Stop:
			for len(pending) > 0 {
				observe()
			}
			return asked
		case Wait:
			if len(pending) == 0 {
				t.Fatalf("after %d probes the plan waits for nothing", len(asked))
			}
			observe()
		case Go:
			if seen[probe.Server] || probe.Server < 0 || probe.Server >= len(f) {
				t.Fatalf("probe %d names server %d again, or one that is not there", len(asked), probe.Server)
			}
			seen[probe.Server] = true
			asked = append(asked, probe)
			r := Result{Server: probe.Server, Order: len(asked), Phase: probe.Phase, State: Lost}
			if f[probe.Server] >= 0 {
				r.State, r.RTT = Answered, f[probe.Server]
			}
			pending = append(pending, r)
		}
	}
}

// scattered is a list of n servers in a few countries, ASes and prefixes, some
// of which nothing is known of, some over IPv6, some sharing an address.
func scattered(n int, seed uint64) []Server {
	rng := rand.New(rand.NewPCG(seed, 3))
	countries, ases := []string{"", "AU", "DE", "JP", "US"}, []uint32{0, 1, 2, 3, 4, 5, 6}
	used := make(map[netip.AddrPort]bool)
	var servers []Server
	for len(servers) < n {
		addr := netip.AddrFrom4([4]byte{byte(60 + rng.IntN(4)), byte(rng.IntN(6)), byte(rng.IntN(3)), byte(rng.IntN(40))})
		if rng.IntN(8) == 0 {
			addr = netip.MustParseAddr(fmt.Sprintf("2001:db8:%x::%x", rng.IntN(4), rng.IntN(9)))
		}
		s := Server{Addr: netip.AddrPortFrom(addr, uint16(27960+rng.IntN(4)))}
		at := int(addr.As16()[13]) + int(addr.As16()[5])
		s.Country, s.ASN = countries[at%len(countries)], ases[(at*3)%len(ases)]
		if !used[s.Addr] {
			used[s.Addr] = true
			servers = append(servers, s)
		}
	}
	return servers
}

// eachPlan runs a test for every strategy with every auto-stop.
func eachPlan(t *testing.T, options PlanOptions, test func(t *testing.T, newPlan func([]Server) Plan, o PlanOptions)) {
	for _, strategy := range Strategies() {
		for _, stop := range AutoStops() {
			t.Run(fmt.Sprintf("%s/%s/%d", strategy, stop, options.Nearest), func(t *testing.T) {
				o := options
				o.AutoStop = stop
				test(t, func(servers []Server) Plan {
					plan, err := NewPlan(strategy, servers, o)
					if err != nil {
						t.Fatal(err)
					}
					return plan
				}, o)
			})
		}
	}
}

func TestEveryPlanNamesEachServerAtMostOnceAndNeverWaitsForNothing(t *testing.T) {
	for _, nearest := range []int{0, 5} {
		eachPlan(t, PlanOptions{Window: 10, Nearest: nearest}, func(t *testing.T, newPlan func([]Server) Plan, _ PlanOptions) {
			for seed := range uint64(20) {
				rng := rand.New(rand.NewPCG(seed, 4))
				servers := scattered(rng.IntN(150), seed)
				world := make(far, len(servers))
				for i := range world {
					world[i] = time.Duration(rng.IntN(400)-80) * time.Millisecond
				}
				world.execute(t, newPlan(servers), 1+rng.IntN(50))
			}
		})
	}
}

func TestWithEveryServerNearAllAreFound(t *testing.T) {
	eachPlan(t, PlanOptions{Window: 10}, func(t *testing.T, newPlan func([]Server) Plan, _ PlanOptions) {
		servers := scattered(200, 9)
		world := make(far, len(servers))
		for i := range world {
			world[i] = 30 * time.Millisecond
		}
		if asked := world.execute(t, newPlan(servers), 16); len(asked) != len(servers) {
			t.Errorf("%d of %d servers were asked", len(asked), len(servers))
		}
	})
}

func TestOffAsksEveryServer(t *testing.T) {
	for _, strategy := range Strategies() {
		servers := scattered(200, 9)
		world := make(far, len(servers))
		for i := range world {
			world[i] = time.Duration(100+i) * time.Millisecond
			if i%7 == 0 {
				world[i] = -1
			}
		}
		plan, err := NewPlan(strategy, servers, PlanOptions{AutoStop: StopOff, MaxRTT: 150 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if asked := world.execute(t, plan, 16); len(asked) != len(servers) || plan.Summary().AutoStopped {
			t.Errorf("%s: %d of %d servers were asked; %+v", strategy, len(asked), len(servers), plan.Summary())
		}
	}
}

func TestSameSeedSamePlan(t *testing.T) {
	eachPlan(t, PlanOptions{Seed: 5, Window: 10}, func(t *testing.T, newPlan func([]Server) Plan, _ PlanOptions) {
		servers := scattered(300, 2)
		world := make(far, len(servers))
		for i, s := range servers {
			world[i] = time.Duration(50*(1+s.Addr.Addr().As16()[13])) * time.Millisecond
		}
		if a, b := world.execute(t, newPlan(servers), 20), world.execute(t, newPlan(servers), 20); !reflect.DeepEqual(a, b) {
			t.Errorf("the same seed asked\n%v\nthen\n%v", a, b)
		}
	})
}

func TestAllSilent(t *testing.T) {
	eachPlan(t, PlanOptions{Window: 10}, func(t *testing.T, newPlan func([]Server) Plan, _ PlanOptions) {
		world := make(far, 120)
		for i := range world {
			world[i] = -1
		}
		plan := newPlan(scattered(len(world), 1))
		world.execute(t, plan, 10)
		if claim := plan.Summary().Claim.String(); claim != "" && claim != "100 % of the servers under 200 ms found" {
			t.Logf("claim: %s", claim)
		}
	})
}

func TestNewPlanRefuses(t *testing.T) {
	tests := []struct {
		strategy Strategy
		options  PlanOptions
	}{
		{"best", PlanOptions{}},
		{"", PlanOptions{}},
		{ByAS, PlanOptions{AutoStop: "soon"}},
		{ByAS, PlanOptions{MaxRTT: -1}},
		{ByAS, PlanOptions{Window: -1}},
		{ByAS, PlanOptions{Percentile: 1}},
		{ByCountryPrefix, PlanOptions{Cluster: Bits{V4: 33, V6: 20}}},
		{ByCountryPrefix, PlanOptions{SampleScale: -1}},
		{Adaptive, PlanOptions{Nearest: -1}},
		{Adaptive, PlanOptions{AutoStop: "soon"}},
		{Adaptive, PlanOptions{Missing: 1}},
	}
	for _, tt := range tests {
		if _, err := NewPlan(tt.strategy, nil, tt.options); err == nil {
			t.Errorf("NewPlan(%q, %+v) made a plan", tt.strategy, tt.options)
		}
	}
}
