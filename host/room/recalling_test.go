package room_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection/memory"
)

// comesFrom gives players addresses of their own in a country and an AS.
func (n *session) comesFrom(country string, asn uint32, names ...string) {
	for _, name := range names {
		addr := netip.AddrFrom4([4]byte{203, 0, name[0], 7})
		n.Origins[name] = room.Origin{Addr: addr, Near: addr, Country: country, ASN: asn}
	}
}

// TestLearns checks what a launch teaches the host: what believed players of known networks have
// measured on the internet.
func TestLearns(t *testing.T) {
	n := newSession(t, settings(5))
	n.comesFrom("NL", 1136, "ann", "dan")
	n.comesFrom("BE", 0, "cat")
	n.comesFrom("", 0, "bob")
	n.Join("ann", "bob", "cat", "dan", "eve")
	list := append(listOf(20), discovery.Server{Addr: netip.MustParseAddrPort("192.168.1.5:27960")})
	for i := range list {
		list[i].Country, list[i].ASN = "DE", 24940
	}
	n.Gets(list)
	n.InStage(wire.Measuring)
	n.Informs("ann", slices.Repeat([]int{12}, 21)...)
	for _, name := range []string{"ann", "bob", "cat", "eve"} {
		ms := make([]int, 21)
		for server := range ms {
			ms[server] = 10*server + 10
		}
		n.Measures(name, ms...)
	}
	made := slices.Repeat([]int{9999}, 20)
	made[19] = 1
	n.Measures("dan", made...)
	n.Done("ann", "bob", "cat", "dan", "eve")
	if len(n.Learnt) > 0 {
		t.Errorf("before the launch the host learns %+v", n.Learnt)
	}
	for _, name := range []string{"ann", "bob", "cat", "eve"} {
		n.Verifies(name)
	}
	n.GoesTo(0)
	part := memory.Part{Country: "DE", ASN: 24940, Prefix: netip.MustParsePrefix("192.0.2.0/24")}
	cell := memory.Cell{Part: part, MS: 105, Spread: 57.66281297335398, Count: 20, Seen: eight}
	want := []room.Learn{
		{From: netip.MustParseAddr("203.0.97.7"), Network: room.Network{Country: "NL", ASN: 1136}, Cells: []memory.Cell{cell}},
		{From: netip.MustParseAddr("203.0.99.7"), Network: room.Network{Country: "BE"}, Cells: []memory.Cell{cell}},
	}
	if !reflect.DeepEqual(n.Learnt, want) {
		t.Errorf("the host learns %+v,\nwant %+v", n.Learnt, want)
	}
	if len(n.Recalls) > 0 {
		t.Errorf("a room without a search asks for %+v", n.Recalls)
	}
}

// TestRecalls checks that a search asks the host about the players' networks, also for a player who
// comes late, and needs fewer questions with what the host has learnt.
func TestRecalls(t *testing.T) {
	play := func(remembered map[people.ID][]memory.Cell) (n *session, asked int) {
		s := settings(2)
		s.Strategy = wire.Coordinated
		n = newSession(t, s)
		n.Remembered = remembered
		n.comesFrom("NL", 1136, "ann")
		n.comesFrom("BE", 5432, "bob", "zoe")
		n.Join("ann", "bob")
		n.Gets(far())
		n.searchesOn("ann", "bob")
		n.isBestFor(2)
		asked = len(n.Asked["ann"]) + len(n.Asked["bob"])
		n.Verifies("ann")
		n.Verifies("bob")
		n.InStage(wire.Launching)
		return n, asked
	}
	n, before := play(nil)
	want := map[people.ID]room.Network{"ann": {Country: "NL", ASN: 1136}, "bob": {Country: "BE", ASN: 5432}}
	if len(n.Recalls) != 1 || !reflect.DeepEqual(n.Recalls[0].Of, want) || len(n.Recalls[0].List.List()) != len(far()) {
		t.Errorf("the room asks for %+v", n.Recalls)
	}
	if len(n.Learnt) != 2 {
		t.Fatalf("the host learns %+v", n.Learnt)
	}
	_, after := play(map[people.ID][]memory.Cell{"ann": n.Learnt[0].Cells, "bob": n.Learnt[1].Cells, "nobody": n.Learnt[0].Cells})
	if after >= before {
		t.Errorf("with a memory the room asks for %d servers, without one for %d", after, before)
	}
	t.Logf("%d questions, %d with a memory", before, after)

	late := searchingFor(t, room.Tuning{}, settings(0), "ann", "bob")
	late.Wait(200 * time.Millisecond)
	late.comesFrom("BE", 5432, "zoe")
	late.Join("zoe")
	if len(late.Recalls) != 1 || !reflect.DeepEqual(late.Recalls[0].Of, map[people.ID]room.Network{"zoe": {Country: "BE", ASN: 5432}}) {
		t.Errorf("as zoe comes late the room asks for %+v", late.Recalls)
	}
}

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
