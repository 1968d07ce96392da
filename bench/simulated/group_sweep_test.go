package simulated

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/bench/worlds"
	"muster/discovery"
	"muster/internal/sim"
	"muster/selection"
)

// The sweep is for measuring. The gate runs a small part of it:
//
//	go -C bench test ./simulated -run TestSweep -v -timeout 0 -sweep-worlds 30 -sweep-from 12000
//
// Worlds are css2007, et2007, night2000 (the demo's), distance, matrix with a file of round trips, and
// cities with a file of cities, too:
//
//	go -C bench test ./simulated -run TestSweep -v -timeout 0 -sweep-worlds 30 -sweep-of matrix -sweep-matrix rtt.txt.gz -sweep-groups au-jp,world-16
var (
	sweepWorlds  = flag.Int("sweep-worlds", 0, "how many worlds of each kind")
	sweepFrom    = flag.Uint64("sweep-from", 1, "first seed of a sweep")
	sweepOf      = flag.String("sweep-of", "css2007", "worlds of a sweep")
	sweepMatrix  = flag.String("sweep-matrix", "", "round trips between hosts, gzipped, for -sweep-of matrix and cities")
	sweepCities  = flag.String("sweep-cities", "", "where the hosts are, for -sweep-of cities: country, name, latitude, longitude, by tabs")
	sweepServers = flag.String("sweep-servers", "", "the list for -sweep-of matrix and cities, gzipped (default: one like css2007's)")
	sweepEach    = flag.Float64("sweep-each", 0, "tell of each search that missed the best by so many ms")
	sweepGroups  = flag.String("sweep-groups", "musst,au-jp,au-de-usw,europe-8,world-16,world-64", "groups of a sweep")
	sweepRules   = flag.String("sweep-rules", "mean,minimax,threshold,fairness,fair-threshold,least-sacrifice", "rules of a sweep")
	sweepBudgets = flag.String("sweep-budget", "2,4",
		"budgets of a sweep, in percent of the list, which are spent; 0 is a room's 650 and its end")
	sweepMethods = flag.String("sweep-methods", "coordinated", "methods of a sweep; discovered is after everybody's own adaptive discovery")
	sweepAlone   = flag.String("sweep-strategy", "adaptive", "how players look alone, for the methods naive and discovered")
	sweepMap     = flag.Bool("sweep-map", false, "the group wants one of the maps")
	sweepSeed    = flag.Uint64("sweep-seed", 0, "added to the searches' seeds: how much is chance")
	sweepRates   = flag.String("sweep-rate", "140", "probes a second")
)

func TestSweep(t *testing.T) {
	if *sweepWorlds == 0 { // a small part, for the gate
		*sweepWorlds, *sweepOf, *sweepGroups, *sweepBudgets = 1, "night2000", "musst", "0"
	}
	for _, of := range strings.Split(*sweepOf, ",") {
		for _, group := range strings.Split(*sweepGroups, ",") {
			sweep(t, of, group)
		}
	}
}

// sweepKind is the kind of worlds of a name, with the files that the flags name.
func sweepKind(of string) worlds.Kind {
	return worlds.Kind{Name: of, Matrix: *sweepMatrix, Cities: *sweepCities, Servers: *sweepServers}
}

// sweepGroup makes a named group on the worlds of a kind, by seed.
func sweepGroup(t *testing.T, of, group string) func(seed uint64) (*sim.Group, error) {
	made, err := sweepKind(of).Groups(group)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func sweep(t *testing.T, of, group string) {
	names, trials := sweepTrials(t)
	all, err := Sweep(sweepGroup(t, of, group), *sweepFrom, *sweepWorlds, trials)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		t.Logf("%-9s %-9s %s: %s", of, group, name, Report(all[i]))
		for world, r := range all[i] {
			if *sweepEach > 0 && (r.Regret >= *sweepEach || !r.claims()) {
				t.Logf("  seed %d: missed by %.1f ms (%.1f but for edges), found %.1f, claimed %.0f, within %v; "+
					"%.2f %% keep the limit, kept %v; %.0f asked, %d rounds, %d left out %v", *sweepFrom+uint64(world),
					r.Regret, r.Clear, r.FoundRegret, r.claim(), r.Search.Reach, 100*r.Share, r.Kept, r.Search.Probes, r.Rounds, len(r.Doubts), r.Doubts)
			}
		}
		if slices.ContainsFunc(all[i], func(r trialRun) bool { return !r.Found }) {
			t.Errorf("%s, %s, %s: a group found no server", of, group, name)
		}
	}
}

// sweepCriteria returns the criteria for a rule of the sweep.
func sweepCriteria(rule selection.Rule) selection.Criteria {
	w := selection.Criteria{By: rule}
	if rule == selection.Threshold || rule == selection.FairThreshold {
		w.Limits = []time.Duration{150 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
	}
	return w
}

// sweepTrials returns the trials that the flags ask for.
func sweepTrials(t *testing.T) (names []string, trials []Trial) {
	for _, method := range strings.Split(*sweepMethods, ",") {
		for _, rule := range strings.Split(*sweepRules, ",") {
			for _, budget := range strings.Split(*sweepBudgets, ",") {
				for _, rate := range strings.Split(*sweepRates, ",") {
					o := sim.GroupOptions{
						Criteria: sweepCriteria(selection.Rule(rule)),
						Strategy: discovery.Strategy(*sweepAlone),
						Replay:   sim.ReplayOptions{Rate: sweepNumber(t, rate)},
					}
					percent := sweepNumber(t, budget)
					trials = append(trials, func(g *sim.Group, seed uint64) (trialRun, error) {
						o := o
						o.Tuning.Seed = *sweepSeed
						if percent > 0 {
							o.Tuning.Budget, o.Tuning.Enough = int(percent/100*float64(len(g.Vantages[0].Servers))), -1
						}
						if *sweepMap { // the first server's map, unknown before it is asked
							o.Criteria.Map = g.Vantages[0].Infos[0].Map
						}
						return runTrial(g, sim.Method(method), o, seed)
					})
					names = append(names, fmt.Sprintf("%-11s %-14s %3s%% %4s/s", method, rule, budget, rate))
				}
			}
		}
	}
	return names, trials
}

func sweepNumber(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sweepList returns the list of each seed's world on the matrix.
func sweepList(t *testing.T) func(seed uint64) []discovery.Server {
	list, err := sweepKind("").List()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func sweepRoundTrips(t *testing.T) sim.Matrix { return readMatrix(t, *sweepMatrix) }

func readMatrix(t *testing.T, file string) sim.Matrix {
	m, err := worlds.Matrix(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var claimWorlds = flag.Int("claim-worlds", 6, "worlds of TestClaim")

// TestClaim checks the planner's claim about the possible gain on a small list, where a few good
// servers hide among few. It must be right in 19 of 20 searches; of the few worlds that the gate
// tries, one search may be wrong. All:
//
//	go -C bench test ./simulated -run TestClaim -v -claim-worlds 20
func TestClaim(t *testing.T) {
	t.Parallel()
	var trials []Trial
	for _, rule := range []selection.Rule{selection.Mean, selection.Minimax} {
		trials = append(trials, func(g *sim.Group, seed uint64) (trialRun, error) {
			return runTrial(g, sim.Coordinated, sim.GroupOptions{Criteria: sweepCriteria(rule)}, seed)
		})
	}
	all, err := Sweep(func(seed uint64) (*sim.Group, error) { return sim.GroupWorld("et2007", "musst", seed) }, 200, *claimWorlds, trials)
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, r := range slices.Concat(all...) {
		if r.Search.Rounds < 3 || r.claim() < 1 {
			t.Fatalf("nothing was said of what is to be had: %+v", r)
		}
		if !r.claims() {
			broken++
			t.Logf("%.1f ms better was to be had, at most %.0f were said", r.FoundRegret, r.claim())
		}
	}
	if claims := 2 * *claimWorlds; broken > max(1, claims/20) {
		t.Errorf("%d of %d claims were too low", broken, claims)
	}
}
