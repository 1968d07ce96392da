package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// eachPlan runs a test for every strategy with every auto-stop.
func eachPlan(t *testing.T, options discovery.PlanOptions,
	test func(t *testing.T, newPlan func([]discovery.Server) discovery.Plan, o discovery.PlanOptions)) {
	for _, strategy := range discovery.Strategies() {
		for _, stop := range discovery.AutoStops() {
			t.Run(fmt.Sprintf("%s/%s/%d", strategy, stop, options.Nearest), func(t *testing.T) {
				o := options
				o.AutoStop = stop
				test(t, func(servers []discovery.Server) discovery.Plan {
					plan, err := New(strategy, topology.New(servers), o)
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
		eachPlan(t, discovery.PlanOptions{Window: 10, Nearest: nearest},
			func(t *testing.T, newPlan func([]discovery.Server) discovery.Plan, _ discovery.PlanOptions) {
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
	eachPlan(t, discovery.PlanOptions{Window: 10},
		func(t *testing.T, newPlan func([]discovery.Server) discovery.Plan, _ discovery.PlanOptions) {
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
	for _, strategy := range discovery.Strategies() {
		servers := scattered(200, 9)
		world := make(far, len(servers))
		for i := range world {
			world[i] = time.Duration(100+i) * time.Millisecond
			if i%7 == 0 {
				world[i] = -1
			}
		}
		plan, err := New(strategy, topology.New(servers), discovery.PlanOptions{AutoStop: discovery.StopOff, MaxRTT: 150 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if asked := world.execute(t, plan, 16); len(asked) != len(servers) || plan.Summary().AutoStopped {
			t.Errorf("%s: %d of %d servers were asked; %+v", strategy, len(asked), len(servers), plan.Summary())
		}
	}
}

func TestSameSeedSamePlan(t *testing.T) {
	eachPlan(t, discovery.PlanOptions{Seed: 5, Window: 10},
		func(t *testing.T, newPlan func([]discovery.Server) discovery.Plan, _ discovery.PlanOptions) {
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
	eachPlan(t, discovery.PlanOptions{Window: 10},
		func(t *testing.T, newPlan func([]discovery.Server) discovery.Plan, _ discovery.PlanOptions) {
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
		strategy discovery.Strategy
		options  discovery.PlanOptions
	}{
		{"best", discovery.PlanOptions{}},
		{"", discovery.PlanOptions{}},
		{discovery.ByAS, discovery.PlanOptions{AutoStop: "soon"}},
		{discovery.ByAS, discovery.PlanOptions{MaxRTT: -1}},
		{discovery.ByAS, discovery.PlanOptions{Window: -1}},
		{discovery.ByAS, discovery.PlanOptions{Percentile: 1}},
		{discovery.ByCountryPrefix, discovery.PlanOptions{Cluster: discovery.Bits{V4: 33, V6: 20}}},
		{discovery.ByCountryPrefix, discovery.PlanOptions{SampleScale: -1}},
		{discovery.Adaptive, discovery.PlanOptions{Nearest: -1}},
		{discovery.Adaptive, discovery.PlanOptions{AutoStop: "soon"}},
		{discovery.Adaptive, discovery.PlanOptions{Missing: 1}},
	}
	for _, tt := range tests {
		if _, err := New(tt.strategy, topology.New(nil), tt.options); err == nil {
			t.Errorf("NewPlan(%q, %+v) made a plan", tt.strategy, tt.options)
		}
	}
}
