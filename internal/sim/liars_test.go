package sim

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/host/room"
	"muster/selection"
)

// The table of made-up numbers is for measuring; the gate has a taste of it:
//
//	go test ./internal/sim -run TestLiarSweep -v -timeout 0 -liar-worlds 40
var (
	drawnGroups = flag.Int("liar-worlds", 0, "worlds of the table of made-up numbers")
	liarFrom    = flag.Uint64("liar-from", 9500, "its first seed")
	liarGroups  = flag.String("liar-players", "4,8,16", "its groups' sizes")
	liarRules   = flag.String("liar-rules", "mean,minimax", "its rules")
	liarNames   = flag.String("liar-lies", "", "its lies; all if empty")
)

func TestLiarSweep(t *testing.T) {
	if *drawnGroups == 0 { // a taste of it, for the gate
		*drawnGroups, *liarGroups, *liarRules, *liarNames = 1, "4", "mean", "all 0,random"
	}
	for _, size := range strings.Split(*liarGroups, ",") {
		players, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		rows := make(map[string][]LiarRun)
		for seed := *liarFrom; seed < *liarFrom+uint64(*drawnGroups); seed++ {
			g := drawnGroup(t, "css2007", players, seed)
			for _, rule := range strings.Split(*liarRules, ",") {
				for _, lie := range Lies(len(g.Vantages[0].Servers), seed) {
					if *liarNames != "" && !slices.Contains(strings.Split(*liarNames, ","), lie.Name) {
						continue
					}
					options := GroupOptions{Criteria: sweepCriteria(selection.Rule(rule))}
					r, err := g.RunLiar(int(seed)%players, lie, options, seed)
					if err != nil {
						r.Regret = math.Inf(1)
						t.Errorf("seed %d, %s, %s: %v", seed, rule, lie.Name, err)
					}
					row := rule + " " + lie.Name
					rows[row] = append(rows[row], r)
				}
			}
		}
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			t.Logf("%2d players, %-20s %s", players, row, liarReport(rows[row]))
		}
	}
}

func drawnGroup(t *testing.T, world string, players int, seed uint64) *Group {
	spec, err := NamedSpec(world, seed)
	if err != nil {
		t.Fatal(err)
	}
	spec.Places = drawPlaces(players, seed, func(region) bool { return true })
	g, err := Generate(spec).everybody()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func liarReport(runs []LiarRun) string {
	var regrets []float64
	caught, wronged := 0, 0
	for _, r := range runs {
		regrets = append(regrets, r.Regret)
		caught += len(r.Caught)
		wronged += min(1, len(r.Wronged))
	}
	slices.Sort(regrets)
	n := len(regrets)
	at := func(share float64) float64 { return regrets[min(n-1, int(share*float64(n)))] }
	return fmt.Sprintf("regret %.2f / %.2f ms, caught %d, wronged %d of %d", at(0.5), at(0.95), caught, wronged, n)
}

// TestCrudeLies: a liar among eight is named, nobody else is, and the others get
// as good a server as if the liar were not there.
func TestCrudeLies(t *testing.T) {
	g := drawnGroup(t, "et2007", 8, 1)
	for _, lie := range Lies(len(g.Vantages[0].Servers), 1) {
		for _, rule := range []selection.Rule{selection.Mean, selection.Minimax} {
			r, err := g.RunLiar(3, lie, GroupOptions{Criteria: sweepCriteria(rule), Tuning: room.Tuning{Budget: -1}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Caught) == 1) != (lie.Name != "honest") || r.Wronged != nil || r.Regret > 2 {
				t.Errorf("%s, %s: %+v", lie.Name, rule, r)
			}
		}
	}
}
