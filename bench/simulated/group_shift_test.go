package simulated

import (
	"flag"
	"strings"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// What a download on one player's line costs a group:
//
//	go -C bench test ./simulated -run TestGroupShift -v -timeout 0 -shift-worlds 30 -sweep-from 330000
var (
	shiftWorlds = flag.Int("shift-worlds", 0, "how many worlds of a kind")
	shiftKinds  = flag.String("shift-kinds", "none,starts,ends,passes", "when the line is busy")
	shiftBy     = flag.Duration("shift-by", 50*time.Millisecond, "how much slower a busy line is")
)

// busyLine returns the change of a line that is busy for a part of a search of so many servers.
func busyLine(kind string, by time.Duration, listed int) sim.Shift {
	at := func(probes float64) float64 { return probes / float64(listed) }
	return map[string]sim.Shift{
		"starts": {By: by, From: at(217)},
		"ends":   {By: by, Until: at(217)},
		"passes": {By: by, From: at(150), Until: at(400)},
	}[kind]
}

// shiftTrial runs a session in which the second player's line is busy for a while.
func shiftTrial(kind string, rule selection.Rule) Trial {
	return func(g *sim.Group, seed uint64) (trialRun, error) {
		o := sim.GroupOptions{Criteria: sweepCriteria(rule)}
		o.Shifts = map[int]sim.Shift{1: busyLine(kind, *shiftBy, len(g.Vantages[0].Servers))}
		return runTrial(g, sim.Coordinated, o, seed)
	}
}

// TestGroupShift checks that a download on one player's line costs a group nothing, whether it begins,
// ends or passes while the group searches.
func TestGroupShift(t *testing.T) {
	kinds := strings.Split(*shiftKinds, ",")
	if *shiftWorlds == 0 {
		t.Parallel()
		var trials []Trial
		for _, kind := range kinds {
			trials = append(trials, shiftTrial(kind, selection.Mean))
		}
		all, err := Sweep(func(seed uint64) (*sim.Group, error) { return sim.GroupWorld("css2007", "musst", seed) }, 330000, 1, trials)
		if err != nil {
			t.Fatal(err)
		}
		for i, kind := range kinds {
			for world, r := range all[i] {
				if none := all[0][world]; r.Regret > none.Regret+2 || !r.claims() {
					t.Errorf("%s, world %d: misses by %.1f ms, %.1f without a download, claimed %.0f", kind, world, r.Regret, none.Regret, r.claim())
				}
			}
		}
		return
	}
	for _, group := range strings.Split(*sweepGroups, ",") {
		for _, rule := range strings.Split(*sweepRules, ",") {
			var trials []Trial
			for _, kind := range kinds {
				trials = append(trials, shiftTrial(kind, selection.Rule(rule)))
			}
			all, err := Sweep(sweepGroup(t, *sweepOf, group), *sweepFrom, *shiftWorlds, trials)
			if err != nil {
				t.Fatal(err)
			}
			for i, kind := range kinds {
				t.Logf("%-8s %-14s %-6s %s", group, rule, kind, recallReport(all[i]))
			}
		}
	}
}
