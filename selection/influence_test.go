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

// TestPairs checks that two players are named together if neither decides alone, and that larger
// groups and smaller ones name nobody.
func TestPairs(t *testing.T) {
	const praised, better, far = 10, 40, 90
	rows := func(players int) (names []string, rows map[string][]int) {
		rows = map[string][]int{serverA: {praised, praised}, serverB: {far, far}}
		for i := range players {
			names = append(names, string(rune('a'+i)))
			if i > 1 {
				rows[serverA], rows[serverB] = append(rows[serverA], 50), append(rows[serverB], better)
			}
		}
		return names, rows
	}
	for _, of := range []struct {
		players int
		told    string
	}{{6, ""}, {8, "a b"}, {17, ""}} {
		names, table := rows(of.players)
		if of.players > 8 { // more of them outweigh the two
			table[serverB][0], table[serverB][1] = 2*far, 2*far
		}
		servers, measured := tableOf(names, table, serverA, serverB)
		doc := selection.Select(servers, measured, selection.Criteria{By: selection.Mean})
		if doc.Chosen.Server != 0 {
			t.Fatalf("of %d: the choice is %v", of.players, doc.Chosen.Addr)
		}
		doc.Why.Influences = selection.Influences(servers, measured, selection.Criteria{By: selection.Mean}, 0)
		told := ""
		for _, i := range doc.Why.Influences {
			if i.With != "" {
				told = i.With + " " + i.Player
				if i.Gain != 10 || i.Here != praised || i.There != far {
					t.Errorf("of %d: %+v", of.players, i)
				}
			}
		}
		const says = "This choice depends on the pings of b and a together. Without their reports, it would be " +
			"10.0.0.2:27960, 10.0 ms better for the others."
		if told != of.told || slices.Contains(explained(doc), says) != (told != "") {
			t.Errorf("of %d: %q is told, want %q: %q", of.players, told, of.told, explained(doc))
		}
	}
}
