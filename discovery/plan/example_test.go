package plan_test

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
)

// The adaptive strategy looks for the nearest server without asking all of a list.
func ExampleNew() {
	var list []discovery.Server
	for i := range 2000 { // in twenty countries, the first of them near
		addr := netip.AddrFrom4([4]byte{10, byte(i % 20), byte(i / 200), byte(i)})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: string([]byte{'A', byte('A' + i%20)})})
	}
	search, err := plan.New(discovery.Adaptive, topology.New(list), discovery.PlanOptions{Seed: 1, Nearest: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	asked, nearest := 0, time.Hour
	for probe, verdict := search.Next(); verdict == discovery.Go; probe, verdict = search.Next() {
		rtt := time.Duration(20+10*(probe.Server%20)) * time.Millisecond
		search.Observe(discovery.Result{Server: probe.Server, State: discovery.Answered, RTT: rtt})
		asked, nearest = asked+1, min(nearest, rtt)
	}
	fmt.Println(nearest, asked < len(list)/2)
	// Output: 20ms true
}
