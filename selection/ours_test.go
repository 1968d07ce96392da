package selection_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/selection"
)

func addrs(texts ...string) (addrs []netip.AddrPort) {
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddrPort(text))
	}
	return addrs
}

// TestOurs checks that one of the group's own is chosen unless another is better by more than they
// allow.
func TestOurs(t *testing.T) {
	const allowed = 15 * time.Millisecond
	tests := []struct {
		name    string
		rows    map[string][]int
		ours    []string
		more    selection.Criteria
		chosen  string
		decided selection.Decision
		says    string
	}{
		{name: "a little worse", rows: map[string][]int{serverA: {40, 40}, serverB: {49, 49}}, ours: []string{serverB},
			chosen: serverB, decided: selection.ByOurs,
			says: "It’s one of ours, 9.0 ms more than the best other, 10.0.0.1:27960 (we allowed 15.0 ms)."},
		{name: "just what is allowed", rows: map[string][]int{serverA: {40, 40}, serverB: {55, 55}}, ours: []string{serverB},
			chosen: serverB, decided: selection.ByOurs, says: "15.0 ms more"},
		{name: "a millisecond more than that", rows: map[string][]int{serverA: {40, 40}, serverB: {56, 56}}, ours: []string{serverB},
			chosen: serverA, decided: selection.ByRule, says: "It’s 16.0 ms better than the best of ours, 10.0.0.2:27960 (we allowed 15.0 ms)."},
		{name: "ours is the best anyway", rows: map[string][]int{serverA: {60, 60}, serverB: {49, 49}}, ours: []string{serverB},
			chosen: serverB, decided: selection.ByRule, says: "It’s one of ours, 11.0 ms less than the best other."},
		{name: "the best of two of ours",
			rows: map[string][]int{serverA: {40, 40}, serverB: {50, 50}, serverC: {45, 45}}, ours: []string{serverB, serverC},
			chosen: serverC, decided: selection.ByOurs, says: "5.0 ms more"},
		{name: "as good", rows: map[string][]int{serverA: {40, 40}, serverB: {40, 40}}, ours: []string{serverB},
			chosen: serverB, decided: selection.ByRule, says: "It’s one of ours, and no other is better."},
		{name: "a limit holds", rows: map[string][]int{serverA: {40, 40}, serverB: {49, 49}}, ours: []string{serverB},
			more:   selection.Criteria{Limits: []time.Duration{45 * time.Millisecond}},
			chosen: serverA, decided: selection.ByRule},
		{name: "by the worst off", rows: map[string][]int{serverA: {10, 50}, serverB: {10, 60}},
			ours: []string{serverB}, more: selection.Criteria{By: selection.Minimax},
			chosen: serverB, decided: selection.ByOurs, says: "10.0 ms more"},
		{name: "as the players are weighted", rows: map[string][]int{serverA: {40, 40}, serverB: {40, 60}},
			ours: []string{serverB}, more: selection.Criteria{Weights: map[string]float64{"bob": 9}},
			chosen: serverA, decided: selection.ByRule, says: "18.0 ms better than the best of ours"},
		{name: "none of ours answers", rows: map[string][]int{serverA: {40, 40}, serverB: {49, -1}}, ours: []string{serverB},
			chosen: serverA, decided: selection.ByRule},
		{name: "ours is hidden", rows: map[string][]int{serverA: {40, 40}, serverB: {41, 41}}, ours: []string{serverB},
			more:   selection.Criteria{Hidden: []selection.Veto{{Player: "ann", Server: netip.MustParseAddrPort(serverB)}}},
			chosen: serverA, decided: selection.ByRule},
		{name: "away from the last round's, which is none of ours",
			rows: map[string][]int{serverA: {40, 40}, serverB: {49, 49}}, ours: []string{serverB},
			more:   selection.Criteria{Keep: netip.MustParseAddrPort(serverA)},
			chosen: serverB, decided: selection.ByOurs, says: "9.0 ms more"},
		{name: "the last round's stays, which is one of ours",
			rows: map[string][]int{serverA: {40, 40}, serverB: {58, 58}}, ours: []string{serverB},
			more:   selection.Criteria{Keep: netip.MustParseAddrPort(serverB)},
			chosen: serverB, decided: selection.ByKeeping},
	}
	for _, tt := range tests {
		order := slices.Sorted(func(yield func(string) bool) {
			for addr := range tt.rows {
				if !yield(addr) {
					return
				}
			}
		})
		servers, table := tableOf(annAndBob, tt.rows, order...)
		criteria := tt.more
		criteria.By = cmp.Or(criteria.By, selection.Mean)
		criteria.Ours, criteria.Allowed = addrs(tt.ours...), allowed
		doc := selection.Select(servers, table, criteria)
		if doc.Chosen == nil || doc.Chosen.Addr.String() != tt.chosen || doc.Decided.By != tt.decided {
			t.Errorf("%s: chosen is %+v, decided %+v", tt.name, doc.Chosen, doc.Decided)
			continue
		}
		if doc.Chosen.Ours != slices.Contains(tt.ours, tt.chosen) {
			t.Errorf("%s: the chosen one is marked as ours: %v", tt.name, doc.Chosen.Ours)
		}
		if says := strings.Join(explained(doc), "\n"); !strings.Contains(says, tt.says) {
			t.Errorf("%s: %s", tt.name, says)
		}
	}
}

// TestOursIsAnOrder checks that, whatever the rule, one figure ranks each server: the score and the
// allowance. So the ranking does not depend on the order of the list.
func TestOursIsAnOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	for range 60 {
		rows, order := map[string][]int{}, []string{}
		for i := range 12 {
			addr := fmt.Sprintf("10.0.0.%d:27960", i+1)
			order, rows[addr] = append(order, addr), []int{20 + rng.IntN(60), 20 + rng.IntN(60)}
		}
		criteria := selection.Criteria{Ours: addrs(order[:4]...), Allowed: time.Duration(rng.IntN(30)) * time.Millisecond}
		for _, criteria.By = range selection.Rules() {
			var first []string
			for range 3 {
				rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				servers, table := tableOf(annAndBob, rows, order...)
				doc := selection.Select(servers, table, criteria)
				var ranking []string
				for i, r := range doc.Ranking {
					ranking = append(ranking, r.Addr.String())
					if i == 0 {
						continue
					}
					figure := func(r selection.Ranked) float64 {
						if !r.Ours {
							return r.Score + float64(criteria.Allowed)/float64(time.Millisecond)
						}
						return r.Score
					}
					if figure(doc.Ranking[i-1]) > figure(r)+1e-9 {
						t.Fatalf("%s: %+v comes before %+v", criteria.By, doc.Ranking[i-1], r)
					}
				}
				if first == nil {
					first = ranking
				} else if !slices.Equal(first, ranking) {
					t.Fatalf("%s: %v, and in another order %v", criteria.By, first, ranking)
				}
			}
		}
	}
}

func TestHidden(t *testing.T) {
	servers, table := tableOf(annAndBob, map[string][]int{serverA: {40, 40}, serverB: {49, 49}}, serverA, serverB)
	doc := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Hidden: []selection.Veto{
		{Player: "bob", Server: netip.MustParseAddrPort(serverA)}, {Player: "ann", Server: netip.MustParseAddrPort(serverA)},
	}})
	if doc.Chosen == nil || doc.Chosen.Addr.String() != serverB || doc.Culled.Hidden != 1 || doc.Culled.Total() != 1 {
		t.Fatalf("%+v, culled %+v", doc.Chosen, doc.Culled)
	}
	if reason := doc.Reasons[0]; reason.Cause != selection.Hidden || !slices.Equal(reason.Players, []string{"ann", "bob"}) {
		t.Errorf("%+v", reason)
	}
	if says := strings.Join(explained(doc), "\n"); !strings.Contains(says, "Left out 1 server: 1 hidden by someone.") {
		t.Error(says)
	}
}
