package selection_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"regexp"
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

// TestCullByWhatTheListSays checks that the list's facts count where a server does not tell its
// own. They leave out a server that nobody has asked, unless the list is dated, and take in none,
// because it will be asked.
func TestCullByWhatTheListSays(t *testing.T) {
	full, free, uncounted := &discovery.Info{Players: 16, MaxPlayers: 16}, &discovery.Info{Players: 2, MaxPlayers: 16}, &discovery.Info{}
	seats, onMap := selection.Criteria{Seats: 4}, selection.Criteria{Wishes: selection.Wishes{Map: "tokara"}}
	for _, c := range []struct {
		name          string
		heard, listed *discovery.Info
		dated         bool
		criteria      selection.Criteria
		want          selection.Cause
		// barred servers are never asked. unknown servers must be asked.
		barred, unknown bool
	}{
		{name: "said to be full", listed: full, criteria: seats, want: selection.Full, barred: true},
		{name: "said to be full long ago", listed: full, dated: true, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "said to be free", listed: free, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "said to have players, and no seats", listed: &discovery.Info{Players: 5}, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "more players than seats", listed: &discovery.Info{Players: 17, MaxPlayers: 16}, criteria: seats, want: selection.Full, barred: true},
		{name: "said to be full, heard to be free", heard: free, listed: full, criteria: seats, want: survives},
		{name: "said to be free, heard to be full", heard: full, listed: free, criteria: seats, want: selection.Full, barred: true},
		{name: "it counts nobody, the list does", heard: uncounted, listed: full, criteria: seats, want: selection.Full, barred: true},
		{name: "it counts nobody, the list did", heard: uncounted, listed: full, dated: true, criteria: seats, want: survives},
		{name: "it counts nobody, the list says free", heard: uncounted, listed: free, criteria: seats, want: survives},
		{name: "another map", listed: &discovery.Info{Map: "flux2"}, criteria: onMap, want: selection.Filtered, barred: true},
		{name: "a list without maps", listed: &discovery.Info{Name: "One"}, criteria: onMap, want: selection.Unknown, unknown: true},
		{name: "it tells no map, the list does", heard: free, listed: &discovery.Info{Map: "Tokara"}, criteria: onMap, want: survives},
		{name: "it tells no map, the list did", heard: free, listed: &discovery.Info{Map: "Tokara"}, dated: true, criteria: onMap, want: survives},
		{name: "it tells no map, the list another", heard: free, listed: &discovery.Info{Map: "flux2"}, criteria: onMap,
			want: selection.Filtered, barred: true},
		{name: "with a password", listed: &discovery.Info{Password: true}, criteria: wish(selection.Wishes{NoPassword: true}),
			want: selection.Passworded, barred: true},
		{name: "another version", listed: &discovery.Info{Version: "1"}, criteria: wish(selection.Wishes{Version: "2"}),
			want: selection.WrongVersion, barred: true},
		{name: "vetoed map", listed: &discovery.Info{Map: "flux2"}, criteria: selection.Criteria{Vetoes: []selection.Veto{{Player: "bob", Map: "flux2"}}},
			want: selection.Vetoed, barred: true},
		{name: "nobody asks for anything", listed: full, want: survives},
	} {
		servers, table := oneServer(serverA, c.heard)
		if c.heard == nil {
			delete(servers.Infos, 0)
		}
		listed := *c.listed
		listed.AsListed = true
		servers.Said.Infos = map[netip.AddrPort]*discovery.Info{servers.List[0].Addr: &listed}
		servers.Dated = c.dated
		got := selection.Select(servers, table, c.criteria)
		if c.want == survives && got.Chosen == nil || c.want != survives && (len(got.Reasons) != 1 || got.Reasons[0].Cause != c.want) {
			t.Errorf("%s: %+v, want %v", c.name, got.Reasons, c.want)
		}
		if barred, unknown := selection.NewFilter(servers, c.criteria).Bars(0); barred != c.barred || unknown != c.unknown {
			t.Errorf("%s: barred %v, unknown %v; want %v and %v", c.name, barred, unknown, c.barred, c.unknown)
		}
		// A fact in a server's favour counts even if only one of several players heard it. The
		// list's facts do not become a player's lone word.
		if servers.Lone = map[int]bool{0: true}; c.heard != nil && c.want != selection.Filtered {
			barred, unknown := selection.NewFilter(servers, c.criteria).Bars(0)
			if c.heard == full && (barred || !unknown) || c.heard != full && barred != c.barred {
				t.Errorf("%s, by one of several: barred %v, unknown %v", c.name, barred, unknown)
			}
		}
	}
}

// TestUnaskedAsListed checks that a server nobody has asked counts under the list's cause, not as
// unmeasured by the players: measuring it would not be enough.
func TestUnaskedAsListed(t *testing.T) {
	servers, table := tableOf(annAndBob, nil, serverA)
	servers.Said.Infos = map[netip.AddrPort]*discovery.Info{servers.List[0].Addr: {Players: 16, MaxPlayers: 16, AsListed: true}}
	got := selection.Select(servers, table, selection.Criteria{Seats: 2})
	if got.Culled.Full != 1 || got.Culled.Unmeasured != 0 || got.Why == nil || len(got.Why.Relax) > 0 {
		t.Errorf("%+v, %+v", got.Culled, got.Why)
	}
	servers.Dated = true
	if got = selection.Select(servers, table, selection.Criteria{Seats: 2}); got.Culled.Unmeasured != 1 {
		t.Errorf("by an old list: %+v", got.Culled)
	}
}

// drawnSelection makes a choice on random pings by a random rule. It has limits, weights, full and
// favourite servers, jitter, losses and a last round's server.
func drawnSelection(random *rand.Rand) selection.Selection {
	servers, table, players := selection.Servers{Infos: map[int]*discovery.Info{}}, (*selection.Table)(nil), []string{}
	for i := range 1 + random.IntN(5) {
		players = append(players, fmt.Sprint("p", i))
	}
	n := 2 + random.IntN(8)
	table = selection.NewTable(players, n)
	for server := range n {
		servers.List = append(servers.List,
			discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server + 1)}), 27960)})
		servers.Infos[server] = &discovery.Info{Players: random.IntN(4), MaxPlayers: 4 + len(players)}
		for player := range players {
			table.Set(player, server, discovery.Answered, time.Duration(20_000+random.IntN(60_000))*time.Microsecond)
			if random.IntN(3) == 0 {
				table.SetQuality(player, server, selection.Quality{
					Loss:   float64(random.IntN(3)) / 4,
					Jitter: time.Duration(random.IntN(20)) * time.Millisecond,
				})
			}
		}
	}
	c := selection.Criteria{By: selection.Rules()[random.IntN(len(selection.Rules()))], Seats: len(players), Top: n}
	c.Limits = []time.Duration{time.Duration(40+random.IntN(80)) * time.Millisecond}
	if random.IntN(2) == 0 {
		c.Weights = map[string]float64{"p0": float64(random.IntN(4))}
	}
	if random.IntN(2) == 0 {
		c.Sides = drawnSides(random, players)
	}
	if random.IntN(2) == 0 {
		c.Spare = 2 * time.Millisecond
	}
	if random.IntN(3) == 0 {
		c.Keep = servers.List[random.IntN(n)].Addr
	}
	return selection.Select(servers, table, c)
}

var (
	figureInText = regexp.MustCompile(`(\d+\.\d) ms`)
	notInstead   = regexp.MustCompile(`(\d+\.\d) ms, not (\d+\.\d) ms`)
	thousands    = regexp.MustCompile(`(\d),(\d{3}\.\d ms)`)
)

// TestSentencesCompareRightly checks that the figures in a sentence that compares two servers are
// in the order that it says, whatever decided.
func TestSentencesCompareRightly(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	compared := map[string]int{}
	for range 5000 {
		s := drawnSelection(random)
		if s.Chosen == nil {
			continue
		}
		if random.IntN(2) == 0 {
			s = s.Voted(s.Ranking[random.IntN(len(s.Ranking))].Server, 1, 2, false)
		}
		for _, line := range explained(s) {
			line = thousands.ReplaceAllString(line, "$1$2")
			for _, pair := range notInstead.FindAllStringSubmatch(line, -1) {
				a, _ := strconv.ParseFloat(pair[1], 64)
				b, _ := strconv.ParseFloat(pair[2], 64)
				isLower := strings.HasPrefix(line, "By the rule")
				compared[map[bool]string{true: "by the rule", false: "outweighed"}[isLower]]++
				if isLower && a >= b || !isLower && a <= b {
					t.Fatalf("%q of\n%s", line, strings.Join(explained(s), "\n"))
				}
			}
			_, than, isOther := strings.Cut(line, " has a lower average (")
			if figure := figureInText.FindStringSubmatch(than); isOther && figure != nil {
				compared["a lower average"]++
				if ms, _ := strconv.ParseFloat(figure[1], 64); ms > s.Chosen.MeanMS+0.05 {
					t.Fatalf("%q, where the chosen one has %.1f", line, s.Chosen.MeanMS)
				}
			}
			if strings.HasPrefix(line, "Next best is") && strings.Contains(line, "−") && !strings.Contains(line, "but") && s.Chosen.MeanMS > 0 {
				compared["next best, and lower by another measure"]++
				if next := s.Ranking[1]; s.By == selection.Mean && s.Decided.Measure == selection.Mean &&
					next.Addr != s.Chosen.Addr && next.MeanMS < s.Chosen.MeanMS-0.1 {
					t.Fatalf("%q of\n%s", line, strings.Join(explained(s), "\n"))
				}
			}
		}
	}
	t.Log(compared)
	if compared["by the rule"] < 100 || compared["outweighed"] < 100 {
		t.Errorf("%v sentences were compared: the test says little", compared)
	}
}
