package selection_test

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/selection"
)

// A list is ranked for a group of three.
func Example() {
	players := []string{"ann", "ben", "eve"}
	servers := selection.Servers{List: []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960")}, {Addr: netip.MustParseAddrPort("198.51.100.7:27960")},
		{Addr: netip.MustParseAddrPort("203.0.113.5:27960")},
	}}
	table := selection.NewTable(players, len(servers.List))
	for player, rtts := range [][]int{{20, 50, 90}, {30, 45, 20}, {140, 60, 110}} {
		for server, ms := range rtts {
			table.Set(player, server, discovery.Answered, time.Duration(ms)*time.Millisecond)
		}
	}
	for _, server := range selection.Select(servers, table, selection.Criteria{By: selection.Mean}).Ranking {
		fmt.Printf("%v: %.1f ms on average, %.0f ms for %s\n", server.Addr, server.MeanMS, server.MaxMS, server.WorstOff)
	}
	// Output:
	// 198.51.100.7:27960: 51.7 ms on average, 60 ms for eve
	// 192.0.2.1:27960: 63.3 ms on average, 140 ms for eve
	// 203.0.113.5:27960: 73.3 ms on average, 110 ms for eve
}

// Reports that players sent are merged, and the group's criteria leave servers out. The selection
// counts the servers that do not suit, and names the reason for each.
func ExampleMerge() {
	list := []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960")}, {Addr: netip.MustParseAddrPort("198.51.100.7:27960")},
	}
	full := &discovery.Info{Name: "Full", Players: 8, MaxPlayers: 8}
	free := &discovery.Info{Name: "Free", Players: 1, MaxPlayers: 8}
	var reports []report.Report
	for _, player := range []string{"ann", "ben"} {
		reports = append(reports, report.New(report.Report{Peer: player}, list, []discovery.Result{
			{Server: 0, Order: 1, State: discovery.Answered, RTT: 20 * time.Millisecond, Info: full},
			{Server: 1, Order: 2, State: discovery.Answered, RTT: 50 * time.Millisecond, Info: free},
		}))
	}
	servers, table, err := selection.Merge(reports)
	if err != nil {
		fmt.Println(err) // a report without a name, or two of one player
	}
	chosen := selection.Select(servers, table, selection.Criteria{By: selection.Minimax, Seats: 2})
	fmt.Println(servers.Called(chosen.Chosen.Server), chosen.Chosen.RTT)
	for _, reason := range chosen.Reasons {
		fmt.Println(reason.Addr, reason.Cause)
	}
	// Output:
	// Free (198.51.100.7:27960) map[ann:50 ben:50]
	// 192.0.2.1:27960 full
}
