package sim

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/selection"
	"muster/selection/refining"
)

// The sweep is for measuring, not for the gate:
//
//	go test ./internal/sim -run TestSweep -v -timeout 0 -sweep-worlds 30 -sweep-from 1000 -sweep-groups musst,au-jp -sweep-rules mean,minimax -sweep-budget 2,4
var (
	sweepWorlds  = flag.Int("sweep-worlds", 0, "worlds of a sweep")
	sweepFrom    = flag.Uint64("sweep-from", 1, "first seed of a sweep")
	sweepGroups  = flag.String("sweep-groups", strings.Join(GroupNames(), ","), "groups of a sweep")
	sweepRules   = flag.String("sweep-rules", "mean,minimax", "rules of a sweep")
	sweepBudgets = flag.String("sweep-budget", "2,4", "budgets of a sweep, in percent of the list; 0 is the planner's own end")
	sweepMethods = flag.String("sweep-methods", "coordinated", "methods of a sweep")
	sweepMap     = flag.String("sweep-map", "", "the map that the group wants")
	sweepRate    = flag.Float64("sweep-rate", 140, "probes a second")
)

func TestSweep(t *testing.T) {
	for _, group := range strings.Split(*sweepGroups, ",") {
		for _, method := range strings.Split(*sweepMethods, ",") {
			for _, rule := range strings.Split(*sweepRules, ",") {
				for _, budget := range strings.Split(*sweepBudgets, ",") {
					sweep(t, group, Method(method), selection.Rule(rule), budget)
				}
			}
		}
	}
}

func sweep(t *testing.T, group string, method Method, rule selection.Rule, budget string) {
	wish := sweepWish(rule)
	wish.Map = *sweepMap
	enough := time.Duration(0)
	if budget != "0" {
		enough = -1
	}
	s := Sweep{Group: group, Method: method, From: *sweepFrom, Worlds: *sweepWorlds, Options: GroupOptions{
		Wish: wish, Replay: ReplayOptions{Rate: *sweepRate}, Planner: refining.Options{Budget: budgetOf(budget, 29500), Enough: enough},
	}}
	all, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 {
		t.Logf("%-10s %-11s %-10s %3s%%: %s", group, method, rule, budget, Report(all))
	}
	slices.Reverse(all)
}

func budgetOf(percent string, listed int) int {
	var p float64
	for _, known := range []struct {
		text string
		p    float64
	}{{"0.5", .5}, {"1", 1}, {"1.3", 1.3}, {"2", 2}, {"4", 4}} {
		if known.text == percent {
			p = known.p
		}
	}
	return int(p / 100 * float64(listed))
}
