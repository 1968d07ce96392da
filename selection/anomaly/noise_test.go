package anomaly_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
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
