package anomaly_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
)

// late delays some players' measurements of most servers, as busy machines do.
func (p *plane) late(random *rand.Rand, players []int, most time.Duration) {
	for _, player := range players {
		for server := range planeServers {
			if _, rtt := p.table.At(player, server); random.IntN(3) > 0 {
				p.table.Set(player, server, discovery.Answered, rtt+time.Duration(random.Int64N(int64(most))))
			}
		}
	}
}

// neighbours groups the servers into blocks of addresses. Each block stands where its first server
// does.
func (p *plane) neighbours(size int) {
	for server := range planeServers {
		first := server - server%size
		p.servers.List[server].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(first), byte(server % size)}), 27960)
		for player := range p.table.Players() {
			_, rtt := p.table.At(player, first)
			p.table.Set(player, server, discovery.Answered, rtt)
		}
	}
}

// TestBusyMachinesAccuseNobody checks that busy machines, which at times see servers too far away,
// make neither a server nor a player look like a liar.
func TestBusyMachinesAccuseNobody(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	const most = 160 * time.Millisecond
	for range 200 {
		p := newPlane(random, 4+random.IntN(8))
		p.neighbours(4)
		p.late(random, random.Perm(len(p.table.Players())), most)
		if servers := anomaly.TooNear(p.servers.List, p.table); servers != nil {
			t.Fatalf("servers %v are accused", servers)
		}
		if found := anomaly.Find(p.servers.List, p.table); found != nil {
			t.Fatalf("players are doubted: %v", found)
		}
	}
}

// TestNoiseIsNoExcuse checks that a player who claims a busy machine is judged as before, and that
// such a claim lets hardly any lying server escape.
func TestNoiseIsNoExcuse(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 10))
	lies := []struct {
		name string
		lie  func(time.Duration) time.Duration
	}{
		{"near to everything", func(time.Duration) time.Duration { return time.Duration(1000+random.IntN(9000)) * time.Microsecond }},
		{"random", func(time.Duration) time.Duration { return time.Duration(random.IntN(500)) * time.Millisecond }},
		{"exaggerate", func(honest time.Duration) time.Duration { return 3 * honest }},
	}
	for _, l := range lies {
		for range 20 {
			p := newPlane(random, 4+random.IntN(4))
			p.lie(func(_ int, honest time.Duration) (discovery.State, time.Duration) {
				return discovery.Answered, l.lie(honest)
			})
			want := anomaly.Find(p.servers.List, p.table)
			p.table.SetLate(len(p.table.Players())-1, time.Second)
			if found := anomaly.Find(p.servers.List, p.table); !slices.Equal(found, want) {
				t.Fatalf("%s: found %v, want %v", l.name, found, want)
			}
		}
	}
	caught, escaped := 0, 0
	for range 400 {
		p := newPlane(random, 6)
		for server := range planeServers { // each has its own operator
			p.servers.List[server].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(server), 0, 1}), 27960)
		}
		for player := range p.table.Players() { // the server answers all players at once
			p.table.Set(player, 7, discovery.Answered, time.Millisecond)
		}
		want := anomaly.TooNear(p.servers.List, p.table)
		caught += len(want)
		p.table.SetLate(random.IntN(6), time.Second)
		switch found := anomaly.TooNear(p.servers.List, p.table); {
		case len(found) == 0:
			escaped += len(want)
		case !slices.Equal(found, want):
			t.Fatalf("servers %v are accused, want %v", found, want)
		}
	}
	if caught < 200 {
		t.Errorf("%d servers that lie were caught, and so the test says little", caught)
	}
	if 50*escaped > caught { // one of six witnesses says nothing then, and may be the decisive one
		t.Errorf("%d of %d servers that lie escape because one player claims a busy machine", escaped, caught)
	}
}

// TestAlone checks that the neighbouring servers expose a player who claims that a far server is
// next door. Honest players are not accused, and nobody is when too few others measured.
func TestAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	honest, wronged := 0, 0
	for range 60 {
		p := newPlane(random, 4+random.IntN(12))
		players := len(p.table.Players())
		for player := range players {
			for server := range planeServers {
				honest++
				if _, alone := anomaly.Alone(p.servers.List, p.table, player, server, anomaly.RouteDoubt); alone {
					wronged++
				}
			}
		}
		liar, favourite := players-1, random.IntN(planeServers)
		_, truth := p.table.At(liar, favourite)
		if truth < 150*time.Millisecond {
			continue
		}
		p.table.Set(liar, favourite, discovery.Answered, time.Millisecond)
		usual, alone := anomaly.Alone(p.servers.List, p.table, liar, favourite, anomaly.RouteDoubt)
		if !alone || usual < truth/2 {
			t.Errorf("of %d players one is 1 ms from a server %v away: found %v, by what is beside it %v", players, truth, alone, usual)
		}
		// A player behind the same address copied that RTT from the liar, and is no witness.
		p.table.Set(0, favourite, discovery.Answered, time.Millisecond)
		if _, alone := anomaly.Alone(p.servers.List, p.table, liar, favourite, anomaly.RouteDoubt); !alone && players > 4 {
			t.Errorf("of %d players one speaks for a mate who lies", players)
		}
	}
	if wronged*200 > honest {
		t.Errorf("%d of %d honest pings are too low", wronged, honest)
	}
	p := newPlane(random, 3)
	p.table.Set(2, 0, discovery.Answered, time.Millisecond)
	if _, alone := anomaly.Alone(p.servers.List, p.table, 2, 0, anomaly.RouteDoubt); alone {
		t.Error("two others say what is beside a server")
	}
}

// TestFewWitnesses checks that a ping counts as too low only beside servers that look the same to
// the others. On a short list, the nearest such server may be 70 ms away for the three others. Then
// it proves nothing.
func TestFewWitnesses(t *testing.T) {
	const others = 3
	for _, of := range []struct {
		apart, own int
		alone      bool
	}{
		{70, 32, false}, {70, 1, false}, {40, 32, false}, {40, 1, true}, {10, 32, true}, {10, 75, true},
		{10, 85, false}, {1, 85, true}, {1, 97, false},
	} {
		servers, table := selection.Servers{}, selection.NewTable([]string{"ann", "bob", "cat", "dan"}, 10)
		for server := range 10 {
			servers.List = append(servers.List, serverAt(server))
			for other := range others {
				ms := 100 + 20*other
				if server > 0 {
					ms += of.apart
				}
				table.Set(other, server, discovery.Answered, time.Duration(ms)*time.Millisecond)
			}
			table.Set(others, server, discovery.Answered, 130*time.Millisecond)
		}
		table.Set(others, 0, discovery.Answered, time.Duration(of.own)*time.Millisecond)
		if usual, alone := anomaly.Alone(servers.List, table, others, 0, anomaly.RouteDoubt); alone != of.alone {
			t.Errorf("%d ms from a server, 130 ms from nine others, which are %d ms from it to everybody else: "+
				"too near is %v, usual %v", of.own, of.apart, alone, usual)
		}
	}
}

// TestWholeAS checks that neighbours in other ASes expose a player who lies about all servers of an
// AS, even if the lie makes the player's pings look noisy. They do not if the AS stands apart.
func TestWholeAS(t *testing.T) {
	for _, of := range []struct {
		apart, own int // ms
		alone      bool
	}{{0, 60, true}, {3, 60, true}, {0, 75, false}, {9, 60, false}} {
		servers, table := selection.Servers{}, selection.NewTable([]string{"ann", "bob", "cat", "dan"}, 40)
		for server := range 40 {
			s := serverAt(server / 2)
			s.ASN = uint32(1 + server/2%2)
			if server < 8 { // some blocks of addresses have a server of each AS
				s.ASN = uint32(1 + server%2)
			}
			s.Addr = netip.AddrPortFrom(s.Addr.Addr(), uint16(27960+server%2))
			servers.List = append(servers.List, s)
			for player := range 4 {
				ms := 100
				switch {
				case player == 3 && s.ASN == 1:
					ms = of.own
				case player == 1 && s.ASN == 1:
					ms += of.apart
				}
				table.Set(player, server, discovery.Answered, time.Duration(ms)*time.Millisecond)
			}
		}
		if usual, alone := anomaly.Alone(servers.List, table, 3, 0, anomaly.RouteDoubt); alone != of.alone {
			t.Errorf("%d ms from an AS, %d ms apart from another 100 ms away: too near is %v, usual %v", of.own, of.apart, alone, usual)
		}
	}
}
