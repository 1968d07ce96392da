package coordinate_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/countries"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/memory"
)

// TestGuided checks that a search in which the players' countries are known begins with the countries that
// may have the best server, asks for less than half of the servers, and finds as good a one. Where the host is
// wrong about the players it asks for as many as any other.
func TestGuided(t *testing.T) {
	to := []string{"DE", "FR", "NL", "PL", "SE", "GB", "ES", "IT", "AT", "CZ", "DK", "NO", "FI", "RO", "BG", "GR", "TR", "UA", "PT", "IE", "CH", "BE",
		"HU", "SK", "LT", "LV", "EE", "HR", "RS", "SI", "EG", "IN", "SG", "JP", "KR", "AU", "NZ", "BR", "CL", "PE", "CO", "ZA", "KE", "TH", "VN",
		"ID", "MY", "PH", "TW", "HK", "AE", "SA", "KZ", "US", "CA", "MX"}
	players := []string{"FR", "DE", "PL"}
	var list []discovery.Server
	truth := make([][]float64, len(players))
	rng := rand.New(rand.NewPCG(3, 4))
	for player, from := range players {
		for _, w := range countries.Ways(from, to) {
			for range 40 {
				truth[player] = append(truth[player], max(1, w.MS+w.Off/2*rng.NormFloat64()))
			}
		}
	}
	for server := range truth[0] {
		addr := netip.AddrFrom4([4]byte{30, byte(server >> 8), byte(server), 1})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: to[server/40], ASN: uint32(100 + server)})
	}
	tree := topology.New(list)
	score := func(server int) (sum float64) {
		for player := range players {
			sum += truth[player][server] / float64(len(players))
		}
		return sum
	}
	best := score(0)
	for server := range list {
		best = min(best, score(server))
	}
	for name, tt := range map[string]struct {
		places      []string
		first       map[string]bool // whether everybody is asked about a country at once
		least, most float64
	}{
		"where the host believes": {players, map[string]bool{"DE": true, "NL": true, "NZ": false, "CL": false}, 0, 301},
		"elsewhere":               {[]string{"NZ", "AU", "NZ"}, map[string]bool{"NZ": true}, 301, 651},
		"somewhere":               {nil, map[string]bool{"DE": true, "NZ": true}, 301, 651},
	} {
		o := coordinate.Options{Enough: -1}
		for _, from := range tt.places {
			o.Remembered = append(o.Remembered, memory.Guess(tree, from))
		}
		p := coordinate.New(tree, selection.Servers{}, selection.NewTable(players, len(list)), selection.Criteria{By: selection.Mean}, o)
		for round := 0; !p.Progress().Done; round++ {
			asked := map[string]int{}
			for _, b := range p.Next() {
				for _, server := range b.Servers {
					asked[list[server].Country]++
					p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(truth[b.Player][server] * 1e6)})
				}
			}
			for country, is := range tt.first {
				if round == 0 && (asked[country] > 0) != is {
					t.Errorf("%s: %d questions about %s in the first round", name, asked[country], country)
				}
			}
		}
		progress := p.Progress()
		if progress.Probes < tt.least || progress.Probes > tt.most || score(progress.Best) > best+4 {
			t.Errorf("%s: %.0f servers were asked, and the best found has %.1f ms, not %.1f", name, progress.Probes, score(progress.Best), best)
		}
	}
}
