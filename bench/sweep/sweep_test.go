package sweep

import (
	"flag"
	"slices"
	"testing"
	"time"

	"muster/bench/worlds"
	"muster/internal/sim"
	"muster/selection"
)

// The flags that the sweeps share have the names and the meaning that they have in bench/simulated, whose
// own sweeps see what happens inside a session.
var (
	sweepFrom    = flag.Uint64("sweep-from", 1, "first seed of a sweep")
	sweepOf      = flag.String("sweep-of", "css2007", "worlds of a sweep: css2007, et2007, night2000, distance, matrix")
	sweepMatrix  = flag.String("sweep-matrix", "", "round trips between hosts, gzipped, for -sweep-of matrix")
	sweepServers = flag.String("sweep-servers", "", "the list for -sweep-of matrix, gzipped (default: one like css2007's)")
	sweepEach    = flag.Float64("sweep-each", 0, "tell of each search that missed the best by so many ms")
	sweepGroups  = flag.String("sweep-groups", "musst,au-jp,au-de-usw,europe-8,world-16,world-64", "groups of a sweep")
	sweepRules   = flag.String("sweep-rules", "mean,minimax,threshold,fairness,fair-threshold,least-sacrifice", "rules of a sweep")
)

// groups returns what makes a named group on the worlds of a kind, by seed.
func groups(t *testing.T, of, group string) func(seed uint64) (*sim.Group, error) {
	t.Helper()
	made, err := worlds.Kind{Name: of, Matrix: *sweepMatrix, Servers: *sweepServers}.Groups(group)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// criteriaOf returns the criteria for a rule of a sweep.
func criteriaOf(rule selection.Rule) selection.Criteria {
	w := selection.Criteria{By: rule}
	if rule == selection.Threshold || rule == selection.FairThreshold {
		w.Limits = []time.Duration{150 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
	}
	return w
}

// rttsOf returns the players' RTTs to a server, in ms, to the microsecond as tables keep them.
func rttsOf(g *sim.Group, server int) (rtts []float64) {
	for _, v := range g.Vantages {
		rtts = append(rtts, max(float64(v.RTT[server].Microseconds()), 1)/1000)
	}
	return rtts
}

// at returns the value that a share of the values stay within.
func at(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
