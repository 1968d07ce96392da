package anomaly_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

// plane is a small world of players and servers on a plane. The RTT is 1 ms for each unit between
// them, and 5 ms for the lines.
type plane struct {
	servers selection.Servers
	table   *selection.Table
}

const planeServers = 60

// serverAt returns a server in an address block of its own, because servers of one block stand in
// one place.
func serverAt(i int) discovery.Server {
	addr := netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
	return discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
}

func newPlane(random *rand.Rand, players int) *plane {
	p := &plane{}
	place := func() (float64, float64) { return random.Float64() * 200, random.Float64() * 200 }
	var names []string
	xs, ys := make([]float64, players), make([]float64, players)
	for i := range players {
		names = append(names, fmt.Sprint("p", i))
		xs[i], ys[i] = place()
	}
	rtt := func(x, y, x2, y2 float64) time.Duration {
		away := max(x-x2, x2-x) + max(y-y2, y2-y)
		return time.Duration((away*(1+random.Float64()/10) + 5) * float64(time.Millisecond))
	}
	p.table = selection.NewTable(names, planeServers)
	for server := range planeServers {
		p.servers.List = append(p.servers.List, serverAt(server))
		x, y := place()
		for i := range players {
			p.table.Set(i, server, discovery.Answered, rtt(x, y, xs[i], ys[i]))
		}
	}
	return p
}

// lie replaces the last player's measurements.
func (p *plane) lie(report func(server int, honest time.Duration) (discovery.State, time.Duration)) string {
	liar := len(p.table.Players()) - 1
	for server := range planeServers {
		_, honest := p.table.At(liar, server)
		state, rtt := report(server, honest)
		p.table.Set(liar, server, state, rtt)
	}
	return p.table.Players()[liar]
}

func TestHonestPlayersHaveNoAnomalies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		p := newPlane(random, 2+random.IntN(15))
		if found := anomaly.Find(p.servers.List, p.table); found != nil {
			t.Fatalf("%d players: %v", len(p.table.Players()), found)
		}
	}
}

// TestCrudeLiesAreFound checks the attacks that show without knowledge of the true RTTs.
func TestCrudeLiesAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	answered := func(rtt time.Duration) (discovery.State, time.Duration) { return discovery.Answered, rtt }
	lies := []struct {
		name   string
		sign   anomaly.Sign
		report func(int, time.Duration) (discovery.State, time.Duration)
	}{
		{"all 0", anomaly.Constant, func(int, time.Duration) (discovery.State, time.Duration) { return answered(0) }},
		{"all 9999", anomaly.Constant, func(int, time.Duration) (discovery.State, time.Duration) {
			return answered(9999 * time.Millisecond)
		}},
		{"force one up", anomaly.FavoursOne, func(server int, _ time.Duration) (discovery.State, time.Duration) {
			if server == 7 {
				return answered(time.Millisecond)
			}
			return answered(9999 * time.Millisecond)
		}},
		{"report one", anomaly.AnswersFew, func(server int, honest time.Duration) (discovery.State, time.Duration) {
			if server == 7 {
				return answered(honest)
			}
			return discovery.Unprobed, 0
		}},
		{"reach nothing", anomaly.AnswersFew, func(int, time.Duration) (discovery.State, time.Duration) { return discovery.Lost, 0 }},
		{"random", anomaly.Geometry, func(int, time.Duration) (discovery.State, time.Duration) {
			return answered(time.Duration(random.IntN(500)) * time.Millisecond)
		}},
		{"near to everything", anomaly.Geometry, func(int, time.Duration) (discovery.State, time.Duration) {
			return answered(time.Duration(1000+random.IntN(9000)) * time.Microsecond)
		}},
		{"exaggerate", anomaly.Geometry, func(_ int, honest time.Duration) (discovery.State, time.Duration) {
			if honest > 50*time.Millisecond {
				honest *= 3
			}
			return answered(honest)
		}},
	}
	for _, lie := range lies {
		for range 20 {
			p := newPlane(random, 4+random.IntN(4))
			liar := p.lie(lie.report)
			found := anomaly.Find(p.servers.List, p.table)
			if len(found) != 1 || found[0].Player != liar || found[0].Sign != lie.sign {
				t.Fatalf("%s: found %v, want %s of %s", lie.name, found, lie.sign, liar)
			}
			favoured := lie.name == "force one up" || lie.name == "report one"
			if favoured && found[0].Addr.AddrPort != p.servers.List[7].Addr {
				t.Errorf("%s: it favours %v", lie.name, found[0].Addr)
			}
		}
	}
}

// TestDeadServersAreDecoys checks that a player with RTTs of servers that answer nobody else is
// named. A network that answers one player only does not count, nor does a single dead server.
func TestDeadServersAreDecoys(t *testing.T) {
	const lost, rtt = discovery.Lost, 50 * time.Millisecond
	tests := []struct {
		name string
		// dead is what the players see of every fifth server, a letter for each player: answered,
		// lost, unprobed. One network of two has live servers, too.
		dead    string
		network bool
		players string // the players with the anomaly
	}{
		{"nobody reaches them", "llll", true, ""},
		{"one invents", "llla", true, "p3"},
		{"two invent", "lllaa", true, "p3 p4"},
		{"one other was asked", "luua", true, ""},
		{"two pretend that they lose them", "lluaa", true, ""},
		{"a network for one only", "llla", false, ""},
		{"half of them are alive", "lalaa", true, ""},
	}
	for _, tt := range tests {
		var names []string
		for i := range tt.dead {
			names = append(names, fmt.Sprint("p", i))
		}
		servers, table := selection.Servers{}, selection.NewTable(names, planeServers)
		for server := range planeServers {
			s, isDead := serverAt(server), server%5 == 0
			if s.ASN = 64500; isDead && !tt.network {
				s.ASN = 64501
			}
			servers.List = append(servers.List, s)
			for player, letter := range tt.dead {
				switch {
				case isDead && letter == 'l':
					table.Set(player, server, lost, 0)
				case !isDead || letter == 'a':
					table.Set(player, server, discovery.Answered, rtt+time.Duration(server+player)*time.Millisecond)
				}
			}
		}
		var got []string
		for _, a := range anomaly.Find(servers.List, table) {
			if got = append(got, a.Player); a.Sign != anomaly.AnswersDead || a.Servers != planeServers/5 || a.Of != planeServers/5 {
				t.Errorf("%s: %+v", tt.name, a)
			}
		}
		if strings.Join(got, " ") != tt.players {
			t.Errorf("%s: %v, want %q", tt.name, got, tt.players)
		}
	}
}

func TestAnomaliesAreShown(t *testing.T) {
	p := newPlane(rand.New(rand.NewPCG(4, 4)), 4)
	lies := []struct {
		want   string
		report func(int, time.Duration) (discovery.State, time.Duration)
	}{
		{"p3 has pings for only 0 of 60 servers that others reach.", func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Refused, 0
		}},
		{"p3 reports the same ping for 60 of 60 servers.", func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, time.Second
		}},
		{"p3 reports the same ping for 59 of 60 servers, but a low one for 10.0.7.1:27960.",
			func(server int, _ time.Duration) (discovery.State, time.Duration) {
				return discovery.Answered, time.Duration(min(1, server^7)) * time.Second
			}},
		{"p3’s pings for 59 of 60 servers don’t fit anyone else’s.", func(server int, _ time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, time.Duration(server+1) * time.Second
		}},
	}
	for _, lie := range lies {
		p.lie(lie.report)
		doc := selection.Select(p.servers, p.table, selection.Criteria{By: selection.Mean})
		doc.Doubts = anomaly.Find(p.servers.List, p.table)
		explained := doc.Explain()
		if last := explained[len(explained)-1]; catalogue.InEnglish().Say(last) != lie.want {
			t.Errorf("%v, want %q", explained, lie.want)
		}
	}
}

// TestSlowLines checks that pings longer than the others' allow, by no more than a detour, count as
// a slow line's, whatever caused them. They are believed up to the length that the others' pings
// allow.
func TestSlowLines(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for name, test := range map[string]struct {
		later time.Duration
		want  anomaly.Sign
	}{
		"a detour over another continent": {170 * time.Millisecond, anomaly.Slow},
		"farther than any detour":         {600 * time.Millisecond, anomaly.Geometry},
	} {
		for range 20 {
			p := newPlane(random, 4+random.IntN(4))
			slow := p.lie(func(server int, _ time.Duration) (discovery.State, time.Duration) {
				_, honest := p.table.At(0, server) // three players live in one city, as does a server
				if server == 0 {
					honest = 8 * time.Millisecond
					p.table.Set(0, server, discovery.Answered, honest)
					for other := 2; other < len(p.table.Players()); other++ {
						p.table.Set(other, server, discovery.Unprobed, 0)
					}
				}
				p.table.Set(1, server, discovery.Answered, honest+2*time.Millisecond)
				if server%4 > 0 {
					honest += test.later
				}
				return discovery.Answered, honest
			})
			found := anomaly.Find(p.servers.List, p.table)
			if len(found) != 1 || found[0].Player != slow || found[0].Sign != test.want {
				t.Fatalf("%s: found %v, want %s of %s", name, found, test.want, slow)
			}
			if test.want == anomaly.Slow && !strings.Contains(catalogue.InEnglish().Say(found[0].Sentence()), "as on a slow line") {
				t.Errorf("it is said that %v", found[0])
			}
			credible := anomaly.Credible(p.servers.List, p.table)
			for server := range planeServers {
				_, told := p.table.At(len(p.table.Players())-1, server)
				_, honest := p.table.At(0, server)
				if got := credible(server); got > told || got < honest.Truncate(time.Microsecond) {
					t.Fatalf("%s: of %v, %v in truth, %v are believed", name, told, honest, got)
				}
			}
		}
	}
}

// TestNearPlayersAreNotConstant checks a LAN party, where all servers in the house are equally near
// to everyone.
func TestNearPlayersAreNotConstant(t *testing.T) {
	servers, table := selection.Servers{}, selection.NewTable([]string{"ann", "bob"}, 20)
	for server := range 20 {
		servers.List = append(servers.List, serverAt(server))
		table.Set(0, server, discovery.Answered, 0)
		table.Set(1, server, discovery.Answered, time.Duration(server%3)*time.Millisecond)
	}
	if found := anomaly.Find(servers.List, table); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestExclude(t *testing.T) {
	anomalies := func(names ...string) (found []anomaly.Anomaly) {
		for _, name := range names {
			found = append(found, anomaly.Anomaly{Player: name, Sign: anomaly.Geometry})
		}
		return found
	}
	for _, tt := range []struct {
		players string
		found   []anomaly.Anomaly
		rest    string
	}{
		{"ann", nil, "ann"},
		{"ann", anomalies("ann"), "ann"},
		{"ann bob", anomalies("bob"), "ann bob"},
		{"ann bob cat", nil, "ann bob cat"},
		{"ann bob cat", anomalies("bob"), "ann cat"},
		{"ann bob cat", anomalies("bob", "cat"), "ann bob cat"},
		{"ann bob cat dan", anomalies("bob", "cat"), "ann bob cat dan"},
		{"ann bob cat dan eve", anomalies("eve", "ann"), "bob cat dan"},
	} {
		got := anomaly.Exclude(strings.Fields(tt.players), tt.found)
		if strings.Join(got, " ") != tt.rest {
			t.Errorf("of %s rest are %v, want %s", tt.players, got, tt.rest)
		}
	}
}

// TestTwoLiarsAmongEight checks that liars are named, and that their reports make no honest player
// look like a liar.
func TestTwoLiarsAmongEight(t *testing.T) {
	lies := map[string]func(random *rand.Rand, server int, honest time.Duration) time.Duration{
		"all 0":    func(*rand.Rand, int, time.Duration) time.Duration { return 0 },
		"all 9999": func(*rand.Rand, int, time.Duration) time.Duration { return 9999 * time.Millisecond },
		"force one": func(_ *rand.Rand, server int, _ time.Duration) time.Duration {
			return time.Duration(1+9998*min(1, server)) * time.Millisecond
		},
		"random": func(random *rand.Rand, _ int, _ time.Duration) time.Duration {
			return time.Duration(random.IntN(500)) * time.Millisecond
		},
	}
	random := rand.New(rand.NewPCG(5, 5))
	for name, lie := range lies {
		for range 50 {
			p := newPlane(random, 8)
			for _, liar := range []int{2, 5} {
				for server := range planeServers {
					_, honest := p.table.At(liar, server)
					p.table.Set(liar, server, discovery.Answered, lie(random, server, honest))
				}
			}
			var named []string
			for _, a := range anomaly.Find(p.servers.List, p.table) {
				named = append(named, a.Player)
			}
			if strings.Join(named, " ") != "p2 p5" {
				t.Fatalf("%s: %v are named, want p2 and p5", name, named)
			}
		}
	}
}

// inventors returns players who all invent their numbers, with more servers than are looked at.
func inventors(players int) *plane {
	random := rand.New(rand.NewPCG(7, 7))
	p := &plane{}
	var names []string
	for i := range players {
		names = append(names, fmt.Sprint("p", i))
	}
	const servers = 1000
	p.table = selection.NewTable(names, servers)
	for server := range servers {
		p.servers.List = append(p.servers.List, serverAt(server))
		for i := range players {
			p.table.Set(i, server, discovery.Answered, time.Duration(1+random.IntN(400))*time.Millisecond)
		}
	}
	return p
}

// TestManyLiars checks the cost when a full room consists of liars. Judging each of them again for
// each liar found would take millions of allocations, and seconds.
func TestManyLiars(t *testing.T) {
	p := inventors(64)
	var found []anomaly.Anomaly
	if allocs := testing.AllocsPerRun(1, func() { found = anomaly.Find(p.servers.List, p.table) }); allocs > 100_000 {
		t.Errorf("%.0f allocations", allocs)
	}
	if len(found) < 32 {
		t.Errorf("%d of 64 who invent their numbers are named", len(found))
	}
}

// TestOneDetourIsNoLie checks two players in one home, whose line takes a long way round to one
// large network. They are not believed less for it, nor are others near that network.
func TestOneDetourIsNoLie(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for range 50 {
		p := newPlane(random, 6)
		for server := range planeServers {
			p.servers.List[server].ASN = uint32(64500 + server)
			_, rtt := p.table.At(4, server)
			if server%4 == 0 {
				p.servers.List[server].ASN = 64500
				rtt += 170 * time.Millisecond
				p.table.Set(4, server, discovery.Answered, rtt)
			}
			p.table.Set(5, server, discovery.Answered, rtt) // its housemate's measurement
		}
		if found := anomaly.Find(p.servers.List, p.table); found != nil {
			t.Fatalf("found %v", found)
		}
	}
}

// TestCopies checks that a report is named that is another's times a factor, with jitter or without,
// and whichever of the two it is. Players who live beside each other are not named, nor is a report
// that agrees with another's by chance.
func TestCopies(t *testing.T) {
	const copier, other = "p5", "p0"
	random := rand.New(rand.NewPCG(11, 11))
	jitter := func() time.Duration { return time.Duration(random.ExpFloat64() * float64(500*time.Microsecond)) }
	scaled := func(percent int) func(server int, theirs, own time.Duration) time.Duration {
		return func(_ int, theirs, _ time.Duration) time.Duration { return theirs * time.Duration(percent) / 100 }
	}
	for _, of := range []struct {
		name  string
		tells func(server int, theirs, own time.Duration) time.Duration
		named string
	}{
		{"the truth", func(_ int, _, own time.Duration) time.Duration { return own }, ""},
		{"+3 %", scaled(103), copier},
		{"+20 %", scaled(120), copier},
		{"−4 %", scaled(96), other},
		{"+3 % and 7 ms, with jitter", func(_ int, theirs, _ time.Duration) time.Duration {
			return theirs*103/100 + 7*time.Millisecond + jitter()
		}, copier},
		{"+5 to 6 %", func(_ int, theirs, _ time.Duration) time.Duration {
			return time.Duration(float64(theirs) * (1.05 + random.Float64()/100))
		}, copier},
		{"nine of ten +5 %", func(server int, theirs, own time.Duration) time.Duration {
			if server%10 == 0 {
				return own
			}
			return theirs * 105 / 100
		}, copier},
		{"half of them +5 %", func(server int, theirs, own time.Duration) time.Duration {
			if server%2 == 0 {
				return own
			}
			return theirs * 105 / 100
		}, ""},
		{"a neighbour", func(_ int, theirs, _ time.Duration) time.Duration { return theirs + 7*time.Millisecond + jitter() }, ""},
		{"the same line", func(_ int, theirs, _ time.Duration) time.Duration { return theirs }, ""},
	} {
		for range 20 {
			p := newPlane(random, 6)
			for server := range planeServers {
				_, theirs := p.table.At(0, server)
				_, own := p.table.At(5, server)
				p.table.Set(5, server, discovery.Answered, of.tells(server, theirs, own))
			}
			found := slices.DeleteFunc(anomaly.Find(p.servers.List, p.table), func(a anomaly.Anomaly) bool { return a.Sign != anomaly.Copied })
			switch {
			case of.named == "" && len(found) == 0:
			case len(found) != 1 || found[0].Player != of.named || found[0].Other == of.named:
				t.Fatalf("%s: found %v, want %q", of.name, found, of.named)
			}
		}
	}
	const says = "ann’s pings are bob’s times a factor, as if one of the two had copied the other’s"
	a := anomaly.Anomaly{Player: "ann", Other: "bob", Sign: anomaly.Copied}
	if said := catalogue.InEnglish().Say(a.Sentence()); said != says {
		t.Errorf("it is said that %s", said)
	}
}

// TestNextDoorToEverything checks, in groups of all sizes, that a player who reports next to
// nothing for servers that others see far apart is named, and nobody else.
func TestNextDoorToEverything(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	lies := map[string]func(int, time.Duration) (discovery.State, time.Duration){
		"nothing": func(int, time.Duration) (discovery.State, time.Duration) { return discovery.Answered, 0 },
		"nothing, on the wire": func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, 50 * time.Microsecond
		},
		"up to a millisecond": func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, time.Duration(random.IntN(1000)) * time.Microsecond
		},
		"a hundredth": func(_ int, honest time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, honest / 100
		},
		"nothing for most": func(server int, honest time.Duration) (discovery.State, time.Duration) {
			if server%12 == 0 {
				return discovery.Answered, honest
			}
			return discovery.Answered, 0
		},
	}
	for name, lie := range lies {
		for _, players := range []int{2, 3, 4, 8} {
			t.Run(fmt.Sprint(name, ", one of ", players), func(t *testing.T) {
				for range 20 {
					p := newPlane(random, players)
					liar := p.lie(lie)
					found := anomaly.Find(p.servers.List, p.table)
					if len(found) != 1 || found[0].Player != liar {
						t.Fatalf("found %v, want %s alone", found, liar)
					}
				}
			})
		}
	}
}
