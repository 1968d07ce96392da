package sweep

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/internal/sim"
	"muster/selection"
)

// The distance between searches and the bound (bench/experiments/distance-from-bound.md):
//
//	go -C bench test ./sweep -run TestFewest$ -v -timeout 0 -fewest-worlds 20 -sweep-of css2007 -sweep-groups world-4 -sweep-from 40000
var (
	fewestWorlds = flag.Int("fewest-worlds", 0, "how many worlds of each kind")
	fewestWithin = flag.Float64("fewest-within", 2, "the tolerance of a certified choice, in ms: 2 is the planner's smallest claim")
)

// distance has the questions that a search asked each player, on average, and the fewest.
type distance struct{ asked, fewest, regret float64 }

func distanceFromFewest(g *sim.Group, o sim.GroupOptions, seed uint64) (distance, error) {
	r, err := g.Run(sim.Coordinated, o, seed)
	if err != nil || !r.Found {
		return distance{}, fmt.Errorf("no server found: %w", err)
	}
	doc := g.Selection(o.Criteria)
	objective := doc.Above(o.Criteria.Objective(g.Players), g.Players)
	f := newFewest(g, objective, r.Server, *fewestWithin)
	return distance{r.Search.Probes, float64(f.questions()) / float64(len(g.Players)), r.Regret}, nil
}

// TestFewest compares searches with the bound.
func TestFewest(t *testing.T) {
	worlds, of, group, rules := *fewestWorlds, *sweepOf, *sweepGroups, *sweepRules
	if worlds == 0 { // for the gate
		t.Parallel()
		worlds, of, group, rules = 1, "night2000", "musst", "mean,fairness"
	}
	for _, of := range strings.Split(of, ",") {
		for _, group := range strings.Split(group, ",") {
			for _, rule := range strings.Split(rules, ",") {
				var all []distance
				for seed := *sweepFrom; seed < *sweepFrom+uint64(worlds); seed++ {
					g, err := groups(t, of, group)(seed)
					if err != nil {
						t.Fatal(err)
					}
					d, err := distanceFromFewest(g, sim.GroupOptions{Criteria: criteriaOf(selection.Rule(rule))}, seed)
					if err != nil {
						t.Fatal(err)
					}
					if all = append(all, d); *fewestWorlds == 0 && d.asked < d.fewest {
						t.Errorf("%s, %s, %s, seed %d: the search asked %.1f servers, any plan needs %.1f", of, group, rule, seed, d.asked, d.fewest)
					}
				}
				t.Logf("%-8s %-8s %-15s %s", of, group, rule, fewestReport(all))
			}
		}
	}
}

func fewestReport(all []distance) string {
	get := func(share float64, of func(distance) float64) float64 { return sim.Quantile(all, share, of) }
	fewest, ratio := func(d distance) float64 { return d.fewest }, func(d distance) float64 { return d.asked / d.fewest }
	tooFew := 0 // searches after which no plan could have certified the choice
	for _, d := range all {
		if d.asked < d.fewest {
			tooFew++
		}
	}
	return fmt.Sprintf("asked %3.0f, fewest %5.1f (%5.1f to %5.1f), ratio %5.1f (%4.1f to %5.1f), under 1 in %d of %d, regret %.2f / %.2f ms",
		get(.5, func(d distance) float64 { return d.asked }), get(.5, fewest), get(.05, fewest), get(.95, fewest),
		get(.5, ratio), get(.05, ratio), get(.95, ratio), tooFew, len(all), get(.5, func(d distance) float64 { return d.regret }),
		get(.95, func(d distance) float64 { return d.regret }))
}

// TestFewestOfSmallWorlds checks that no set of questions that certifies a choice has fewer than the
// bound. It tries all sets in small worlds.
func TestFewestOfSmallWorlds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var list []discovery.Server
	for i, s := range []struct {
		addr, country string
		asn           uint32
	}{{"192.0.2.1", "DE", 1}, {"192.0.2.2", "DE", 1}, {"198.51.100.1", "DE", 2}, {"203.0.113.1", "SE", 3}, {"203.0.113.2", "SE", 3}} {
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.MustParseAddr(s.addr), uint16(1+i)), Country: s.country, ASN: s.asn})
	}
	tight := 0
	for range 60 {
		g := &sim.Group{Players: []string{"ann", "bob"}}
		for range g.Players {
			v := &sim.Vantage{Servers: list}
			for range list {
				v.RTT = append(v.RTT, time.Duration(10+rng.IntN(90))*time.Millisecond)
			}
			g.Vantages = append(g.Vantages, v)
		}
		for _, rule := range []selection.Rule{selection.Mean, selection.Minimax, selection.Fairness} {
			criteria := selection.Criteria{By: rule}
			f := newFewest(g, criteria.Objective(g.Players), g.Selection(criteria).Chosen.Server, 1)
			least, bound := f.leastOfAll(list), f.questions()
			if bound > least || bound < len(g.Players) {
				t.Fatalf("%s: %d questions certify the choice, and the bound is %d", rule, least, bound)
			}
			if bound == least {
				tight++
			}
		}
	}
	if tight < 90 {
		t.Errorf("the bound is what is needed in only %d of 180 cases", tight)
	}
}

// leastOfAll tries all sets of questions, and returns the size of the smallest one that certifies the
// choice.
func (f *fewest) leastOfAll(list []discovery.Server) int {
	pairs := f.players * len(list)
	least := pairs
	asked := make([]uint, f.tree.Nodes()) // the players who asked below each node
	for set := range 1 << pairs {
		clear(asked)
		size := 0
		for pair := range pairs {
			if set&(1<<pair) != 0 {
				size++
				for node := f.tree.Of(pair / f.players); node >= 0; node = f.tree.Parent(node) {
					asked[node] |= 1 << (pair % f.players)
				}
			}
		}
		if size < least && f.certifies(asked) {
			least = size
		}
	}
	return least
}

func (f *fewest) certifies(asked []uint) bool {
	left := 0.0
	for node := topology.Root + 1; int(node) < f.tree.Nodes(); {
		switch {
		case asked[node] == 0:
			left += f.hidden[node]
			node = f.tree.End(node)
			continue
		case f.tree.Level(node) == topology.Address:
			left += f.partly[node][asked[node]]
		}
		node++
	}
	return asked[f.chosen] == 1<<f.players-1 && left <= -math.Log(certainty)
}
