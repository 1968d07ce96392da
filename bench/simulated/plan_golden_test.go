package simulated

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/internal/sim"
)

// TestPlansAskAsBefore pins the questions of the adaptive plan, so that it can be made faster
// without any other change. It compares the number of probes, a checksum of the servers in order
// with the reasons, and the summary. A change that alters the plan updates these, and says what it
// does to recall.
func TestPlansAskAsBefore(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("on other processors a sum of a product is rounded once, not twice")
	}
	for _, test := range []struct {
		name     string
		world    string
		servers  int
		place    int
		labels   sim.Labels
		warm     bool
		strategy discovery.Strategy
		plan     discovery.PlanOptions
		replay   sim.ReplayOptions
		want     string
	}{
		{name: "ET", world: "et2007", place: 2, plan: discovery.PlanOptions{MaxRTT: 100 * ms}, want: "353 03e1b6e6b53aa326"},
		{name: "CSS", world: "css2007", servers: 8000, plan: discovery.PlanOptions{}, want: "1591 f87e316700dff211"},
		{name: "far", world: "css2007", servers: 32600, place: 5, plan: discovery.PlanOptions{MaxRTT: 50 * ms}, want: "21478 35c64fb8691583b1"},
		{name: "whole list", world: "et2007", plan: discovery.PlanOptions{AutoStop: discovery.StopOff}, want: "3070 568b6937744feef9"},
		{name: "nearest", world: "css2007", servers: 8000, place: 3, plan: discovery.PlanOptions{Nearest: 50}, want: "377 19dd9c8ff52e97c5"},
		{name: "without labels", world: "css2007", servers: 8000, place: 1, labels: sim.Unlabelled, want: "3542 013d3cab93bf03bf"},
		{name: "wrong labels", world: "css2007", servers: 8000, place: 4, labels: sim.Mislabelled(0.1, 16), want: "7440 35fed34ad80a2175"},
		{
			name:  "second visit",
			world: "et2007",
			place: 2,
			warm:  true,
			plan:  discovery.PlanOptions{MaxRTT: 150 * ms},
			want:  "593 39a1d3d7ee2153cc",
		},
		{
			name:  "second visit, nearest",
			world: "et2007",
			place: 2,
			warm:  true,
			plan:  discovery.PlanOptions{Nearest: 20},
			want:  "169 4b51f51526a70617",
		},
		{
			name:    "a download begins",
			world:   "css2007",
			servers: 8000,
			replay:  sim.ReplayOptions{Shift: sim.Shift{By: 60 * time.Millisecond, From: 0.03}},
			want:    "1531 5d3b74ccaebaea8d",
		},
		{
			name:     "a paper's plan that stops likewise",
			world:    "et2007",
			strategy: discovery.ByAS,
			plan:     discovery.PlanOptions{AutoStop: discovery.StopConfident},
			want:     "864 04661ca1516f85f6",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec, err := sim.NamedSpec(test.world, 4711)
			if err != nil {
				t.Fatal(err)
			}
			if test.servers > 0 {
				spec.Servers = test.servers
			}
			v := sim.Generate(spec).Vantage(test.place)
			if test.labels != nil {
				other := *v
				other.Servers, other.Tree = test.labels(v.Servers, 4711), nil
				v = &other
			}
			if test.strategy == "" {
				test.strategy = discovery.Adaptive
			}
			test.plan.Seed = 4711
			if test.warm {
				var first *sim.Vantage
				first, v = v.Visits(test.plan.Seed)
				if test.plan.Priors, err = first.Leave(test.strategy, test.plan, test.replay); err != nil {
					t.Fatal(err)
				}
			}
			plan, err := plan.New(test.strategy, v.Topology(), test.plan)
			if err != nil {
				t.Fatal(err)
			}
			results, _ := v.Replay(plan, test.replay)
			if test.replay.Shift.By > 0 && plan.Summary().Shift == 0 {
				t.Error("the plan has not noticed the download, which this is about")
			}
			sum := fnv.New64a()
			for _, r := range results {
				fmt.Fprintln(sum, r.Server, r.Phase)
			}
			fmt.Fprintf(sum, "%+v", plan.Summary())
			if got := fmt.Sprintf("%d %016x", len(results), sum.Sum64()); got != test.want {
				t.Errorf("asks %s, not %s", got, test.want)
			}
		})
	}
}
