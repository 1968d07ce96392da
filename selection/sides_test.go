package selection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"muster/selection"
)

// TestSidesInDocuments checks that a document lists the sides and their mean pings, and says nothing
// of sides where nobody is on one.
func TestSidesInDocuments(t *testing.T) {
	players := []string{"ann", "ben", "cat", "emil"}
	rows := map[string][]int{serverA: {10, 20, 90, 40}, serverB: {60, 60, 60, 60}}
	for _, test := range []struct {
		name  string
		sides map[string]selection.Side
		want  []string
	}{
		{"no sides", nil, nil},
		{"nobody on a side", map[string]selection.Side{"ann": selection.Neither}, nil},
		{"two and one, and one who plays for neither",
			map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideA, "emil": selection.SideB},
			[]string{`"sides":{"a":["ann","ben"],"b":["emil"]}`, `"side_mean_ms":{"a":15,"b":40}`}},
		{"one side is empty", map[string]selection.Side{"emil": selection.SideB, "ben": selection.SideB},
			[]string{`"sides":{"a":[],"b":["ben","emil"]}`}},
	} {
		servers, table := tableOf(players, rows, serverA, serverB)
		s := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Sides: test.sides})
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s in %s", test.name, want, text)
			}
		}
		if test.want == nil && strings.Contains(string(text), "side") {
			t.Errorf("%s: %s", test.name, text)
		}
	}
}

// TestCheckOfSides checks that a side needs a player, and is one of two.
func TestCheckOfSides(t *testing.T) {
	for _, test := range []struct {
		sides map[string]selection.Side
		ok    bool
	}{
		{map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideB}, true},
		{map[string]selection.Side{"ann": selection.Neither}, true},
		{map[string]selection.Side{"cat": selection.SideA}, false},
		{map[string]selection.Side{"ann": 3}, false},
		{map[string]selection.Side{"ann": -1}, false},
	} {
		err := selection.Criteria{By: selection.Mean, Sides: test.sides}.Check(annAndBob)
		if (err == nil) != test.ok {
			t.Errorf("%v: %v", test.sides, err)
		}
	}
}
