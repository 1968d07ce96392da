package coordinate_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/memory"
)

// TestRemembered checks that a search with memories of every network asks few servers and finds the
// best network, even if one player remembers it as far, or a fifth of the others as near.
func TestRemembered(t *testing.T) {
	const countries, networks, each, best = 12, 1200, 2, 77
	now := time.Unix(0, 0).UTC()
	var list []discovery.Server
	for n := range networks {
		addr := [4]byte{30, byte(n >> 8), byte(n), 0}
		for i := range each {
			addr[3] = byte(i + 1)
			country := string(rune('A'+n%countries)) + "A"
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4(addr), 27960), Country: country, ASN: uint32(100 + n)})
		}
	}
	players := []string{"ann", "bob", "cem", "dee"}
	// A country is near some players and far from others, and so are its networks. The best network
	// has a neighbour in every country.
	var truth [4][networks]float64
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range networks {
		for player := range truth {
			truth[player][n] = 60 + 40*float64((n%countries+3*player)%5) + 20*rng.Float64()
			if n/countries == best/countries {
				truth[player][n] = 50 + 5*rng.Float64()
			}
		}
	}
	for player := range truth {
		truth[player][best] = 44
	}
	for name, tt := range map[string]struct {
		remembered func(player, n int, ms float64) float64
		most       float64 // questions a player
	}{
		"right": {func(_, _ int, ms float64) float64 { return ms }, 105},
		"far for one player": {func(player, n int, ms float64) float64 {
			return ms * map[bool]float64{true: 3, false: 1}[player == 2 && n == best]
		}, 140},
		"a fifth near for a player": {func(player, n int, ms float64) float64 {
			return ms * map[bool]float64{true: .3, false: 1}[player == 1 && n%5 == 0]
		}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			tree := topology.New(list)
			options := coordinate.Options{}
			for player := range truth {
				var cells []memory.Cell
				for n, ms := range truth[player] {
					s := list[n*each]
					part := memory.Part{Country: s.Country, ASN: s.ASN, Prefix: topology.Prefix24.Prefix(s.Addr.Addr())}
					cells = append(cells, memory.Cell{Part: part, MS: tt.remembered(player, n, ms), Count: each, Seen: now})
				}
				options.Remembered = append(options.Remembered, memory.Forecasts(tree, now, cells))
			}
			p := coordinate.New(tree, selection.Servers{}, selection.NewTable(players, len(list)), selection.Criteria{By: selection.Mean}, options)
			for !p.Progress().Done {
				for _, b := range p.Next() {
					for _, server := range b.Servers {
						ms := truth[b.Player][tree.List()[server].ASN-100]
						p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(ms * 1e6)})
					}
				}
			}
			progress := p.Progress()
			if n := tree.List()[progress.Best].ASN - 100; n != best {
				t.Errorf("network %d with %.1f ms was found, the best is %d", n, progress.Score, best)
			}
			if progress.Probes > tt.most {
				t.Errorf("%.0f questions a player, want %.0f", progress.Probes, tt.most)
			}
		})
	}
}
