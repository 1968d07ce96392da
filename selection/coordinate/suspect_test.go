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

// TestDoubtsOneSample checks that the best server is a finalist though one player's packet to it
// met a full queue.
func TestDoubtsOneSample(t *testing.T) {
	const players = 3
	list := small()
	worst := func(server int) (worst time.Duration) {
		for player := range players {
			worst = max(worst, smallRTT(player, server))
		}
		return worst
	}
	best := 0
	for server := range list {
		if worst(server) < worst(best) {
			best = server
		}
	}
	table := selection.NewTable([]string{"ann", "bob", "cat"}, len(list))
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Minimax},
		coordinate.Options{Seed: 1, Enough: -1})
	measured := 0
	for !p.Progress().Done {
		for _, b := range p.Next() {
			for _, server := range b.Servers {
				rtt := smallRTT(b.Player, server)
				if server == best {
					measured++
					if b.Player == 1 {
						rtt += 80 * time.Millisecond
					}
				}
				p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
			}
		}
	}
	if finalists := p.Finalists(10); measured != players || !slices.Contains(finalists, best) {
		t.Errorf("server %d, measured by %d of %d, is not among the finalists %v", best, measured, players, finalists)
	}
}

// TestDoubtsOneSampleOfItsOwn checks the same for a server that is nearer than its neighbours,
// which tell too little of it.
func TestDoubtsOneSampleOfItsOwn(t *testing.T) {
	const best, other = 4, 5
	rtts := [][2]time.Duration{{105, 105}, {105, 105}, {105, 105}, {105, 105}, best: {92, 210}, other: {97, 97}} // in ms
	table := selection.NewTable([]string{"ann", "bob"}, len(rtts))
	var list []discovery.Server
	for server, ms := range rtts {
		list = append(list, discovery.Server{Addr: netip.MustParseAddrPort(fmt.Sprintf("192.%d.2.1:27960", server)), Country: "DE", ASN: 64500})
		for player := range ms {
			table.Set(player, server, discovery.Answered, ms[player]*time.Millisecond)
		}
	}
	list[other].Country, list[other].ASN = "FR", 64501
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1})
	if hidden := p.Hidden(3); !slices.Equal(hidden, []int{other, best}) {
		t.Errorf("%v are looked at again, want %d, which leads, and %d, which may be better", hidden, other, best)
	}
}
