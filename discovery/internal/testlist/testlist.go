// Package testlist makes the server lists for the tests of discovery's packages.
package testlist

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"muster/discovery"
)

// Of reads servers from lines of "address country ASN"; "-" is unknown.
func Of(t testing.TB, lines ...string) []discovery.Server {
	t.Helper()
	var servers []discovery.Server
	for _, line := range lines {
		var addr string
		var s discovery.Server
		if _, err := fmt.Sscan(line, &addr, &s.Country, &s.ASN); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if s.Country == "-" {
			s.Country = ""
		}
		s.Addr = netip.MustParseAddrPort(addr)
		servers = append(servers, s)
	}
	return servers
}

// Network is an AS with this many servers in one country, a /24 for every four of them,
// all at about the same RTT in ms.
type Network struct {
	Country string
	Servers int
	RTT     int
}

// Build lays out networks as a list, in random order, with the servers' RTTs in ms.
func Build(t testing.TB, networks []Network, seed uint64) ([]discovery.Server, []int) {
	t.Helper()
	var lines []string
	var rtts []int
	rng := rand.New(rand.NewPCG(seed, 9))
	for as, n := range networks {
		for i := range n.Servers {
			lines = append(lines, fmt.Sprintf("%d.%d.%d.%d:1 %s %d", 60+as%20, as/20, i/4, 1+i%4, n.Country, 100+as))
			rtts = append(rtts, n.RTT+rng.IntN(5))
		}
	}
	rng.Shuffle(len(lines), func(i, j int) {
		lines[i], lines[j] = lines[j], lines[i]
		rtts[i], rtts[j] = rtts[j], rtts[i]
	})
	return Of(t, lines...), rtts
}
