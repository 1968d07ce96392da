package selection_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

// TestSpare checks a server that the group would fill. It comes after one that is a little worse,
// but not after one that is much worse. It is never left out.
func TestSpare(t *testing.T) {
	rows := map[string][]int{serverA: {20, 30}, serverB: {21, 31}, serverC: {40, 40}}
	tests := []struct {
		name    string
		free    [3]int // of A, B and C
		spare   time.Duration
		ranking []string
	}{
		{"the best fits just so", [3]int{2, 3, 9}, 2 * time.Millisecond, []string{serverB, serverA, serverC}},
		{"nobody minds", [3]int{2, 3, 9}, 0, []string{serverA, serverB, serverC}},
		{"a spare seat is not worth 1 ms", [3]int{2, 3, 9}, 900 * time.Microsecond, []string{serverA, serverB, serverC}},
		{"as good: by address", [3]int{2, 3, 9}, time.Millisecond, []string{serverA, serverB, serverC}},
		{"both fit just so", [3]int{2, 2, 9}, 2 * time.Millisecond, []string{serverA, serverB, serverC}},
		{"there is no other", [3]int{2, 1, 0}, 2 * time.Millisecond, []string{serverA}},
		{"all have room", [3]int{3, 9, 9}, 2 * time.Millisecond, []string{serverA, serverB, serverC}},
		{"the third is too far", [3]int{2, 2, 3}, 2 * time.Millisecond, []string{serverA, serverB, serverC}},
	}
	for _, tt := range tests {
		servers, table := tableOf(annAndBob, rows, serverA, serverB, serverC)
		for server, free := range tt.free {
			servers.Infos[server] = &discovery.Info{MaxPlayers: 10, Players: 10 - free}
		}
		for _, top := range []int{0, 1, 2} {
			var ranking []string
			for _, r := range selection.Select(servers, table, selection.Criteria{By: selection.Mean, Seats: 2, Spare: tt.spare, Top: top}).Ranking {
				ranking = append(ranking, r.Addr.String())
			}
			want := tt.ranking
			if top > 0 {
				want = want[:min(top, len(want))]
			}
			if !slices.Equal(ranking, want) {
				t.Errorf("%s: the first %d are %v, want %v", tt.name, top, ranking, want)
			}
		}
	}
}
