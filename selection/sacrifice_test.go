package selection_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

func TestLeastSacrifice(t *testing.T) {
	const D = "10.0.0.4:27960"
	tests := []struct {
		name    string
		rows    map[string][]int // of ann, bob, cat
		weights map[string]float64
		limits  []time.Duration
		chosen  string
		score   float64
		own     []float64
	}{
		// cat is far from everything: her ping is no reason to drag the others towards her
		{name: "one far player", rows: map[string][]int{serverA: {20, 30, 230}, serverB: {150, 160, 160}, serverC: {70, 80, 190}},
			chosen: serverC, score: 50, own: []float64{20, 30, 160}},
		{name: "the same ping everywhere is no sacrifice", rows: map[string][]int{
			serverA: {20, 60, 250},
			serverB: {60, 20, 250},
			serverC: {35, 35, 250},
		},
			chosen: serverC, score: 15, own: []float64{20, 20, 250}},
		{name: "own bests are of servers that suit everyone", rows: map[string][]int{
			serverA: {40, 50, 50},
			serverB: {50, 40, 45},
			serverC: {1, 90, lost},
			D:       {2, unprobed, 90},
		},
			chosen: serverA, score: 10, own: []float64{40, 40, 45}},
		{name: "and within the limit",
			rows:   map[string][]int{serverA: {10, 10, 100}, serverB: {60, 30, 70}, serverC: {40, 45, 75}},
			limits: []time.Duration{80 * time.Millisecond},
			chosen: serverC, score: 15, own: []float64{40, 30, 70}},
		{name: "a weight is a factor of what one gives up",
			rows: map[string][]int{serverA: {20, 40, 30}, serverB: {50, 20, 30}}, weights: map[string]float64{"bob": 3},
			chosen: serverB, score: 30, own: []float64{20, 20, 30}},
		{name: "who has no say gives up what it takes",
			rows: map[string][]int{serverA: {20, 40, 30}, serverB: {90, 20, 30}}, weights: map[string]float64{"ann": 0},
			chosen: serverB, score: 0, own: []float64{20, 20, 30}},
		{name: "a tie breaks by address", rows: map[string][]int{serverB: {20, 40, 30}, serverA: {40, 20, 30}},
			chosen: serverA, score: 20, own: []float64{20, 20, 30}},
	}
	names := []string{"ann", "bob", "cat"}
	for _, test := range tests {
		var order []string
		for addr := range maps.Keys(test.rows) {
			order = append(order, addr)
		}
		servers, table := tableOf(names, test.rows, order...)
		got := selection.Select(servers, table, selection.Criteria{By: selection.LeastSacrifice, Weights: test.weights, Limits: test.limits})
		if got.Chosen == nil || got.Chosen.Addr.String() != test.chosen || got.Chosen.Score != test.score {
			t.Errorf("%s: chose %+v, want %s with %v", test.name, got.Chosen, test.chosen, test.score)
			continue
		}
		for i, name := range names {
			if own := got.Own[name]; own.MS != test.own[i] || got.Chosen.Extra[name] != got.Chosen.RTT[name]-own.MS {
				t.Errorf("%s: %s has %+v and gives up %v, want %v", test.name, name, own, got.Chosen.Extra[name], test.own[i])
			}
		}
	}
}

func TestWhoIsAloneGivesUpNothing(t *testing.T) {
	servers, table := tableOf([]string{"ann"}, map[string][]int{serverA: {30}, serverB: {20}}, serverA, serverB)
	got := selection.Select(servers, table, selection.Criteria{By: selection.LeastSacrifice})
	if got.Chosen.Addr.String() != serverB || got.Chosen.Score != 0 || got.Ranking[1].Score != 10 {
		t.Errorf("chose %+v of %+v", got.Chosen, got.Ranking)
	}
}

// TestASacrificeIsToldInPlayersWords checks the sentences on what a player gives up, and how
// certain own bests are.
func TestASacrificeIsToldInPlayersWords(t *testing.T) {
	servers, table := tableOf([]string{"ann", "bob", "cat"}, map[string][]int{
		serverA: {20, 30, 230}, serverB: {150, 160, 160}, serverC: {70, 80, 190}, "10.0.0.4:27960": {8, unprobed, 230},
	}, serverA, serverB, serverC, "10.0.0.4:27960")
	for _, test := range []struct {
		criteria selection.Criteria
		want     []string
	}{
		{selection.Criteria{By: selection.LeastSacrifice}, []string{
			"10.0.0.3:27960 asks the least of everyone: nobody gives up more than 50.0 ms of their own best, " +
				"with 113.3 ms on average; cat is worst off with 190.0 ms.",
			"Each player’s own best among the servers that suit everyone, and what they give up: ann 20.0 ms (+50.0 ms), " +
				"bob 30.0 ms (+50.0 ms), cat 160.0 ms (+30.0 ms).",
			"Own bests may be lower, on servers that not everyone has measured: ann 8.0 ms.",
			"10.0.0.1:27960 has a lower average (93.3 ms), but its highest sacrifice (70.0 ms) is above the chosen server’s.",
		}},
		{selection.Criteria{By: selection.LeastSacrifice, Weights: map[string]float64{"cat": 0}}, []string{
			"10.0.0.1:27960 is best by the players’ weights",
		}},
	} {
		got := strings.Join(explained(selection.Select(servers, table, test.criteria)), "\n")
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	}
}

// TestAnObjectiveCountsFromOwnBests checks that planner, room and selection compute the same
// scores.
func TestAnObjectiveCountsFromOwnBests(t *testing.T) {
	o := selection.Criteria{By: selection.LeastSacrifice, Weights: map[string]float64{"bob": 2}}.Objective([]string{"ann", "bob"})
	for _, test := range []struct {
		rtts, own []float64
		want      float64
	}{
		{[]float64{30, 50}, nil, 100},
		{[]float64{30, 50}, []float64{10, 45}, 20},
		{[]float64{30, 50}, []float64{25, 40}, 20},
		{[]float64{30, 0}, []float64{25, 40}, 5},   // a player without an RTT does not count
		{[]float64{20, 30}, []float64{25, 40}, -5}, // better than both own bests
	} {
		if got := o.Above(test.own).Score(test.rtts); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v over %v: %v, want %v", test.rtts, test.own, got, test.want)
		}
	}
	if o.Score([]float64{30, 50}) != 100 {
		t.Error("own bests of one stay for all")
	}
}

// TestAFalseOwnBestIsBounded checks a liar who praises servers, to make any chosen one look like a
// sacrifice. It costs no other player more than the liar's true own best, because no ping is below
// 0. Praise of servers that others did not reach counts for nothing.
func TestAFalseOwnBestIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	moved := 0
	for range 600 {
		servers, table := randomTable(random)
		criteria := selection.Criteria{By: selection.LeastSacrifice}
		before := selection.Select(servers, table, criteria)
		if before.Chosen == nil {
			continue
		}
		liar := random.IntN(len(table.Players()))
		name := table.Players()[liar]
		for range 1 + random.IntN(4) {
			server := random.IntN(len(servers.List))
			if state, rtt := table.At(liar, server); state == discovery.Answered {
				table.Set(liar, server, state, time.Duration(random.Int64N(int64(rtt)+1)))
			}
		}
		after := selection.Select(servers, table, criteria)
		most := before.Chosen.Score + before.Own[name].MS
		for player, own := range before.Own {
			if gives := after.Chosen.RTT[player] - own.MS; player != name && gives > most+0.001 {
				t.Fatalf("%s gives up %v ms by a lie of %s, whose own best is %v: at most %v", player, gives, name, before.Own[name].MS, most)
			}
		}
		if after.Chosen.Addr != before.Chosen.Addr {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no lie changed anything")
	}
	servers, table := tableOf([]string{"ann", "bob"},
		map[string][]int{serverA: {20, 60}, serverB: {50, 20}, serverC: {1, lost}, "10.0.0.4:27960": {1, unprobed}},
		serverA, serverB, serverC, "10.0.0.4:27960")
	if got := selection.Select(servers, table,
		selection.Criteria{By: selection.LeastSacrifice}); got.Own["ann"].MS != 20 || got.Chosen.Addr.String() != serverB {
		t.Errorf("ann has %+v, and all go to %v", got.Own["ann"], got.Chosen.Addr)
	}
}
