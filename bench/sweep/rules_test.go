package sweep

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/internal/sim"
	"muster/selection"
)

// TestRules compares the rules' choices where every RTT is known, so that the search has no part in
// it: which players gain, which lose, and where least sacrifice and the mean choose differently. It
// is for measuring. The gate runs a small part:
//
//	go -C bench test ./sweep -run TestRules -v -timeout 0 -rules-worlds 160 -sweep-from 72000 -sweep-of matrix -sweep-matrix FILE -sweep-servers FILE -sweep-groups world-2,world-4,europe-8,world-16
var (
	rulesWorlds = flag.Int("rules-worlds", 0, "how many worlds of each group")
	rulesOver   = flag.Float64("rules-over", 150, "from which ping on, in ms, a player has a bad evening")
)

func TestRules(t *testing.T) {
	of, groups := *sweepOf, *sweepGroups
	if *rulesWorlds == 0 {
		*rulesWorlds, of, groups = 2, "night2000", "musst"
	}
	for _, group := range strings.Split(groups, ",") {
		rulesOn(t, of, group)
	}
}

// outcome is a rule's result for each player of each world, in ms.
type outcome struct{ rtts, extras []float64 }

func rulesOn(t *testing.T, of, group string) {
	rules := []selection.Rule{selection.Mean, selection.Minimax, selection.Fairness, selection.LeastSacrifice}
	all := make([][]outcome, *rulesWorlds) // by world and rule
	made := groups(t, of, group)
	err := sim.Parallel(context.Background(), *rulesWorlds, func(world int) error {
		g, err := made(*sweepFrom + uint64(world))
		if err != nil {
			return err
		}
		own := g.Selection(selection.Criteria{By: selection.LeastSacrifice}).Own
		for _, rule := range rules {
			chosen := g.Selection(selection.Criteria{By: rule}).Chosen
			if chosen == nil {
				return fmt.Errorf("world %d has no server for all", world)
			}
			var o outcome
			for _, name := range g.Players {
				o.rtts, o.extras = append(o.rtts, chosen.RTT[name]), append(o.extras, chosen.RTT[name]-own[name].MS)
			}
			all[world] = append(all[world], o)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const least = len("least-sacrifice")
	for i, rule := range rules {
		var extras, worst, rtts []float64
		over := 0
		for _, w := range all {
			extras, rtts, worst = append(extras, w[i].extras...), append(rtts, w[i].rtts...), append(worst, slices.Max(w[i].extras))
			for _, ms := range w[i].rtts {
				if ms > *rulesOver {
					over++
				}
			}
			if most, of := slices.Max(w[i].extras), slices.Max(w[len(rules)-1].extras); most < of-0.001 {
				t.Errorf("%s: somebody gives up %v ms by least sacrifice and nobody more than %v by %s", group, of, most, rule)
			}
		}
		t.Logf("| %s | %*s | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f %% |", group, -least, rule, at(rtts, 0.5),
			at(extras, 0.5), at(extras, 0.95), at(extras, 1), at(worst, 0.5), 100*float64(over)/float64(len(rtts)))
	}
	against(t, group, all, 0, len(rules)-1)
}

// against prints which players gain and lose by one rule against another, where they choose
// differently.
func against(t *testing.T, group string, all [][]outcome, a, b int) {
	var gains, losses, means, relief []float64
	otherwise := 0
	for _, w := range all {
		if slices.Equal(w[a].rtts, w[b].rtts) {
			continue
		}
		otherwise++
		mean := 0.0
		for player, ms := range w[a].rtts {
			d := w[b].rtts[player] - ms
			mean += d / float64(len(w[a].rtts))
			if d < 0 {
				gains = append(gains, -d)
			} else {
				losses = append(losses, d)
			}
		}
		means = append(means, mean)
		relief = append(relief, slices.Max(w[a].extras)-slices.Max(w[b].extras))
	}
	t.Logf("| %s | %d of %d | %d: %.0f / %.0f | %d: %.0f / %.0f | %.1f / %.1f | %.0f / %.0f |", group, otherwise,
		len(all), len(gains), at(gains, 0.5), at(gains, 0.95), len(losses), at(losses, 0.5), at(losses, 0.95),
		at(means, 0.5), at(means, 0.95), at(relief, 0.5), at(relief, 0.95))
}
