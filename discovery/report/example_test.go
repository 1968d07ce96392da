package report_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/report"
)

// A report is written by one player's program and read by another's.
func Example() {
	list := []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), Country: "DE"},
		{Addr: netip.MustParseAddrPort("198.51.100.7:27960"), Country: "US"},
	}
	results := []discovery.Result{
		{Server: 0, Order: 1, State: discovery.Answered, RTT: 12345 * time.Microsecond, Info: &discovery.Info{Name: "Arena"}},
		{Server: 1, Order: 2, State: discovery.Lost},
	}
	var file bytes.Buffer
	if err := report.New(report.Report{Peer: "ann", Game: "openarena"}, list, results).WriteJSON(&file); err != nil {
		fmt.Println(err)
	}

	read, err := report.Read(&file)
	if err != nil {
		fmt.Println(err) // it wraps discovery.ErrMalformed, or is a *report.FormatError
	}
	fmt.Println(read.Peer, "asked", read.Summary.Probed, "of", read.Summary.Listed)
	for _, server := range read.Servers {
		fmt.Println(server.Addr, server.State, server.RTT, server.Name)
	}
	// Output:
	// ann asked 2 of 2
	// 192.0.2.1:27960 answered 12.345 Arena
	// 198.51.100.7:27960 lost 0.000
}
