package coordinate_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
)

// TestLargeParts checks that the fair rules look at every network with 0.25 % of the list, though
// all known networks of its country are hopeless.
func TestLargeParts(t *testing.T) {
	const (
		ms = time.Millisecond
		// the first half are a country that is fairly fair, the others one that is not
		networks, each = 120, 20
	)
	var list []discovery.Server
	var of []int // each server's network
	for n := range networks {
		country := "AA"
		if n >= networks/2 {
			country = "BB"
		}
		for i := range each {
			addr := netip.AddrFrom4([4]byte{30, byte(n), 1, byte(i + 1)})
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: country, ASN: uint32(100 + n)})
			of = append(of, n)
		}
	}
	players := []string{"ann", "bob", "cem", "dee"}
	for _, by := range []selection.Rule{selection.Fairness, selection.FairThreshold} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", by, seed), func(t *testing.T) {
				criteria := selection.Criteria{By: by, Limits: []time.Duration{400 * ms}}
				p := coordinate.New(topology.New(list), selection.Servers{}, selection.NewTable(players, len(list)),
					criteria, coordinate.Options{Seed: seed, Budget: 200})
				asked := map[int]bool{}
				for !p.Progress().Done {
					for _, b := range p.Next() {
						for _, server := range b.Servers {
							asked[of[server]] = true
							apart := 90
							if n := of[server]; n < networks/2 {
								apart = 20 + n%7
							}
							rtt := time.Duration(50+apart*b.Player+server%3) * ms
							p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
						}
					}
				}
				if len(asked) < networks {
					t.Errorf("%d of %d networks were asked", len(asked), networks)
				}
			})
		}
	}
}
