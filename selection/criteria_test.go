package selection_test

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"muster/selection"
)

func TestWeights(t *testing.T) {
	tests := []struct {
		by      selection.Rule
		weights map[string]float64
		chosen  string
		score   float64
	}{
		{selection.Mean, nil, serverA, 50},                                                     // 20, 80
		{selection.Mean, map[string]float64{"bob": 2}, serverA, 60},                            // (20+160)/3 against (80+100)/3: a tie
		{selection.Mean, map[string]float64{"bob": 3}, serverB, 57.5},                          // (80+3·50)/4
		{selection.Mean, map[string]float64{"ann": 0}, serverB, 50},                            // bob alone
		{selection.Mean, map[string]float64{"ann": 0, "bob": 0}, serverA, 50},                  // all 0 is all alike
		{selection.Mean, map[string]float64{"ann": -1, "bob": math.NaN()}, serverA, 50},        // invalid counts as 1
		{selection.Mean, map[string]float64{"ann": 1e308, "bob": 1e308}, serverA, 50},          // else the sum would be infinite, and every score 0
		{selection.Minimax, nil, serverA, 80},                                                  // a tie
		{selection.Minimax, map[string]float64{"ann": 0.5}, serverB, 50},                       // max(40, 50)
		{selection.Fairness, map[string]float64{"ann": 2, "bob": 2}, serverB, 30 / math.Sqrt2}, // as without weights
		{selection.Fairness, map[string]float64{"ann": 0}, serverB, 50},                        // bob alone: the mean
	}
	rows := map[string][]int{serverA: {20, 80}, serverB: {80, 50}}
	for _, test := range tests {
		servers, table := tableOf(annAndBob, rows, serverB, serverA)
		got := selection.Select(servers, table, selection.Criteria{By: test.by, Weights: test.weights}).Chosen
		if got.Addr.String() != test.chosen || math.Abs(got.Score-test.score) > 0.0006 {
			t.Errorf("%s %v: chose %v with %v, want %s with %v", test.by, test.weights, got.Addr, got.Score, test.chosen, test.score)
		}
	}
}

// TestWeightIsThatManyPlayers checks that for the mean, a player of weight 3 is three.
func TestWeightIsThatManyPlayers(t *testing.T) {
	servers, table := musstTable(serverA, serverB, serverC)
	got := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Weights: map[string]float64{"p8": 3}})
	if want := (464.0 + 2*272) / 10; got.Why == nil || math.Abs(got.Why.Rivals[0].Score-want) > 0.0006 {
		t.Errorf("A scores %+v, want %v", got.Why.Rivals, want)
	}
}

func TestKeep(t *testing.T) {
	keep := netip.MustParseAddrPort(serverA)
	tests := []struct {
		name      string
		kept      int // ms
		other     int
		stays     bool
		gain      float64
		unreached bool
	}{
		{name: "it is the best", kept: 20, other: 30, stays: true},
		{name: "gain under 10 ms, over a third", kept: 20, other: 11, stays: true, gain: 9},
		{name: "gain over 10 ms, under a third", kept: 100, other: 70, stays: true, gain: 30},
		{name: "gain of a third", kept: 90, other: 60, gain: 30},
		{name: "gain of 10 ms", kept: 20, other: 10, gain: 10},
		{name: "out of reach", unreached: true, kept: lost, other: 10},
	}
	for _, test := range tests {
		rows := map[string][]int{serverA: {test.kept, test.kept}, serverB: {test.other, test.other}}
		servers, table := tableOf(annAndBob, rows, serverB, serverA)
		got := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Keep: keep, Top: 1})
		if (got.Chosen.Addr.AddrPort == keep) != test.stays || got.Keep.Stays != test.stays || got.Keep.Gain != test.gain {
			t.Errorf("%s: chose %v, %+v", test.name, got.Chosen.Addr, got.Keep)
		}
		if (got.Keep.Culled != nil) != test.unreached {
			t.Errorf("%s: culled %v", test.name, got.Keep.Culled)
		}
	}
	servers, table := tableOf(annAndBob, map[string][]int{serverB: {1, 1}}, serverB)
	if got := selection.Select(servers, table, selection.Criteria{Keep: keep}); !got.Keep.Unlisted || got.Chosen.Addr.AddrPort == keep {
		t.Errorf("no longer listed: %+v", got.Keep)
	}
}

func TestQuality(t *testing.T) {
	rows := map[string][]int{serverA: {30, 30}, serverB: {80, 80}, serverC: {90, 90}}
	servers, table := tableOf(annAndBob, rows, serverA, serverB, serverC)
	for player := range annAndBob {
		table.SetQuality(player, 0, selection.Quality{Loss: 0.1, Jitter: time.Millisecond})
		table.SetQuality(player, 1, selection.Quality{Jitter: 2 * time.Millisecond})
	}
	got := selection.Select(servers, table, selection.Criteria{By: selection.Mean})
	want := []struct {
		addr  string
		score float64
	}{
		{serverB, 84},  // 80 + 2·2
		{serverC, 94},  // 90 and the lower median of the finalists' 4 and 102
		{serverA, 132}, // 30 + 2·1 + 10·10
	}
	for i, w := range want {
		if r := got.Ranking[i]; r.Addr.String() != w.addr || r.Score != w.score {
			t.Errorf("place %d: %v with %v, want %v", i, r.Addr, r.Score, w)
		}
	}
	if c := got.Chosen; c.MeanMS != 80 || c.Loss["ann"] != 0 || c.JitterMS["bob"] != 2 {
		t.Errorf("the chosen one shows %+v", c)
	}
}

// TestBadWayIsNotFair checks that a bad way of the nearest player makes no server fairer, though
// everybody would be as badly off.
func TestBadWayIsNotFair(t *testing.T) {
	rows := map[string][]int{serverA: {30, 50}, serverB: {60, 78}}
	servers, table := tableOf(annAndBob, rows, serverA, serverB)
	table.SetQuality(0, 0, selection.Quality{Jitter: 10 * time.Millisecond})
	table.SetQuality(1, 0, selection.Quality{})
	table.SetQuality(0, 1, selection.Quality{})
	table.SetQuality(1, 1, selection.Quality{})
	if got := selection.Select(servers, table, selection.Criteria{By: selection.Fairness}); got.Chosen.Addr.String() != serverB {
		t.Errorf("chosen is %+v", got.Chosen)
	}
}

// TestIllSpeaker checks that a player who claims packet loss at all finalists but one has not
// chosen that one. If several see loss at one of them, it still counts.
func TestIllSpeaker(t *testing.T) {
	rows := map[string][]int{serverA: {30, 30}, serverB: {32, 32}, serverC: {90, 90}}
	servers, table := tableOf(annAndBob, rows, serverA, serverB, serverC)
	bad := selection.Quality{Loss: 0.33, Jitter: 400 * time.Millisecond}
	for server := range 2 {
		table.SetQuality(0, server, bad)
	}
	chosen := func() string {
		return selection.Select(servers, table, selection.Criteria{By: selection.Mean}).Chosen.Addr.String()
	}
	table.SetQuality(0, 2, selection.Quality{})
	if got := chosen(); got != serverA {
		t.Errorf("ann speaks ill of all but %s: %s is chosen", serverC, got)
	}
	table.SetQuality(0, 1, selection.Quality{})
	for player := range annAndBob {
		table.SetQuality(player, 0, bad)
	}
	if got := chosen(); got != serverB {
		t.Errorf("%s loses packets of everybody: %s is chosen", serverA, got)
	}
}

// TestEqualQualityChangesNothing checks that a finalist does not lose because its quality was
// measured.
func TestEqualQualityChangesNothing(t *testing.T) {
	for _, by := range selection.Rules() {
		servers, table := musstTable(serverA, serverB, serverC)
		before := selection.Select(servers, table, selection.Criteria{By: by}).Chosen.Addr
		for player := range table.Players() {
			for server := range 2 {
				table.SetQuality(player, server, selection.Quality{Jitter: 5 * time.Millisecond})
			}
		}
		if after := selection.Select(servers, table, selection.Criteria{By: by}).Chosen.Addr; after != before {
			t.Errorf("%s: %v became %v", by, before, after)
		}
	}
}

func TestTiesBreakByAddress(t *testing.T) {
	rows := map[string][]int{"9.0.0.1:1": {20, 30}, "10.0.0.1:1": {20, 30}, "10.0.0.1:2": {30, 20}}
	servers, table := tableOf(annAndBob, rows, "10.0.0.1:2", "10.0.0.1:1", "9.0.0.1:1")
	for _, by := range selection.Rules() {
		for _, limit := range []int{0, 2} {
			got := selection.Select(servers, table, selection.Criteria{By: by, Top: limit}).Ranking
			if got[0].Addr.String() != "9.0.0.1:1" || got[1].Addr.String() != "10.0.0.1:1" {
				t.Errorf("%s, top %d: %v, %v", by, limit, got[0].Addr, got[1].Addr)
			}
		}
	}
}
