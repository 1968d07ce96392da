package regions

import (
	"context"
	"errors"
	"testing"
	"time"

	"muster/discovery"
)

// inOrder is a plan that probes a list from its beginning.
type inOrder struct {
	servers, next int
	observed      []discovery.Result
}

func (p *inOrder) Next() (discovery.Probe, discovery.Verdict) {
	if p.next == p.servers {
		return discovery.Probe{}, discovery.Stop
	}
	p.next++
	return discovery.Probe{Server: p.next - 1, Phase: discovery.Refining}, discovery.Go
}

func (p *inOrder) Observe(r discovery.Result)     { p.observed = append(p.observed, r) }
func (p *inOrder) Summary() discovery.PlanSummary { return discovery.PlanSummary{} }

// TestPasted checks that the pasted pings answer a plan, and that a region without one is lost.
func TestPasted(t *testing.T) {
	table := pasted(func(*Table) {})
	p := NewPasted(table, map[string]time.Duration{"fra": 24 * time.Millisecond, "elsewhere": time.Millisecond})
	if p.Regions() != 1 {
		t.Errorf("%d regions have a ping", p.Regions())
	}
	servers := []discovery.Server{{Addr: table.List[1].Key()}, {Addr: table.List[0].Key()}}
	plan := &inOrder{servers: len(servers)}
	var seen []discovery.Result
	if err := p.Run(t.Context(), servers, plan, func(r discovery.Result) { seen = append(seen, r) }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || len(plan.observed) != 2 {
		t.Fatalf("seen %v, observed %v", seen, plan.observed)
	}
	lost, answered := seen[0], seen[1]
	if lost.State != discovery.Lost || lost.Server != 0 || answered.State != discovery.Answered || answered.RTT != 24*time.Millisecond ||
		answered.Server != 1 || answered.Phase != discovery.Refining || answered.Order != 2 || !answered.Info.Uncounted() {
		t.Errorf("%+v, %+v", lost, answered)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Run(ctx, servers, &inOrder{servers: 2}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
