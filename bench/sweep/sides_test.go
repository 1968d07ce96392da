package sweep

import (
	"context"
	"flag"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// TestSides compares what the rules leave between two clans, where every RTT is known and where the
// group searches. It is for measuring. The gate runs a small part:
//
//	go -C bench test ./sweep -run TestSides -v -timeout 0 -sides-worlds 40 -sweep-from 340000 -sweep-of css2007
var (
	sidesWorlds = flag.Int("sides-worlds", 0, "how many worlds of each size of clans")
	sidesSearch = flag.String("sides-search", "even-sides", "rules by which groups search; none is only full knowledge")
	sidesGroups = flag.String("sides-groups", "clans-2,clans-4,clans-8", "sizes of clans")
)

// sidesRules are the compared rules. Those with a limit have the sweep's ladder.
var sidesRules = []struct {
	name   string
	by     selection.Rule
	limits []time.Duration
}{
	{"mean", selection.Mean, nil},
	{"minimax", selection.Minimax, nil},
	{"fairness", selection.Fairness, nil},
	{"fair-threshold", selection.FairThreshold, criteriaOf(selection.FairThreshold).Limits},
	{"even-sides", selection.EvenSides, nil},
	{"even-sides under limits", selection.EvenSides, criteriaOf(selection.FairThreshold).Limits},
}

// sidesResult is what a choice leaves between the sides, and its pings, in ms.
type sidesResult struct {
	apart, mean, worst, regret, asked, seconds float64
	// over is how far the worst ping exceeds the limit that a choice with full knowledge keeps.
	over float64
}

func TestSides(t *testing.T) {
	of, groups := *sweepOf, *sidesGroups
	if *sidesWorlds == 0 {
		*sidesWorlds, of, groups = 2, "night2000", "clans-2"
	}
	for _, group := range strings.Split(groups, ",") {
		sidesOn(t, of, group)
	}
}

func sidesOn(t *testing.T, of, group string) {
	known, found := map[string][]sidesResult{}, map[string][]sidesResult{}
	made := groups(t, of, group)
	var once sync.Mutex // guards known and found
	err := sim.Parallel(context.Background(), *sidesWorlds, func(world int) error {
		seed := *sweepFrom + uint64(world)
		g, err := made(seed)
		if err != nil {
			return err
		}
		for _, rule := range sidesRules {
			criteria := selection.Criteria{By: rule.by, Limits: rule.limits, Sides: clans(g)}
			best := g.Selection(criteria)
			if best.Chosen == nil {
				continue
			}
			at := sidesOf(g, best.Chosen.Server)
			once.Lock()
			known[rule.name] = append(known[rule.name], at)
			once.Unlock()
			if !slices.Contains(strings.Split(*sidesSearch, ","), rule.name) {
				continue
			}
			run, err := g.Run(sim.Coordinated, sim.GroupOptions{Criteria: criteria}, seed)
			if err != nil {
				return err
			}
			if !run.Found {
				t.Errorf("%s, seed %d: nothing found", group, seed)
				continue
			}
			at = sidesOf(g, run.Server)
			at.regret = run.Regret
			for _, percent := range run.Percent {
				at.asked += percent / 100 * float64(len(g.Vantages[0].Servers)) / float64(len(run.Percent))
			}
			if at.seconds = run.Seconds; best.LimitMS > 0 {
				at.over = max(0, at.worst-best.LimitMS)
			}
			if *sweepEach > 0 && at.regret >= *sweepEach {
				t.Logf("  seed %d: regret %.1f: %+v, best %+v, %d rounds", seed, at.regret, at, sidesOf(g, best.Chosen.Server), run.Rounds)
			}
			once.Lock()
			found[rule.name] = append(found[rule.name], at)
			once.Unlock()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range sidesRules {
		report := func(how string, all []sidesResult) {
			if len(all) == 0 {
				return
			}
			q := func(share float64, of func(sidesResult) float64) float64 { return sim.Quantile(all, share, of) }
			over := 0 // ms that somebody may feel
			for _, r := range all {
				if r.over > evenEnough {
					over++
				}
			}
			apart := func(r sidesResult) float64 { return r.apart }
			mean := func(r sidesResult) float64 { return r.mean }
			regret := func(r sidesResult) float64 { return r.regret }
			t.Logf("| %s | %s, %s | %d | %.1f | %.1f | %.0f | %.0f | %.0f | %.1f | %.1f | %d | %.0f | %.0f |", group, rule.name, how, len(all),
				q(0.5, apart), q(0.95, apart), q(0.5, mean), q(0.95, mean), q(0.5, func(r sidesResult) float64 { return r.worst }),
				q(0.5, regret), q(0.95, regret), over, q(0.5, func(r sidesResult) float64 { return r.asked }), q(0.5, func(r sidesResult) float64 { return r.seconds }))
		}
		report("known", known[rule.name])
		report("searched", found[rule.name])
	}
	if of, even := known["mean"], known["even-sides"]; len(of) > 0 && len(even) > 0 {
		p50 := func(all []sidesResult) float64 {
			return sim.Quantile(all, 0.5, func(r sidesResult) float64 { return r.apart })
		}
		if p50(even) > max(p50(of), evenEnough) {
			t.Errorf("%s: even-sides leaves %.1f ms, and the mean %.1f", group, p50(even), p50(of))
		}
	}
}

// evenEnough is a difference, in ms, that the rule takes for none.
const evenEnough = 5

// sidesOf returns what a server has for two clans.
func sidesOf(g *sim.Group, server int) (r sidesResult) {
	sides := clans(g)
	var total [3]float64
	for player, ms := range rttsOf(g, server) {
		total[sides[g.Players[player]]] += ms
		r.mean += ms / float64(len(g.Players))
		r.worst = max(r.worst, ms)
	}
	r.apart = 2 * math.Abs(total[selection.SideA]-total[selection.SideB]) / float64(len(g.Players))
	return r
}

// clans returns the sides of a group of two clans: the first half of the players against the others.
func clans(g *sim.Group) map[string]selection.Side {
	sides := map[string]selection.Side{}
	for i, name := range g.Players {
		sides[name] = selection.SideA
		if 2*i >= len(g.Players) {
			sides[name] = selection.SideB
		}
	}
	return sides
}
