package simulated

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// These flags measure how long groups wait for a choice from a short list, and how good it is, in
// virtual time:
//
//	go -C bench test ./simulated -run TestShortLists -v -timeout 0 -short-worlds 20
var (
	shortWorlds  = flag.Int("short-worlds", 0, "how many worlds of each kind")
	shortFrom    = flag.Uint64("short-from", 1, "first seed of these")
	shortOf      = flag.String("short-of", "night2005", "worlds")
	shortServers = flag.String("short-servers", "50,200,450", "servers in a list")
	shortGroups  = flag.String("short-groups", "au-jp,musst,world-8,world-16", "groups")
	shortRules   = flag.String("short-rules", "mean,minimax,threshold,fairness,fair-threshold,least-sacrifice", "rules")
	shortRate    = flag.Float64("short-rate", 140, "probes a second")
	shortNoise   = flag.Duration("short-noise", 2*time.Millisecond, "the median of what a packet takes longer than it could")
	shortEach    = flag.Float64("short-each", -1, "a line for each search with so much regret")
)

// shortLimits bound the gate's runs: the median time in seconds to the end of the search and to the
// choice, and the regret in ms at the 95th percentile.
var shortLimits = map[string]struct{ search, choice, regret float64 }{
	"50": {1.2, 2.7, 0.5}, "200": {2.6, 3.9, 0.5}, "450": {3.5, 4.5, 1},
}

func TestShortLists(t *testing.T) {
	isTaste := *shortWorlds == 0
	if isTaste {
		*shortWorlds, *shortGroups, *shortRules = 5, "musst", "mean"
	}
	for _, of := range strings.Split(*shortOf, ",") {
		for _, servers := range strings.Split(*shortServers, ",") {
			n, err := strconv.Atoi(servers)
			if err != nil {
				t.Fatal(err)
			}
			var sum []trialRun
			for _, rule := range strings.Split(*shortRules, ",") {
				var ofRule []trialRun
				for _, group := range strings.Split(*shortGroups, ",") {
					all, err := Sweep(func(seed uint64) (*sim.Group, error) { return shortGroup(of, n, group, seed) }, *shortFrom, *shortWorlds, []Trial{
						func(g *sim.Group, seed uint64) (trialRun, error) {
							return runTrial(g, sim.Coordinated, sim.GroupOptions{
								Criteria: sweepCriteria(selection.Rule(rule)),
								Replay:   sim.ReplayOptions{Rate: *shortRate},
							}, seed)
						},
					})
					if err != nil {
						t.Fatal(err)
					}
					ofRule = append(ofRule, all[0]...)
					t.Logf("%s %s %s %s: %s", of, servers, rule, group, shortReport(all[0]))
					for i, r := range all[0] {
						for _, d := range r.Doubts {
							t.Logf("  seed %d: %v, regret %.2f", *shortFrom+uint64(i), d.Sentence(), r.Regret)
						}
						if *shortEach >= 0 && r.Regret >= *shortEach {
							t.Logf("  seed %d: regret %.2f, found %.2f, clear %.2f, %.2f s, searched %.2f, %d "+
								"rounds, %.0f probes, own %v, bound %v reach %v", *shortFrom+uint64(i), r.Regret,
								r.FoundRegret, r.Clear, r.Seconds, r.Searched, r.Rounds, r.Search.Probes, r.Search.Own, r.Search.RegretBound, r.Search.Reach)
						}
					}
				}
				t.Logf("%s %s %s: %s", of, servers, rule, shortReport(ofRule))
				sum = append(sum, ofRule...)
			}
			t.Logf("%s %s all: %s", of, servers, shortReport(sum))
			search := sim.Quantile(sum, 0.5, func(r trialRun) float64 { return r.Searched })
			choice := sim.Quantile(sum, 0.5, func(r trialRun) float64 { return r.Seconds })
			regret := sim.Quantile(sum, 0.95, func(r trialRun) float64 { return r.Regret })
			if most := shortLimits[servers]; isTaste && (search > most.search || choice > most.choice || regret > most.regret) {
				t.Errorf("%s servers: the search took %.2f s, the choice %.2f, and the regret is %.2f ms; want "+
					"%v at most", servers, search, choice, regret, most)
			}
		}
	}
}

func shortGroup(of string, servers int, group string, seed uint64) (*sim.Group, error) {
	players, err := sim.GroupPlaces(group, seed)
	if err != nil {
		return nil, err
	}
	spec, err := sim.NamedSpec(of, seed)
	if err != nil {
		return nil, err
	}
	spec.Servers, spec.ASes, spec.Places, spec.Jitter = servers, max(1, servers/9), players, *shortNoise
	return sim.Generate(spec).Everybody()
}

func shortReport(all []trialRun) string {
	both := func(of func(r trialRun) float64) string {
		return fmt.Sprintf("%.2f/%.2f/%.2f", sim.Quantile(all, 0.5, of), sim.Quantile(all, 0.95, of), sim.Quantile(all, 1, of))
	}
	none, named := 0, 0
	for _, r := range all {
		named += len(r.Doubts)
		if !r.Found {
			none++
		}
	}
	return fmt.Sprintf("choice %s s, search %s; regret %s ms (mean %.3f), clear %s, found %s (mean %.3f); %s "+
		"probes, %s rounds; %d honest players named, none %d of %d",
		both(func(r trialRun) float64 { return r.Seconds }), both(func(r trialRun) float64 { return r.Searched }),
		both(func(r trialRun) float64 { return r.Regret }), meanOf(all, func(r trialRun) float64 { return r.Regret }),
		both(func(r trialRun) float64 { return r.Clear }),
		both(func(r trialRun) float64 { return r.FoundRegret }), meanOf(all, func(r trialRun) float64 { return r.FoundRegret }),
		both(func(r trialRun) float64 {
			return r.Percent[0]
		}), both(func(r trialRun) float64 { return float64(r.Rounds) }), named, none, len(all))
}
