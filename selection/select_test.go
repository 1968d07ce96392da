package selection_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
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

// tableOf returns a table with the servers in the given order.
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
