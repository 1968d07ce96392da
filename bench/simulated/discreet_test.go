package simulated

import (
	"flag"
	"sync"
	"testing"

	"muster/host/wire"
	"muster/internal/sim"
	"muster/selection"
)

var (
	discreetWorlds = flag.Int("discreet-worlds", 1, "how many worlds each number of servers is tried on")
	discreetOf     = flag.String("discreet-of", "night2000", "worlds of the trials")
	discreetGroup  = flag.String("discreet-group", "musst", "the group")
)

// TestDiscreet checks a player who shows the address to few servers only. That player is never
// asked for more, and the others find a server for all that is not much worse.
func TestDiscreet(t *testing.T) {
	t.Parallel()
	for _, rule := range []selection.Rule{selection.Mean, selection.Minimax} {
		for _, few := range []int{0, wire.MinDiscreet, 20, 50, 100} {
			var mu sync.Mutex // guards most: worlds run side by side
			var most float64
			all, err := Sweep(func(seed uint64) (*sim.Group, error) {
				return sim.GroupWorld(*discreetOf, *discreetGroup, seed)
			}, 1, *discreetWorlds, []Trial{func(g *sim.Group, seed uint64) (trialRun, error) {
				who := int(seed) % len(g.Players)
				o := sim.GroupOptions{Criteria: sweepCriteria(rule), Discreet: map[int]int{who: few}}
				run, err := runTrial(g, sim.Coordinated, o, seed)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					most = max(most, run.Percent[who]/100*float64(len(g.Vantages[0].Servers)))
				}
				return run, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d servers (%.0f were asked): %s", rule, few, most, Report(all[0]))
			if few > 0 && most > float64(few)+0.5 {
				t.Errorf("a player who wants to be asked for %d servers was for %.0f", few, most)
			}
			for _, r := range all[0] {
				if !r.Found {
					t.Errorf("%s, %d servers: a group found nothing", rule, few)
				}
			}
		}
	}
}
