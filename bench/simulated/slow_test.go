package simulated

import (
	"context"
	"flag"
	"strings"
	"testing"

	"muster/internal/sim"
	"muster/selection"
)

// These flags are for measuring sessions with a slow player. The gate runs a few sessions:
//
//	go -C bench test ./simulated -run TestSlowPlayer -v -timeout 0 -slow-worlds 40 -slow-from 92000
var (
	slowWorlds = flag.Int("slow-worlds", 2, "worlds of a slow player's sessions")
	slowFrom   = flag.Uint64("slow-from", 93_007, "the first one's seed")
	slowRate   = flag.Float64("slow-rate", 1, "the slow player's servers a second")
	slowGroup  = flag.String("slow-group", "world-4", "the group")
	slowList   = flag.Int("slow-servers", 200, "servers of the list")
)

// slowRun compares a session in which one player is slow with the same one on usual lines: how much
// longer it takes, in seconds, and how much worse its server truly is for all, and for the others, in
// ms.
type slowRun struct {
	longer, worse, others float64
	named                 bool
}

// TestSlowPlayer checks that one slow player holds the others for no more than six seconds, and is
// named.
func TestSlowPlayer(t *testing.T) {
	for _, rule := range []selection.Rule{selection.Mean, selection.Minimax, selection.FairThreshold} {
		runs := make([]slowRun, *slowWorlds)
		err := sim.Parallel(context.Background(), len(runs), func(i int) (err error) {
			runs[i], err = runSlow(rule, *slowFrom+uint64(i))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for i, r := range runs {
			if r.named {
				named++
			}
			if *slowRate <= 1 && (r.longer > 6 || !r.named) {
				t.Errorf("%s, seed %d: %.1f s longer, named %v", rule, *slowFrom+uint64(i), r.longer, r.named)
			}
		}
		longer, worse := func(r slowRun) float64 { return r.longer }, func(r slowRun) float64 { return r.worse }
		others := func(r slowRun) float64 { return r.others }
		t.Logf("%-14s %4.1f / %4.1f s longer, %4.1f / %4.1f / %4.1f ms worse, for the others %4.1f / %4.1f, named %d of %d",
			rule, sim.Quantile(runs, 0.5, longer), sim.Quantile(runs, 1, longer), sim.Quantile(runs, 0.5, worse), sim.Quantile(runs, 0.75, worse),
			sim.Quantile(runs, 0.95, worse), sim.Quantile(runs, 0.5, others), sim.Quantile(runs, 0.95, others), named, len(runs))
	}
}

func runSlow(rule selection.Rule, seed uint64) (r slowRun, err error) {
	g, err := shortGroup("night2005", *slowList, *slowGroup, seed)
	if err != nil {
		return r, err
	}
	o := sim.GroupOptions{Criteria: sweepCriteria(rule), Replay: sim.ReplayOptions{Rate: 250}}.WithDefaults(len(g.Players))
	fast, err := g.Run(sim.Coordinated, o, seed)
	if err != nil {
		return r, err
	}
	slow := int(seed) % len(g.Players)
	o.Rates = map[int]float64{slow: *slowRate}
	s, err := g.NewSession(sim.Coordinated, o, seed)
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		return r, err
	}
	run, others := s.Result(g.Truth(o.Criteria)), withoutLiars(g, []int{slow}).Regret(o.Criteria)
	r.longer, r.worse = run.Seconds-fast.Seconds, run.Regret-fast.Regret
	if run.Found && fast.Found {
		r.others = others(run.Server) - others(fast.Server)
	}
	for _, note := range s.Room.Snapshot().Log {
		r.named = r.named || strings.Contains(note.String(), "answers slowly")
	}
	return r, nil
}
