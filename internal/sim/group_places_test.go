package sim

import (
	"math"
	"testing"

	"muster/selection"
)

// TestClans checks that all players of two clans live in different cities, with lines like others'.
func TestClans(t *testing.T) {
	for seed := range uint64(20) {
		places, err := GroupPlaces("clans-3", seed)
		if err != nil || len(places) != 6 {
			t.Fatalf("seed %d: %v, %v", seed, places, err)
		}
		seen := map[string]bool{}
		for _, p := range places {
			if seen[p.Name] || p.Access < 5*ms || p.Access > 20*ms {
				t.Errorf("seed %d: %+v of %+v", seed, p, places)
			}
			seen[p.Name] = true
		}
	}
	for _, name := range []string{"clans-0", "clans-9", "clans-x", "somebody"} {
		if places, err := GroupPlaces(name, 1); err == nil {
			t.Errorf("%s live in %v", name, places)
		}
	}
}

// TestGroupsOnAMatrix checks that a group sits on hosts of the matrix, near each other if its name says
// so, and what a server costs it.
func TestGroupsOnAMatrix(t *testing.T) {
	m, list := line(200), realList("DE", 60)
	across := func(group string) float64 {
		g, err := m.OnMatrix(list, group, 1)
		if err != nil {
			t.Fatal(err)
		}
		regret, least, most := g.Regret(selection.Criteria{By: selection.Mean}), math.Inf(1), 0.0
		for server, rtt := range g.Vantages[0].RTT {
			if rtt >= 0 {
				least = min(least, regret(server))
			}
			for _, v := range g.Vantages[1:] {
				most = max(most, math.Abs((rtt - v.RTT[server]).Seconds()))
			}
		}
		if least > 1e-9 {
			t.Errorf("%s: the best is %v ms worse than the best", group, least)
		}
		return most
	}
	if near, far := across("europe-8"), across("au-jp"); near >= far {
		t.Errorf("eight of Europe are %v s apart, and Australia and Japan %v", near, far)
	}
	if _, err := m.OnMatrix(list, "somebody", 1); err == nil {
		t.Error("somebody has places")
	}
}
