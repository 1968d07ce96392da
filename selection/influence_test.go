package selection_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/selection"
)

// TestInfluences checks that a player who draws the others to another server is named, with the
// cost to them, and nobody else.
func TestInfluences(t *testing.T) {
	players := []string{"ann", "bob", "cat"}
	tests := []struct {
		name string
		rows map[string][]int
		by   selection.Criteria
		want []selection.Influence
		says string
	}{
		{"one praises", map[string][]int{serverA: {60, 60, 1}, serverB: {50, 54, 30}}, selection.Criteria{By: selection.Mean},
			[]selection.Influence{{Player: "cat", Server: 1, Gain: 8, Here: 1, There: 30}},
			"This choice depends on cat’s pings alone. Without cat’s report of 1.0 ms here and 30.0 ms to " +
				"10.0.0.2:27960, it would be that one, 8.0 ms better for the others."},
		{"one hides", map[string][]int{serverA: {60, 60, 60}, serverB: {20, 20, lost}}, selection.Criteria{By: selection.Minimax},
			[]selection.Influence{{Player: "cat", Server: 1, Gain: 40, Here: 60}},
			"This choice depends on cat’s pings alone. Without cat’s report of 60.0 ms here and no answer from " +
				"10.0.0.2:27960, it would be that one, 40.0 ms better for the others."},
		{"each has a say", map[string][]int{serverA: {10, 40, 40}, serverB: {55, 30, 30}}, selection.Criteria{By: selection.Mean},
			[]selection.Influence{{Player: "ann", Server: 1, Gain: 10, Here: 10, There: 55}}, ""},
		{"nobody has", map[string][]int{serverA: {10, 20, 30}, serverB: {60, 70, 80}}, selection.Criteria{By: selection.Mean}, nil, ""},
		{"too little to be told", map[string][]int{serverA: {50, 50, 1}, serverB: {49, 50, 30}}, selection.Criteria{By: selection.Mean},
			[]selection.Influence{{Player: "cat", Server: 1, Gain: 0.5, Here: 1, There: 30}}, ""},
		{"a limit that only one is over", map[string][]int{serverA: {60, 60, 60}, serverB: {20, 20, 120}},
			selection.Criteria{By: selection.Threshold, Limits: []time.Duration{100 * time.Millisecond}},
			[]selection.Influence{{Player: "cat", Server: 1, Gain: 40, Here: 60, There: 120}},
			"This choice depends on cat’s pings alone. Without cat’s report of 60.0 ms here and 120.0 ms to " +
				"10.0.0.2:27960, it would be that one, 40.0 ms better for the others."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			servers, table := tableOf(players, tt.rows, serverA, serverB)
			doc := selection.Select(servers, table, tt.by)
			if doc.Chosen.Server != 0 {
				t.Fatalf("the choice is %v", doc.Chosen.Addr)
			}
			for i := range tt.want {
				tt.want[i].Addr = hostport.At(servers.List[tt.want[i].Server].Addr)
			}
			got := selection.Influences(servers, table, tt.by, doc.Chosen.Server)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			doc.Why.Influences = got
			if lines := explained(doc); tt.says != "" && !slices.Contains(lines, tt.says) {
				t.Errorf("%q lacks %q", lines, tt.says)
			}
		})
	}
}
