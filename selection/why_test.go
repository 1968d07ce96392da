package selection_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/internal/catalogue"
	"muster/selection"
)

// explained returns the explanation of a selection in English.
func explained(s selection.Selection) []string { return catalogue.InEnglish().SayAll(s.Explain()) }

// ExampleSelect shows Table 2 of MUSST: three servers, three rules, three winners.
func ExampleSelect() {
	servers, table := musstTable(serverA, serverB, serverC)
	for _, criteria := range []selection.Criteria{
		{By: selection.Mean},
		{By: selection.Threshold, Limits: []time.Duration{150 * time.Millisecond}},
		{By: selection.Fairness},
	} {
		for _, sentence := range explained(selection.Select(servers, table, criteria)) {
			fmt.Println(sentence)
		}
		fmt.Println()
	}
	// Output:
	// 10.0.0.1:27960 has the lowest average: 58.0 ms; p8 is worst off with 272.0 ms.
	// Without p8: −30.6 ms, on the same server.
	// 10.0.0.3:27960 has a lower worst ping (96.0 ms) and a lower deviation (3.4 ms), but its average (91.8 ms) is above the chosen server’s.
	// Next best is 10.0.0.2:27960, +18.0 ms on average and −150.0 ms for the worst off.
	//
	// 10.0.0.2:27960 has the lowest average where nobody is over 150.0 ms: 76.0 ms; p7 is worst off with 122.0 ms.
	// Without p7: −6.6 ms, on the same server.
	// 10.0.0.1:27960 has a lower average (58.0 ms), but p8 would be over the limit.
	// 10.0.0.3:27960 has a lower worst ping (96.0 ms) and a lower deviation (3.4 ms), but its average (91.8 ms) is above the chosen server’s.
	// Next best is 10.0.0.3:27960, +15.8 ms on average and −26.0 ms for the worst off.
	// Left out 1 server: 1 over the limit for someone.
	//
	// 10.0.0.3:27960 is the fairest: 91.8 ms on average, give or take 3.4 ms; p5 is worst off with 96.0 ms.
	// Without p6: −0.4 ms, on the same server.
	// 10.0.0.1:27960 has a lower average (58.0 ms), but its deviation (86.8 ms) is above the chosen server’s.
	// Next best is 10.0.0.2:27960, −15.8 ms on average and +26.0 ms for the worst off.
}

func TestWhoDecides(t *testing.T) {
	rows := map[string][]int{serverA: {20, 30, 200}, serverB: {90, 90, 60}}
	servers, table := tableOf([]string{"ann", "cat", "bob"}, rows, serverB, serverA)
	filter := selection.NewFilter(servers, selection.Criteria{By: selection.Mean})
	pivots := filter.Pivots(table)
	wants := []selection.Without{
		{Player: "ann", Addr: hostport.At(netip.MustParseAddrPort(serverB)), Score: 75, Gain: 5},
		{Player: "cat", Addr: hostport.At(netip.MustParseAddrPort(serverB)), Score: 75, Gain: 5},
		{Player: "bob", Addr: hostport.At(netip.MustParseAddrPort(serverA)), Score: 25, Gain: 55, Moves: true},
	}
	if !slices.Equal(pivots, wants) {
		t.Errorf("pivots %+v, want %+v", pivots, wants)
	}
	// On the chosen server B, ann and cat are equally badly off: ann comes first.
	why := selection.Select(servers, table, selection.Criteria{By: selection.Mean}).Why
	if why.Bottleneck != "ann" || *why.Without != wants[0] {
		t.Errorf("bottleneck %s, %+v", why.Bottleneck, *why.Without)
	}
}

func TestOnePlayerHasNoBottleneckToDrop(t *testing.T) {
	servers, table := tableOf([]string{"ann"}, map[string][]int{serverA: {20}, serverB: {10}}, serverA, serverB)
	for _, by := range selection.Rules() {
		got := selection.Select(servers, table, selection.Criteria{By: by})
		if got.Chosen.Addr.String() != serverB || got.Why.Without != nil {
			t.Errorf("%s: chose %v, without %v", by, got.Chosen.Addr, got.Why.Without)
		}
	}
}

func TestRelax(t *testing.T) {
	full := &discovery.Info{Players: 6, MaxPlayers: 8, Map: "tokara"}
	empty := &discovery.Info{MaxPlayers: 8, Map: "tokara"}
	flux := &discovery.Info{MaxPlayers: 8, Map: "flux2"}
	tests := []struct {
		name  string
		rows  map[string][]int // by server: A, B and C
		infos [3]*discovery.Info
		want  []string
	}{
		{name: "bob's line", rows: map[string][]int{serverA: {40, lost}, serverB: {30, refused}, serverC: {lost, lost}},
			infos: [3]*discovery.Info{empty, empty, empty},
			want:  []string{"Without bob, 2 servers would do, best 10.0.0.2:27960."}},
		{name: "the limit", rows: map[string][]int{serverA: {40, 160}, serverB: {170, 155}, serverC: {300, 300}},
			infos: [3]*discovery.Info{empty, empty, empty},
			want: []string{
				"With a limit of 160.0 ms, 10.0.0.1:27960 would do.",
				"Without bob, 1 server would do: 10.0.0.1:27960.",
			}},
		{name: "seats, the map, and what is not measured",
			rows:  map[string][]int{serverA: {40, 40}, serverB: {40, 40}, serverC: {unprobed, 40}},
			infos: [3]*discovery.Info{full, flux, empty},
			want: []string{
				"Only one thing rules out 1 server, 10.0.0.2:27960: with another map, mode or mod.",
				"With fewer seats, 1 server would do, 10.0.0.1:27960: it has 2 free.",
				"1 server would do if ann could reach it, 10.0.0.3:27960: not measured yet.",
			}},
		{name: "nothing alone", rows: map[string][]int{serverA: {lost, lost}, serverB: {200, 40}, serverC: {lost, unprobed}},
			infos: [3]*discovery.Info{full, flux, flux},
			want:  []string{"The nearest miss is 10.0.0.2:27960: with another map, mode or mod, over the limit for someone (ann)."}},
	}
	for _, test := range tests {
		servers, table := tableOf(annAndBob, test.rows, serverA, serverB, serverC)
		for server, info := range test.infos {
			servers.Infos[server] = info
		}
		got := selection.Select(servers, table, selection.Criteria{
			By: selection.Threshold, Limits: []time.Duration{50 * time.Millisecond, 150 * time.Millisecond},
			Seats: 4, Wishes: selection.Wishes{Map: "tokara"},
		})
		lines := explained(got)
		if got.Chosen != nil || lines[0] != "No server suits everyone." {
			t.Errorf("%s: chose %+v: %q", test.name, got.Chosen, lines)
			continue
		}
		if lines = lines[1 : len(lines)-1]; !slices.Equal(lines, test.want) {
			t.Errorf("%s: %q, want %q", test.name, lines, test.want)
		}
	}
}

// TestAloneAndOutOfReach checks that nobody is advised to play without themselves.
func TestAloneAndOutOfReach(t *testing.T) {
	servers, table := tableOf([]string{"ann"}, map[string][]int{serverA: {lost}, serverB: {refused}}, serverB, serverA)
	why := selection.Select(servers, table, selection.Criteria{}).Why
	if why.Relax != nil || why.Nearest == nil || why.Nearest.Addr.String() != serverA {
		t.Errorf("%+v", why)
	}
}

// TestHostileNames checks that a player's name does not reach a terminal unescaped.
func TestHostileNames(t *testing.T) {
	servers, table := tableOf([]string{"a\x1b[31mnn\n", "bob"}, map[string][]int{serverA: {90, 30}, serverB: {200, 80}}, serverA, serverB)
	text := strings.Join(explained(selection.Select(servers, table, selection.Criteria{By: selection.Mean})), "")
	if strings.ContainsAny(text, "\x1b\n") || !strings.Contains(text, "nn is worst off") {
		t.Errorf("%q", text)
	}
}
