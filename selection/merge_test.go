package selection_test

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/report"
	"muster/selection"
)

func measured(addr string, state discovery.State, ms int) report.Measurement {
	return report.Measurement{
		Addr: hostport.At(netip.MustParseAddrPort(addr)), State: state,
		RTT: discovery.Millis(time.Duration(ms) * time.Millisecond),
	}
}

func TestMerge(t *testing.T) {
	evening := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	early, late := measured(serverA, discovery.Answered, 30), measured(serverA, discovery.Answered, 50)
	early.Players, early.MaxPlayers, early.ASN = 3, 8, 3320
	late.Players, late.MaxPlayers, late.Country = 5, 8, "DE"
	reports := []report.Report{
		{Peer: "bob", Started: evening.Add(time.Minute), Servers: []report.Measurement{
			measured("[::ffff:10.0.0.3]:27960", discovery.Answered, 20), late,
		}},
		{Peer: "ann", Started: evening, Servers: []report.Measurement{
			early, measured(serverB, discovery.Refused, 0), measured(serverC, discovery.Lost, 0),
		}},
	}
	servers, table, err := selection.Merge(reports)
	if err != nil {
		t.Fatal(err)
	}
	wantList := []discovery.Server{
		{Addr: netip.MustParseAddrPort(serverA), Country: "DE", ASN: 3320},
		{Addr: netip.MustParseAddrPort(serverB)},
		{Addr: netip.MustParseAddrPort(serverC)},
	}
	for i, want := range wantList {
		if servers.List[i] != want {
			t.Errorf("server %d: %+v, want %+v", i, servers.List[i], want)
		}
	}
	if info := servers.Infos[0]; info == nil || info.Players != 5 {
		t.Errorf("A says %+v, want what bob heard last", info)
	}
	if servers.Infos[1] != nil || servers.Infos[2] != nil {
		t.Errorf("B and C said nothing, but %+v, %+v", servers.Infos[1], servers.Infos[2])
	}
	wantStates := [2][3]discovery.State{
		{discovery.Answered, discovery.Unprobed, discovery.Answered}, // bob
		{discovery.Answered, discovery.Refused, discovery.Lost},      // ann
	}
	for player, states := range wantStates {
		for server, want := range states {
			if got, _ := table.At(player, server); got != want {
				t.Errorf("%s, server %d: %v, want %v", table.Players()[player], server, got, want)
			}
		}
	}
	if _, rtt := table.At(0, 2); rtt != 20*time.Millisecond {
		t.Errorf("bob's RTT to C is %v", rtt)
	}
}

func TestMergeRefuses(t *testing.T) {
	tests := []struct {
		reports []report.Report
		want    string
	}{
		{nil, "no report"},
		{[]report.Report{{Peer: "ann"}, {Peer: "bob"}, {Peer: "ann"}}, `two reports are by "ann"`},
		{[]report.Report{{Peer: "ann"}, {}}, "report 2 does not name"},
	}
	for _, test := range tests {
		if _, _, err := selection.Merge(test.reports); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// TestMergeInAnyOrder checks that the choice does not depend on the order of files, nor on the
// order of servers in them.
func TestMergeInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	var reports []report.Report
	for _, name := range []string{"ann", "bob", "cat"} {
		r := report.Report{Peer: name}
		for i := range 50 {
			m := measured(numberedServer(i).Addr.String(), discovery.Answered, 1+random.IntN(4)*10)
			m.Players, m.MaxPlayers = random.IntN(4), 8
			r.Servers = append(r.Servers, m)
		}
		reports = append(reports, r)
	}
	choose := func() string {
		servers, table, err := selection.Merge(reports)
		if err != nil {
			t.Fatal(err)
		}
		got := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Seats: 6})
		return strings.Join(explained(got), " ")
	}
	want := choose()
	for range 20 {
		random.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
		s := reports[0].Servers
		random.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		if got := choose(); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
}

// TestManual checks the shape of MUSST's Table 3: looking up everything by hand takes hours and
// finds what the program finds. Looking up first choices is quick and worse.
func TestManual(t *testing.T) {
	rows := map[string][]int{serverA: {10, 300}, serverB: {280, 20}, serverC: {100, 110}, "10.0.0.4:1": {5, lost}}
	servers, table := tableOf(annAndBob, rows, serverA, serverB, serverC, "10.0.0.4:1")
	best := selection.ManualBest(servers, table, selection.Criteria{By: selection.Minimax})
	if best.Chosen.Addr.String() != serverC || best.Chosen.Score != 105 || best.Time != 8*time.Second {
		t.Errorf("best: %+v", best)
	}
	tests := []struct {
		choices int
		chosen  string
		time    time.Duration
	}{
		{1, serverB, 4 * time.Second}, // ann's first choice is out of bob's reach
		{2, serverC, 8 * time.Second}, // bob's second choice is C
	}
	for _, test := range tests {
		first := selection.ManualFirst(servers, table, selection.Criteria{}, test.choices)
		if first.Chosen == nil || first.Chosen.Addr.String() != test.chosen || first.Time != test.time {
			t.Errorf("%d choices: %+v", test.choices, first)
		}
	}
	servers, table = tableOf(annAndBob, map[string][]int{serverA: {lost, lost}}, serverA)
	if first := selection.ManualFirst(servers, table, selection.Criteria{}, 1); first.Chosen != nil {
		t.Errorf("nothing in reach, but %+v", first.Chosen)
	}
}

// TestManualTimesOfTable3 checks the paper's times, for the sizes that give them.
func TestManualTimesOfTable3(t *testing.T) {
	servers := selection.Servers{List: make([]discovery.Server, 1600)}
	table := selection.NewTable([]string{"A", "B", "C", "D"}, 1600)
	if best := selection.ManualBest(servers, table, selection.Criteria{}); best.Time != 6400*time.Second {
		t.Errorf("manual best takes %v", best.Time)
	}
	if first := selection.ManualFirst(servers, table, selection.Criteria{}, 20); first.Time != 320*time.Second {
		t.Errorf("manual first takes %v", first.Time)
	}
}

func TestNATGroups(t *testing.T) {
	for _, c := range []struct {
		name    string
		players []string
		want    [][]int
	}{
		{"nobody", nil, nil},
		{"each alone", []string{"192.0.2.1", "192.0.2.2"}, [][]int{{0}, {1}}},
		{"a household and a friend", []string{"192.0.2.1", "198.51.100.7", "::ffff:192.0.2.1"}, [][]int{{0, 2}, {1}}},
		{"one IPv6 network", []string{"2001:db8:1:2::5", "2001:db8:1:3::5", "2001:db8:1:2:ff::6"}, [][]int{{0, 2}, {1}}},
		{"unknown", []string{"", "", "192.0.2.1"}, [][]int{{0}, {1}, {2}}},
	} {
		var addrs []netip.Addr
		for _, p := range c.players {
			addr, _ := netip.ParseAddr(p)
			addrs = append(addrs, addr)
		}
		if got := selection.NATGroups(addrs); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
