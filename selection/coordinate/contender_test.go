package coordinate_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
)

// TestContenders checks that servers hidden by one late or held-up packet get another look if they
// would win with the RTT of similar servers. Others do not.
func TestContenders(t *testing.T) {
	const missed, heldUp, far, deaf = 4, 5, 6, 7
	rtts := [][3]time.Duration{
		{60, 60, 60}, {61, 61, 60}, {62, 60, 61}, {59, 61, 61}, // in ms; 0 is no answer yet
		missed: {50, 0, 50}, heldUp: {50, 52, 130}, far: {200, 200, 200}, deaf: {50, 0, 0},
	}
	table := selection.NewTable([]string{"ann", "bob", "cat"}, len(rtts))
	var list []discovery.Server
	for server, ms := range rtts {
		list = append(list, discovery.Server{Addr: netip.MustParseAddrPort(fmt.Sprintf("192.%d.2.1:27960", server)), Country: "DE", ASN: 64500})
		for player := range ms {
			if ms[player] > 0 {
				table.Set(player, server, discovery.Answered, ms[player]*time.Millisecond)
			}
		}
	}
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1})
	contenders := p.Contenders(5)
	for _, want := range []int{missed, heldUp} {
		if !slices.Contains(contenders, want) {
			t.Errorf("server %d is not among %v", want, contenders)
		}
	}
	for _, other := range []int{far, deaf} {
		if slices.Contains(contenders, other) {
			t.Errorf("server %d is among %v", other, contenders)
		}
	}
	if first := p.Contenders(1); len(first) != 1 || first[0] != contenders[0] {
		t.Errorf("the first of %v are %v", contenders, first)
	}
}
