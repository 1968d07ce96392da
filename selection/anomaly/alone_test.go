package anomaly_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
)

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
