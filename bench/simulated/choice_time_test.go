package simulated

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"muster/internal/sim"
	"muster/selection"
)

// These flags measure how long four players wait for their choice, and where the time goes, in
// virtual time:
//
//	go -C bench test ./simulated -run TestChoiceTime -v -timeout 0 -choice-worlds 40 -choice-from 41000
var (
	choiceWorlds = flag.Int("choice-worlds", 0, "how many worlds a choice is timed on")
	choiceFrom   = flag.Uint64("choice-from", 1, "first seed of these")
	choiceOf     = flag.String("choice-of", "css2007", "worlds")
	choiceGroups = flag.String("choice-groups", "musst", "groups")
	choiceRules  = flag.String("choice-rules", "mean", "rules")
	choiceRate   = flag.Float64("choice-rate", 250, "probes a second: a home line's")
	choiceEach   = flag.Bool("choice-each", false, "a line for each world")
)

func TestChoiceTime(t *testing.T) {
	isTaste := *choiceWorlds == 0
	if isTaste {
		*choiceWorlds, *choiceOf = 2, "et2007"
	}
	for _, of := range strings.Split(*choiceOf, ",") {
		for _, group := range strings.Split(*choiceGroups, ",") {
			for _, rule := range strings.Split(*choiceRules, ",") {
				all, err := Sweep(func(seed uint64) (*sim.Group, error) { return sim.GroupWorld(of, group, seed) }, *choiceFrom, *choiceWorlds, []Trial{
					func(g *sim.Group, seed uint64) (trialRun, error) {
						o := sim.GroupOptions{Criteria: sweepCriteria(selection.Rule(rule)), Replay: sim.ReplayOptions{Rate: *choiceRate}}
						return runTrial(g, sim.Coordinated, o, seed)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s, %s, %s: %s", of, group, rule, choiceTimes(all[0]))
				for world, r := range all[0] {
					if !r.Found {
						t.Errorf("world %d: a group found no server", world)
					}
					if *choiceEach {
						t.Logf("world %d: %s", world, choiceTimes([]trialRun{r}))
					}
				}
				if slowest := sim.Quantile(all[0], 1, func(r trialRun) float64 { return r.Seconds }); isTaste && slowest > tasteTakes {
					t.Errorf("a choice took %.1f s", slowest)
				}
			}
		}
	}
}

// tasteTakes is the longest that the gate's choices may take, in seconds of virtual time.
const tasteTakes = 13

// choiceTimes returns the median and the 95th percentile of a choice's time, its parts, and what
// each part gains.
func choiceTimes(all []trialRun) string {
	both := func(of func(r trialRun) float64) string {
		return fmt.Sprintf("%.2f/%.2f", sim.Quantile(all, 0.5, of), sim.Quantile(all, 0.95, of))
	}
	sending := func(r trialRun) float64 { return r.Search.Probes / *choiceRate }
	return fmt.Sprintf("choice %s s: sending %s, waiting for answers %s, second look %s; leading %s s, %s "+
		"leads; regret %s ms (mean %.2f), found %.2f, %s servers a player, %s rounds",
		both(func(r trialRun) float64 { return r.Seconds }), both(sending),
		both(func(r trialRun) float64 { return r.Searched - sending(r) }),
		both(func(r trialRun) float64 { return r.Seconds - r.Searched }),
		both(func(r trialRun) float64 { return r.Leading }), both(func(r trialRun) float64 { return float64(r.Leads) }),
		both(func(r trialRun) float64 { return r.Regret }), meanOf(all, func(r trialRun) float64 { return r.Regret }),
		meanOf(all, func(r trialRun) float64 { return r.FoundRegret }),
		both(func(r trialRun) float64 { return r.Search.Probes }),
		both(func(r trialRun) float64 { return float64(r.Rounds) }))
}

func meanOf(all []trialRun, of func(trialRun) float64) float64 {
	sum := 0.0
	for _, r := range all {
		sum += of(r) / float64(len(all))
	}
	return sum
}
