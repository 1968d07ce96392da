package discovery_test

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
)

// An executor asks the servers that a plan names, and tells the plan what came of it. The prober is
// an executor on the real network. This one makes its round trips up.
func Example() {
	list := []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), Country: "DE"},
		{Addr: netip.MustParseAddrPort("198.51.100.7:27960"), Country: "US"},
	}
	ask := func(server int) time.Duration { return time.Duration(20+80*server) * time.Millisecond }

	plan := discovery.NewConventional(len(list))
	for {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			break
		}
		result := discovery.Result{Server: probe.Server, State: discovery.Answered, RTT: ask(probe.Server)}
		plan.Observe(result)
		fmt.Println(list[probe.Server].Addr, result.State, result.RTT)
	}
	// Output:
	// 192.0.2.1:27960 answered 20ms
	// 198.51.100.7:27960 answered 100ms
}

// A list travels in the compact form that hosts send to players.
func ExampleParseList() {
	packed := discovery.AppendList(nil, []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), Country: "DE", ASN: 64496},
		{Addr: netip.MustParseAddrPort("[2001:db8::1]:27960"), Country: "DE", ASN: 64496},
	})
	list, err := discovery.ParseList(packed)
	if err != nil {
		fmt.Println(err) // it wraps discovery.ErrMalformed
	}
	for _, server := range list {
		fmt.Println(server.Addr, server.Country, server.ASN)
	}
	// Output:
	// 192.0.2.1:27960 DE 64496
	// [2001:db8::1]:27960 DE 64496
}

// A server's own facts are a stranger's word, so their texts are cleaned for display.
func ExampleInfo() {
	info := discovery.Info{Name: discovery.CleanText("Arena\x1b[2J \t of  Ann"), Players: 6, Bots: 2, MaxPlayers: 8, Version: "1.20.4"}
	fmt.Println(info.Name)
	fmt.Println(info.Free(), "free seats")
	fmt.Println(info.IsOfVersion("1.20"), info.IsOfVersion("1.2"))
	// Output:
	// Arena[2J of Ann
	// 2 free seats
	// true false
}
