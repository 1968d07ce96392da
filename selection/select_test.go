package selection_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/law"
)

// musst is Table 2 of MUSST (NetGames 2005): the RTTs in milliseconds of eight
// players to three servers.
var musst = map[string][]int{
	"10.0.0.1:27960": {24, 17, 41, 35, 18, 27, 30, 272},  // A
	"10.0.0.2:27960": {74, 62, 100, 51, 84, 44, 122, 71}, // B
	"10.0.0.3:27960": {95, 89, 92, 88, 96, 87, 93, 94},   // C
}

const (
	serverA = "10.0.0.1:27960"
	serverB = "10.0.0.2:27960"
	serverC = "10.0.0.3:27960"
)

func musstTable(order ...string) (selection.Servers, *selection.Table) {
	return tableOf(strings.Split("p1 p2 p3 p4 p5 p6 p7 p8", " "), musst, order...)
}

// These are the cells of tableOf without an RTT.
const (
	unprobed = -1
	lost     = -2
	refused  = -3
)

func tableOf(players []string, rows map[string][]int, order ...string) (selection.Servers, *selection.Table) {
	var servers selection.Servers
	table := selection.NewTable(players, len(order))
	for i, addr := range order {
		servers.List = append(servers.List, discovery.Server{Addr: netip.MustParseAddrPort(addr)})
		for player, ms := range rows[addr] {
			switch ms {
			case unprobed:
			case lost:
				table.Set(player, i, discovery.Lost, 0)
			case refused:
				table.Set(player, i, discovery.Refused, 0)
			default:
				table.Set(player, i, discovery.Answered, time.Duration(ms)*time.Millisecond)
			}
		}
	}
	servers.Infos = map[int]*discovery.Info{}
	return servers, table
}

func TestMUSSTTable2(t *testing.T) {
	limit := []time.Duration{150 * time.Millisecond}
	tests := []struct {
		criteria    selection.Criteria
		chosen      string
		score       float64
		mean, stdev float64 // as the paper prints them, to a tenth
	}{
		{selection.Criteria{By: selection.Mean}, serverA, 58, 58.0, 86.8},
		{selection.Criteria{By: selection.Threshold, Limits: limit}, serverB, 76, 76.0, 25.7},
		{selection.Criteria{By: selection.Fairness}, serverC, 3.4, 91.8, 3.4},
		{selection.Criteria{By: selection.FairThreshold, Limits: limit}, serverC, 3.4, 91.8, 3.4},
		{selection.Criteria{By: selection.Minimax}, serverC, 96, 91.8, 3.4},
		{selection.Criteria{By: selection.LeastSacrifice}, serverC, 78, 91.8, 3.4}, // of p5's 96 to C, 18 to A
		{selection.Criteria{By: selection.Mean, Limits: limit}, serverB, 76, 76.0, 25.7},
	}
	servers, table := musstTable(serverA, serverB, serverC)
	for _, test := range tests {
		got := selection.Select(servers, table, test.criteria).Chosen
		if got == nil || got.Addr.String() != test.chosen {
			t.Errorf("%s: chose %v, want %s", test.criteria.By, got, test.chosen)
			continue
		}
		if !near(got.Score, test.score) || !near(got.MeanMS, test.mean) || !near(got.StdevMS, test.stdev) {
			t.Errorf("%s: score %v, mean %v, stdev %v", test.criteria.By, got.Score, got.MeanMS, got.StdevMS)
		}
	}
}

// near reports whether values print alike to a tenth.
func near(got, want float64) bool { return got-want <= 0.0501 && want-got <= 0.0501 }

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

// fill sets everything in a value that has an exported name. Texts without a meaning of their own
// become a prefix and a number.
func fill(v reflect.Value, prefix string, n *int) {
	*n++
	switch {
	case !v.CanSet(), v.Type() == reflect.TypeFor[selection.Judgement](), v.Type() == reflect.TypeFor[law.Break](): // they name nobody
	case v.Type() == reflect.TypeFor[string]():
		v.SetString(prefix + strconv.Itoa(*n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), prefix, n)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), prefix, n)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), prefix, n)
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, prefix, n)
			fill(value, prefix, n)
			v.SetMapIndex(key, value)
		}
	case v.CanInt():
		v.SetInt(int64(*n))
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(float64(*n))
	}
}

// filled returns a selection with every field set. The players' names begin with a prefix.
func filled(prefix string) (s selection.Selection) {
	fill(reflect.ValueOf(&s).Elem(), prefix, new(int))
	s.Format = selection.Format
	return s
}

// TestNamed checks that other names stand wherever the players' stood, and that the selection itself
// keeps its own.
func TestNamed(t *testing.T) {
	name := func(id string) string { return strings.Replace(id, "id ", "name ", 1) }
	s := filled("id ")
	if named := s.Named(name); !reflect.DeepEqual(named, filled("name ")) {
		t.Errorf("with names it is %+v", named)
	}
	if !reflect.DeepEqual(s, filled("id ")) {
		t.Errorf("it has become %+v", s)
	}
	if none := (selection.Selection{}).Named(name); !reflect.DeepEqual(none, selection.Selection{}) {
		t.Errorf("nothing with names is %+v", none)
	}
}
