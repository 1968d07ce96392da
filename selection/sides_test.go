package selection_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestExcess checks that only what lines confirm counts between the sides, and that limits, averages of
// all and other rules count every ping in full.
func TestExcess(t *testing.T) {
	players := []string{"ann", "ben", "emil", "zoe"}
	two := map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideA, "emil": selection.SideB, "zoe": selection.SideB}
	rows := map[string][]int{serverA: {40, 100, 70, 70}, serverB: {40, 100, 55, 55}} // without 30 ms of ben's, a's are 55
	over := map[string]selection.Excess{"ben": {MS: 30}}
	for _, test := range []struct {
		by     selection.Rule
		excess map[string]selection.Excess
		want   string
		means  selection.SideMeans
		told   map[string]float64
	}{
		{selection.EvenSides, nil, serverA, selection.SideMeans{A: 70, B: 70}, nil},
		{selection.EvenSides, over, serverB, selection.SideMeans{A: 55, B: 55}, map[string]float64{"ben": 30}},
		{selection.EvenSides, map[string]selection.Excess{"ben": {Times: 1.25}}, serverB, selection.SideMeans{A: 60, B: 55}, map[string]float64{"ben": 20}},
		{selection.EvenSides, map[string]selection.Excess{"ben": {MS: 300}}, serverB, selection.SideMeans{A: 20.5, B: 55}, map[string]float64{"ben": 99}},
		{selection.Mean, over, serverB, selection.SideMeans{A: 55, B: 55}, map[string]float64{"ben": 30}},
	} {
		servers, table := tableOf(players, rows, serverA, serverB)
		s := selection.Select(servers, table, selection.Criteria{By: test.by, Sides: two, Excess: test.excess})
		if c := s.Chosen; c.Addr.String() != test.want || *c.SideMeanMS != test.means || c.MaxMS != 100 || !maps.Equal(s.Excess, test.told) {
			t.Errorf("%s, %v: %v with %v, at most %v, without %v", test.by, test.excess, c.Addr, *c.SideMeanMS, c.MaxMS, s.Excess)
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

// TestEvenSides checks which server two sides get, with limits and without, and what Muster says.
func TestEvenSides(t *testing.T) {
	ms := time.Millisecond
	players := []string{"ann", "ben", "emil", "zoe"}
	two := map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideA, "emil": selection.SideB, "zoe": selection.SideB}
	near := []int{20, 30, 60, 50}   // 25 and 55
	even := []int{70, 80, 72, 74}   // 75 and 73
	evener := []int{95, 97, 96, 96} // 96 and 96
	far := []int{290, 300, 295, 295}
	for _, test := range []struct {
		name    string
		rows    [3][]int
		sides   map[string]selection.Side
		limits  []time.Duration
		chosen  string
		score   float64
		limitMS float64
		says    []string
	}{
		{"the difference counts", [3][]int{near, even, {40, 40, 90, 90}}, two, nil, serverB, 2, 100, []string{
			"10.0.0.2:27960 has the most even sides where nobody is over 100.0 ms: 2.0 ms between their averages, 74.0 ms on average for everyone; ben is worst off with 80.0 ms.",
			"On average, side A has 75.0 ms there, and side B 73.0 ms.",
			"10.0.0.1:27960 has a lower average (40.0 ms) and a lower worst ping (60.0 ms), but its difference between the sides (30.0 ms) is above the chosen server’s.",
		}},
		{"nobody feels 2 ms, and all feel 22", [3][]int{near, even, evener}, two, nil, serverB, 2, 100, []string{
			"Next best is 10.0.0.3:27960, +22.0 ms on average and +17.0 ms for the worst off, but the sides are only 2.0 ms closer there, and the average is higher.",
		}},
		{"far from everybody is even, too", [3][]int{near, far, {30, 40, 60, 60}}, two, nil, serverC, 25, 100, nil},
		{"a limit of the group comes first", [3][]int{near, even, {40, 40, 60, 60}}, two, []time.Duration{65 * ms}, serverC, 20, 65, nil},
		{"the strictest limit that a server keeps", [3][]int{near, even, far}, two, []time.Duration{300 * ms, 40 * ms, 90 * ms}, serverB, 2, 90, nil},
		{"250 ms of the average outweigh 25 of difference", [3][]int{near, far, {30, 40, 60, 60}}, two, []time.Duration{300 * ms}, serverC, 25, 300, nil},
		{"and not 50, if the group's limit lets it", [3][]int{{20, 30, 80, 80}, far, {30, 40, 90, 90}}, two, []time.Duration{300 * ms}, serverB, 0, 300, nil},
		{"limits hold for all, the difference is of two", [3][]int{near, even, {40, 40, 90, 90}},
			map[string]selection.Side{"ann": selection.SideA, "emil": selection.SideB}, nil, serverB, 2, 100, nil},
		{"one side is empty", [3][]int{near, even, evener}, map[string]selection.Side{"ann": selection.SideA, "zoe": selection.SideA}, nil, serverA, 40, 0, []string{
			"10.0.0.1:27960 has the lowest average: 40.0 ms; emil is worst off with 60.0 ms.",
			"It takes a player on each side to make them even. Until then the lowest average wins.",
		}},
		{"no sides", [3][]int{near, even, evener}, nil, nil, serverA, 40, 0, []string{
			"It takes a player on each side to make them even. Until then the lowest average wins.",
		}},
	} {
		servers, table := tableOf(players, map[string][]int{serverA: test.rows[0], serverB: test.rows[1], serverC: test.rows[2]}, serverA, serverB, serverC)
		s := selection.Select(servers, table, selection.Criteria{By: selection.EvenSides, Sides: test.sides, Limits: test.limits})
		if s.Chosen.Addr.String() != test.chosen || s.Chosen.Score != test.score || s.LimitMS != test.limitMS {
			t.Errorf("%s: %v with %v under %v, want %s with %v under %v",
				test.name, s.Chosen.Addr, s.Chosen.Score, s.LimitMS, test.chosen, test.score, test.limitMS)
		}
		lines := explained(s)
		for _, want := range test.says {
			if !slices.Contains(lines, want) {
				t.Errorf("%s: no %q in %q", test.name, want, lines)
			}
		}
	}
}

// TestSwappedSidesAreTheSameChoice checks that neither side has an advantage, and that a player on
// neither side moves no score.
func TestSwappedSidesAreTheSameChoice(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		servers, table := randomTable(random)
		sides := drawnSides(random, table.Players())
		swapped := map[string]selection.Side{}
		for name, side := range sides {
			swapped[name] = selection.SideA + selection.SideB - side
		}
		criteria := selection.Criteria{By: selection.EvenSides, Sides: sides, Limits: []time.Duration{50 * time.Millisecond}}
		one := selection.Select(servers, table, criteria)
		criteria.Sides = swapped
		two := selection.Select(servers, table, criteria)
		if len(one.Ranking) != len(two.Ranking) {
			t.Fatalf("%d servers, and %d with the sides swapped", len(one.Ranking), len(two.Ranking))
		}
		for i := range one.Ranking {
			if a, b := one.Ranking[i], two.Ranking[i]; a.Addr != b.Addr || a.Score != b.Score {
				t.Fatalf("place %d: %v with %v, and %v with %v with the sides swapped", i, a.Addr, a.Score, b.Addr, b.Score)
			}
		}
	}
}

// TestExplainsSidesOfAnyDocument checks that a document whose parts contradict each other can be
// explained.
func TestExplainsSidesOfAnyDocument(t *testing.T) {
	for _, text := range []string{
		`{"by":"even-sides","chosen":{"addr":"10.0.0.1:1"}}`,
		`{"by":"even-sides","chosen":{"addr":"10.0.0.1:1"},"decided":{"by":"rule","measure":"even-sides"}}`,
		`{"by":"even-sides","chosen":{"addr":"10.0.0.1:1","side_mean_ms":{"a":1,"b":2}},"decided":{"by":"vote","measure":"mean"}}`,
		`{"by":"even-sides","chosen":null}`,
		`{"by":"mean","chosen":{"addr":"10.0.0.1:1"},"decided":{"by":"rule","measure":"even-sides"},"why":{"rivals":[{"by":["even-sides"],"addr":"10.0.0.2:1"}]}}`,
	} {
		var s selection.Selection
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		explained(s)
	}
}
