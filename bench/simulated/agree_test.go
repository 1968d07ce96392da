package simulated

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/prober"
	"muster/discovery/protocol/quake3"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// Strategies are judged in virtual time, and used on real sockets. These tests compare the two: the
// same plan, on the same list, with the same packet pairs, once by [sim.Vantage.Replay] and once by
// the prober against a fleet.

var agreeServers = flag.Int("agree-servers", 150, "servers of the tests that compare sockets with virtual time")

// agreePlace is the place that probes the servers: Kota Bharu, far from most, so that every
// auto-stop fires.
const (
	agreePlace = 2
	agreeRate  = 250
)

// agreement is one strategy, run both ways.
type agreement struct {
	strategy discovery.Strategy
	vantage  *sim.Vantage
	options  sim.ReplayOptions

	virtual, real    discovery.Plan
	replayed, probed []discovery.Result
	took, wall       time.Duration
	err              error
}

// agree runs all strategies both ways, at the same time. Each has its own auto-stop and its own
// fleet, because a fleet counts packet pairs. wrap wraps the plans before they run.
func agree(t *testing.T, o sim.ReplayOptions, wrap func(*sim.Vantage, discovery.Plan) discovery.Plan) []*agreement {
	t.Helper()
	var all []*agreement
	var work sync.WaitGroup
	for _, strategy := range discovery.Strategies() {
		f, v := agreeFleet(t)
		a := &agreement{strategy: strategy, vantage: v, options: o}
		for _, made := range []*discovery.Plan{&a.virtual, &a.real} {
			p, err := plan.New(strategy, v.Topology(), discovery.PlanOptions{Seed: 7, Window: 40})
			if err != nil {
				t.Fatal(err)
			}
			*made = wrap(v, p)
		}
		all = append(all, a)
		work.Go(func() { a.run(f) })
	}
	work.Wait()
	return all
}

// startFleet runs a fleet of Quake 3 servers for the length of a test.
func startFleet(t *testing.T, o fleet.Options) *fleet.Fleet {
	t.Helper()
	o.Kind, o.Game = fleet.Quake3, fleet.Game{Name: "Quake3Arena", Protocol: 68, Version: "1.0"}
	f, err := fleet.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// agreeFleet returns a fleet, and the view that the prober should have of it.
func agreeFleet(t *testing.T) (*fleet.Fleet, *sim.Vantage) {
	t.Helper()
	w := sim.Night2005(*agreeServers, 1)
	for i := range w.Servers {
		s := &w.Servers[i]
		s.Silent, s.Refusing = s.Silent || s.Refusing, false // a replay knows no ICMP
	}
	f := startFleet(t, fleet.Options{World: w, Home: agreePlace})
	v := w.Vantage(agreePlace)
	v.Servers = f.Servers()
	return f, v
}

// run runs the plans in virtual time and over real sockets.
func (a *agreement) run(f *fleet.Fleet) {
	a.replayed, a.took = a.vantage.Replay(a.virtual, a.options)
	p, err := prober.New(prober.Options{
		Protocol: quake3.Protocol{}, LocalAddr: f.Source(agreePlace),
		Rate: a.options.Rate, Retries: a.options.Retries, Timeout: a.options.Timeout,
	})
	if err != nil {
		a.err = err
		return
	}
	defer p.Close()
	for _, local := range p.LocalAddrs() {
		f.Seat(local, agreePlace)
	}
	start := time.Now()
	a.err = p.Run(context.Background(), a.vantage.Servers, a.real, func(r discovery.Result) { a.probed = append(a.probed, r) })
	a.wall = time.Since(start)
	slices.SortFunc(a.probed, func(x, y discovery.Result) int { return cmp.Compare(x.Order, y.Order) })
}

// due returns the right result of a probe of a server, by its packet pairs.
func due(v *sim.Vantage, server, retries int) (discovery.State, time.Duration) {
	for n := range uint64(retries + 1) {
		if rtt, lost := v.Pair(server, n); !lost {
			return discovery.Answered, rtt
		}
	}
	return discovery.Lost, 0
}

// check checks that each server is probed once, in order, with the right result. A reply may be
// late on a busy machine, and never early.
func (a *agreement) check(t *testing.T) {
	t.Helper()
	if a.err != nil {
		t.Fatal(a.err)
	}
	const clocks = time.Millisecond // the kernel's clock and ours may differ by this if another process runs between two readings
	asked := make(map[int]bool)
	for i, r := range a.probed {
		if r.Order != i+1 || asked[r.Server] {
			t.Errorf("probe %d has order %d and asks server %d, again: %v", i+1, r.Order, r.Server, asked[r.Server])
		}
		asked[r.Server] = true
		if state, rtt := due(a.vantage, r.Server, max(0, a.options.Retries)); r.State != state || r.RTT < rtt-clocks {
			t.Errorf("server %d is %v after %v, want %v after %v", r.Server, r.State, r.RTT, state, rtt)
		}
	}
}

// outcomeOf returns the result of a run as text.
func outcomeOf(results []discovery.Result, s discovery.PlanSummary) string {
	count := make(map[discovery.State]int)
	for _, r := range results {
		count[r.State]++
	}
	return fmt.Sprintf("%d probed, %d answered, %d lost, %d for calibration, %d clusters, stopped %v, %q",
		len(results), count[discovery.Answered], count[discovery.Lost], s.Calibration, s.Clusters, s.AutoStopped, s.Claim)
}

// inStep gives a plan its results in the order of its questions, with so many under way, and each
// RTT as the world has it. So a plan's decisions do not depend on which of two replies a busy
// machine let through first.
type inStep struct {
	discovery.Plan
	width int
	exact func(discovery.Result) discovery.Result

	asked   []int // servers whose results the plan has not seen yet, in order
	arrived map[int]discovery.Result
	waits   bool // the plan wants a result before it goes on
}

func newInStep(plan discovery.Plan, width int, exact func(discovery.Result) discovery.Result) *inStep {
	return &inStep{Plan: plan, width: width, exact: exact, arrived: make(map[int]discovery.Result)}
}

func (s *inStep) Observe(r discovery.Result) { s.arrived[r.Server] = s.exact(r) }

func (s *inStep) Next() (discovery.Probe, discovery.Verdict) {
	for {
		if (s.waits || len(s.asked) == s.width) && !s.tell() {
			return discovery.Probe{}, discovery.Wait
		}
		probe, verdict := s.Plan.Next()
		s.waits = verdict == discovery.Wait
		if verdict == discovery.Go {
			s.asked = append(s.asked, probe.Server)
		}
		if !s.waits {
			return probe, verdict
		}
	}
}

// tell tells the plan the next result in order, if it has arrived.
func (s *inStep) tell() bool {
	if len(s.asked) == 0 {
		return false
	}
	r, ok := s.arrived[s.asked[0]]
	if ok {
		s.asked = s.asked[1:]
		s.Plan.Observe(r)
	}
	return ok
}

// TestSocketsAndVirtualTimeAgree checks that both ways give the same servers in the same order for
// the same reasons, the same end and the same counts, whatever the strategy.
func TestSocketsAndVirtualTimeAgree(t *testing.T) {
	t.Parallel()
	const width = 64
	once := sim.ReplayOptions{Rate: agreeRate, Retries: -1, Timeout: 1500 * time.Millisecond}
	all := agree(t, once, func(v *sim.Vantage, plan discovery.Plan) discovery.Plan {
		return newInStep(plan, width, func(r discovery.Result) discovery.Result {
			if r.State == discovery.Answered {
				_, r.RTT = due(v, r.Server, 0)
			}
			return r
		})
	})
	for _, a := range all {
		t.Run(string(a.strategy), func(t *testing.T) {
			a.check(t)
			virtual, real := a.virtual.(*inStep), a.real.(*inStep)
			for virtual.tell() || real.tell() { // those that came after the stop
			}
			if got, want := outcomeOf(a.probed, real.Summary()), outcomeOf(a.replayed, virtual.Summary()); got != want {
				t.Errorf("over sockets %s\nin virtual time %s", got, want)
			}
			for i := range min(len(a.probed), len(a.replayed)) {
				if got, want := a.probed[i], a.replayed[i]; got.Server != want.Server || got.Phase != want.Phase || got.State != want.State {
					t.Fatalf("probe %d asks server %d (%v, %v), in virtual time %d (%v, %v)", i+1, got.Server,
						got.Phase, got.State, want.Server, want.Phase, want.State)
				}
			}
			t.Logf("both %s", outcomeOf(a.probed, real.Summary()))
		})
	}
}

// clocked records when a plan's probes went out.
type clocked struct {
	discovery.Plan
	first, last time.Time
}

func (c *clocked) Next() (discovery.Probe, discovery.Verdict) {
	probe, verdict := c.Plan.Next()
	if verdict == discovery.Go {
		c.last = time.Now()
		if c.first.IsZero() {
			c.first = c.last
		}
	}
	return probe, verdict
}

// TestSocketsKeepTheRate runs the plans as players do, with repeats and replies as they come. It
// checks that every result is right, and that the probes leave at the rate. The conventional order
// depends on no reply and so is the same. The others' order does. It is similar, unless the machine
// stood still while replies were due.
func TestSocketsKeepTheRate(t *testing.T) {
	t.Parallel()
	asPlayersDo := sim.ReplayOptions{Rate: agreeRate, Retries: prober.DefaultRetries, Timeout: prober.DefaultTimeout}
	longest := watchStalls()
	all := agree(t, asPlayersDo, func(_ *sim.Vantage, plan discovery.Plan) discovery.Plan { return &clocked{Plan: plan} })
	stall := longest()
	for _, a := range all {
		t.Run(string(a.strategy), func(t *testing.T) {
			a.check(t)
			real := a.real.(*clocked)
			// A bucket may start with two saved packets.
			atRate := time.Duration(float64(len(a.probed)-2) / agreeRate * float64(time.Second))
			sending := real.last.Sub(real.first)
			if sending < atRate {
				t.Errorf("%d probes left within %v, faster than %d a second", len(a.probed), sending, agreeRate)
			}
			first, alike, most := sameOrder(a.probed, a.replayed), sameServers(a.probed, a.replayed), max(len(a.probed), len(a.replayed))
			switch {
			case a.strategy == discovery.Conventional && first < most:
				t.Errorf("another order than in virtual time from probe %d", first+1)
			case stall > 100*time.Millisecond:
				t.Logf("the machine stood still for %v: the replies came in no order to compare", stall)
			case 10*alike < 7*most:
				t.Errorf("%d servers asked, %d in virtual time, only %d the same", len(a.probed), len(a.replayed), alike)
			}
			t.Logf("sockets: %s; sent within %v (at the rate %v), over after %v", outcomeOf(a.probed, real.Summary()), sending, atRate, a.wall)
			t.Logf("virtual: %s; over after %v", outcomeOf(a.replayed, a.virtual.Summary()), a.took)
			t.Logf("the same order for the first %d, %d servers in both", first, alike)
		})
	}
}

// watchStalls records, until longest is called, how long the machine stood still at most.
func watchStalls() (longest func() time.Duration) {
	const beat = time.Millisecond
	end, stall := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		ticks := time.NewTicker(beat)
		defer ticks.Stop()
		for last := time.Now(); ; {
			select {
			case <-ticks.C:
				now := time.Now()
				most, last = max(most, now.Sub(last)), now
			case <-end:
				stall <- max(most, time.Since(last))
				return
			}
		}
	}()
	return func() time.Duration { close(end); return <-stall }
}

// sameOrder counts how many probes are the same from the start.
func sameOrder(a, b []discovery.Result) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].Server == b[n].Server {
		n++
	}
	return n
}

// sameServers counts the servers that were probed in both runs.
func sameServers(a, b []discovery.Result) int {
	n := 0
	for _, r := range a {
		if slices.ContainsFunc(b, func(other discovery.Result) bool { return other.Server == r.Server }) {
			n++
		}
	}
	return n
}
