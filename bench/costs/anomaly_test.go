package costs

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
)

// BenchmarkTooNear judges 30,000 servers by 32 players who are far apart.
func BenchmarkTooNear(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	names := make([]string, 32)
	table := selection.NewTable(names, 30_000)
	list := make([]discovery.Server, 30_000)
	for server := range list {
		list[server].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(20 + random.IntN(100)), byte(random.IntN(256)), 1, 1}), 27960)
		for player := range names {
			table.Set(player, server, discovery.Answered, time.Duration(10+random.IntN(200))*time.Millisecond)
		}
	}
	for b.Loop() {
		anomaly.TooNear(list, table)
	}
}

// BenchmarkManyLiars judges 64 players who all invent their numbers for 1,000 servers.
func BenchmarkManyLiars(b *testing.B) {
	random := rand.New(rand.NewPCG(7, 7))
	names, list := make([]string, 64), make([]discovery.Server, 1000)
	for i := range names {
		names[i] = fmt.Sprint("p", i)
	}
	table := selection.NewTable(names, len(list))
	for server := range list {
		list[server] = benchServer(server)
		for player := range names {
			table.Set(player, server, discovery.Answered, time.Duration(1+random.IntN(400))*time.Millisecond)
		}
	}
	for b.Loop() {
		anomaly.Find(list, table)
	}
}
