package coordinate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/selection"
)

// internet is a list of servers in blocks of networks of countries, and what each
// player's RTT to each of them is.
func internet(servers, players int, seed uint64) ([]discovery.Server, [][]time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]discovery.Server, servers)
	rtts := make([][]time.Duration, players)
	var far, near []float64
	for i := range list {
		c, n := i%37, i%1201
		list[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(1 + c), byte(n), byte(i / 1201), byte(1 + i%200)}), 27960),
			Country: fmt.Sprintf("%c%c", 'A'+c/6, 'A'+c%6), ASN: uint32(1 + n),
		}
	}
	for p := range players {
		far, near = make([]float64, 37), make([]float64, 1201)
		for c := range far {
			far[c] = 10 + 250*rng.Float64()
		}
		for n := range near {
			near[n] = 1 + 0.1*rng.ExpFloat64()
		}
		column := make([]time.Duration, servers)
		for i := range column {
			access := float64(i*7919%101) / 10
			column[i] = duration(far[i%37]*near[i%1201] + access)
		}
		rtts[p] = column
	}
	return list, rtts
}

// BenchmarkRound plans a whole search of 64 players among 30,000 servers; a round
// is to take well under 50 ms.
func BenchmarkRound(b *testing.B) {
	list, rtts := internet(30000, 64, 1)
	tree := topology.New(list)
	rounds, longest := 0, time.Duration(0)
	for b.Loop() {
		p := New(tree, nil, selection.NewTable(names(64), len(list)), selection.Criteria{By: selection.Mean}, Options{Enough: -1})
		for !p.Progress().Done {
			start := time.Now()
			batches := p.Next()
			longest = max(longest, time.Since(start))
			rounds++
			for _, batch := range batches {
				for _, server := range batch.Servers {
					p.Observe(batch.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtts[batch.Player][server]})
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(rounds), "ms/round")
	b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
}

func names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("player %02d", i)
	}
	return names
}
