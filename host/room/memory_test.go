package room_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// TestMemoryOfARoom checks that a room takes no more than [room.CellBytes] for each player and
// server, if all have measured a whole list and reported all that the servers said.
func TestMemoryOfARoom(t *testing.T) {
	const players, servers = 8, 4000
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	n := newSession(t, settings(players))
	before := heap()
	for p := range players {
		n.Join(fmt.Sprint("player", p))
	}
	n.Listed(servers)
	for p := range players {
		name := fmt.Sprint("player", p)
		for first := 0; first < servers; first += 100 {
			n.Now = n.Now.Add(time.Millisecond)
			var results []discovery.Result
			infos := wire.Infos{Round: 1}
			for i := first; i < first+100; i++ {
				results = append(results, discovery.Result{
					Server: i,
					Order:  i + 1,
					State:  discovery.Answered,
					RTT:    time.Duration(i+p+1) * time.Millisecond / 10,
					At:     time.Duration(i) * time.Millisecond,
				})
				infos.Servers = append(infos.Servers, wire.ServerInfo{
					Server: i,
					Info: discovery.Info{
						Name:       fmt.Sprintf("a server of a usual name %d of %d", i, p),
						Map:        fmt.Sprintf("map%d", i%50),
						Mode:       fmt.Sprintf("mode %d", p),
						Players:    3,
						MaxPlayers: 16,
					},
				})
			}
			n.Says(name, wire.Report{Round: 1, First: first, Results: results})
			n.Says(name, infos)
		}
	}
	clear(n.Sent) // the memory of players and programs is not the room's
	clear(n.Seen)
	taken := heap() - before
	if got := taken / (players * servers); got > room.CellBytes || got < room.CellBytes/8 {
		t.Errorf("%d players over %d servers take %d KiB: %d bytes each", players, servers, taken>>10, got)
	}
	t.Logf("%d bytes for each player and server", taken/(players*servers))
	runtime.KeepAlive(n)
}
