package coordinate_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
)

// small returns a list of 300 servers in six countries. rtt returns each player's RTT to a server:
// by the country's distance, the network's, and a little by number.
func small() []discovery.Server {
	servers := make([]discovery.Server, 300)
	for i := range servers {
		country, network := i/50, i/10
		servers[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{30, byte(network), byte(i), 1}), 27960),
			Country: fmt.Sprintf("%cA", 'A'+country), ASN: uint32(100 + network),
		}
	}
	return servers
}

func smallRTT(player, server int) time.Duration {
	country, network := server/50, server/10
	distance := country - 2*player
	return time.Duration(20+25*max(distance, -distance)+network*7%11)*time.Millisecond + time.Duration(server%10)*time.Millisecond/4
}

// search drives a planner until it is done, and returns every question in order. Servers stay
// silent if dead says so.
func search(t *testing.T, options coordinate.Options, players int, dead func(server int) bool) (asked [][2]int, o coordinate.Progress) {
	t.Helper()
	return searchBy(t, selection.Mean, options, players, dead)
}

func searchBy(t *testing.T, rule selection.Rule, options coordinate.Options, players int,
	dead func(server int) bool) (asked [][2]int, o coordinate.Progress) {
	t.Helper()
	list := small()
	infos := map[int]*discovery.Info{}
	names := make([]string, players)
	for i := range names {
		names[i] = fmt.Sprintf("player %d", i)
	}
	table := selection.NewTable(names, len(list))
	p := coordinate.New(topology.New(list), selection.Servers{Infos: infos}, table, selection.Criteria{By: rule, Seats: players}, options)
	for range 300 {
		if o = p.Progress(); o.Done {
			return asked, o
		}
		for _, b := range p.Next() {
			for _, server := range b.Servers {
				asked = append(asked, [2]int{b.Player, server})
				result := discovery.Result{Server: server, State: discovery.Lost}
				if !dead(server) {
					result = discovery.Result{Server: server, State: discovery.Answered, RTT: smallRTT(b.Player, server)}
					infos[server] = &discovery.Info{MaxPlayers: 16}
				}
				p.Observe(b.Player, result)
				if infos[server] != nil {
					p.Inform(server)
				}
			}
		}
	}
	t.Fatalf("not done after %d questions", len(asked))
	return nil, o
}

func noneDead(int) bool { return false }

// TestAsksOnce checks that nobody is asked twice for a server, and that the search ends.
func TestAsksOnce(t *testing.T) {
	for players := range 5 {
		asked, _ := search(t, coordinate.Options{Seed: 1}, players+1, func(server int) bool { return server%7 == 0 })
		seen := map[[2]int]bool{}
		for _, question := range asked {
			if seen[question] {
				t.Errorf("%d players: player %d is asked for server %d again", players+1, question[0], question[1])
			}
			seen[question] = true
		}
	}
}

func TestSameSeedSameQuestions(t *testing.T) {
	first, _ := search(t, coordinate.Options{Seed: 7}, 3, noneDead)
	second, _ := search(t, coordinate.Options{Seed: 7}, 3, noneDead)
	if !reflect.DeepEqual(first, second) {
		t.Error("two searches with one seed ask differently")
	}
}

// TestFindsTheBest checks that the choice is within the bound that the search claims.
func TestFindsTheBest(t *testing.T) {
	for seed := range uint64(10) {
		_, o := search(t, coordinate.Options{Seed: seed}, 3, noneDead)
		mean := func(server int) time.Duration {
			return (smallRTT(0, server) + smallRTT(1, server) + smallRTT(2, server)) / 3
		}
		best := mean(0)
		for server := range 300 {
			best = min(best, mean(server))
		}
		if o.Best < 0 || mean(o.Best) > best+2*time.Millisecond {
			t.Errorf("seed %d: server %d with %v, the best has %v", seed, o.Best, mean(o.Best), best)
		}
	}
}

// TestHoldsItsBudget checks that no player is asked for more than the budget.
func TestHoldsItsBudget(t *testing.T) {
	asked, _ := search(t, coordinate.Options{Seed: 1, Budget: 40}, 2, noneDead)
	load := map[int]int{}
	for _, question := range asked {
		load[question[0]]++
	}
	for player, n := range load {
		if n > 40 {
			t.Errorf("player %d is asked for %d servers", player, n)
		}
	}
}

// TestExpected checks that a question asked before an answered one counts as silent, and is not
// waited for. Where rounds overlap that holds for questions of the round before.
func TestExpected(t *testing.T) {
	for _, tt := range []struct{ ahead, late int }{{0, 0}, {80, 1}} {
		list := small()
		p := coordinate.New(topology.New(list), selection.Servers{},
			selection.NewTable([]string{"ann"}, len(list)), selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1, Ahead: tt.ahead})
		answer := func(servers []int) {
			for _, server := range servers {
				p.Observe(0, discovery.Result{Server: server, State: discovery.Answered, RTT: smallRTT(0, server)})
			}
		}
		first := p.Next()[0].Servers
		answer(first[1:])
		second := p.Next()[0].Servers
		if want := 1 + len(second); p.Expected(0) != want {
			t.Errorf("%d answers are expected before any of the second round came, want %d", p.Expected(0), want)
		}
		answer(second[:1])
		if want := len(second) - 1 + tt.late; p.Expected(0) != want {
			t.Errorf("%d answers are expected after one of the second round, want %d", p.Expected(0), want)
		}
	}
}

// TestNoBurst checks that in one round at most half of a large group queries a server, and at most
// five of a small one.
func TestNoBurst(t *testing.T) {
	for _, test := range []struct{ players, most int }{{4, 4}, {8, 5}, {16, 8}, {64, 32}} {
		list := small()
		names := make([]string, test.players)
		for i := range names {
			names[i] = fmt.Sprintf("player %d", i)
		}
		p := coordinate.New(topology.New(list), selection.Servers{},
			selection.NewTable(names, len(list)), selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1})
		fullest := 0
		for !p.Progress().Done && p.Progress().Rounds < 100 {
			crowd := map[int]int{}
			for _, b := range p.Next() {
				for _, server := range b.Servers {
					crowd[server]++
					p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: smallRTT(b.Player%3, server)})
				}
			}
			for _, n := range crowd {
				fullest = max(fullest, n)
			}
		}
		if fullest != test.most {
			t.Errorf("%d players: %d are asked for one server in a round, want %d at most, and as many in some", test.players, fullest, test.most)
		}
	}
}

// TestFindsTheLeastSacrifice checks that both the choice and the players' own bests are within the bound
// that the search claims, also where servers are silent.
func TestFindsTheLeastSacrifice(t *testing.T) {
	const players = 3
	dead := func(server int) bool { return server%7 == 0 }
	own := slices.Repeat([]time.Duration{time.Hour}, players)
	for server := range 300 {
		for player := range players {
			if !dead(server) {
				own[player] = min(own[player], smallRTT(player, server))
			}
		}
	}
	extra := func(server int) (worst time.Duration) {
		for player := range players {
			worst = max(worst, smallRTT(player, server)-own[player])
		}
		return worst
	}
	best := time.Hour
	for server := range 300 {
		if !dead(server) {
			best = min(best, extra(server))
		}
	}
	for seed := range uint64(10) {
		_, o := searchBy(t, selection.LeastSacrifice, coordinate.Options{Seed: seed}, players, dead)
		if o.Best < 0 || extra(o.Best) > best+2*time.Millisecond {
			t.Errorf("seed %d: at server %d somebody gives up %v, at the best %v", seed, o.Best, extra(o.Best), best)
			continue
		}
		counted := time.Duration(o.Score * float64(time.Millisecond))
		if missed := extra(o.Best) - counted; missed > o.Own+2*time.Millisecond || missed < -time.Microsecond {
			t.Errorf("seed %d: %v are counted, it is %v, and at most %v are said to be missed", seed, counted, extra(o.Best), o.Own)
		}
	}
}

// TestContenders checks that servers hidden by one late or held-up packet get another look if they
// would win with the RTT of similar servers. Others do not.
func TestContenders(t *testing.T) {
	const missed, heldUp, far, deaf = 4, 5, 6, 7
	rtts := [][3]time.Duration{
		{60, 60, 60}, {61, 61, 60}, {62, 60, 61}, {59, 61, 61}, // in ms; 0 is no answer yet
		missed: {50, 0, 50}, heldUp: {50, 52, 130}, far: {200, 200, 200}, deaf: {50, 0, 0},
	}
	table := selection.NewTable([]string{"ann", "bob", "cat"}, len(rtts))
	var list []discovery.Server
	for server, ms := range rtts {
		list = append(list, discovery.Server{Addr: netip.MustParseAddrPort(fmt.Sprintf("192.%d.2.1:27960", server)), Country: "DE", ASN: 64500})
		for player := range ms {
			if ms[player] > 0 {
				table.Set(player, server, discovery.Answered, ms[player]*time.Millisecond)
			}
		}
	}
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1})
	contenders := p.Contenders(5)
	for _, want := range []int{missed, heldUp} {
		if !slices.Contains(contenders, want) {
			t.Errorf("server %d is not among %v", want, contenders)
		}
	}
	for _, other := range []int{far, deaf} {
		if slices.Contains(contenders, other) {
			t.Errorf("server %d is among %v", other, contenders)
		}
	}
	if first := p.Contenders(1); len(first) != 1 || first[0] != contenders[0] {
		t.Errorf("the first of %v are %v", contenders, first)
	}
}

// TestDoubtsOneSample checks that the best server is a finalist though one player's packet to it
// met a full queue.
func TestDoubtsOneSample(t *testing.T) {
	const players = 3
	list := small()
	worst := func(server int) (worst time.Duration) {
		for player := range players {
			worst = max(worst, smallRTT(player, server))
		}
		return worst
	}
	best := 0
	for server := range list {
		if worst(server) < worst(best) {
			best = server
		}
	}
	table := selection.NewTable([]string{"ann", "bob", "cat"}, len(list))
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Minimax},
		coordinate.Options{Seed: 1, Enough: -1})
	measured := 0
	for !p.Progress().Done {
		for _, b := range p.Next() {
			for _, server := range b.Servers {
				rtt := smallRTT(b.Player, server)
				if server == best {
					measured++
					if b.Player == 1 {
						rtt += 80 * time.Millisecond
					}
				}
				p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
			}
		}
	}
	if finalists := p.Finalists(10); measured != players || !slices.Contains(finalists, best) {
		t.Errorf("server %d, measured by %d of %d, is not among the finalists %v", best, measured, players, finalists)
	}
}

// TestDoubtsOneSampleOfItsOwn checks the same for a server that is nearer than its neighbours,
// which tell too little of it.
func TestDoubtsOneSampleOfItsOwn(t *testing.T) {
	const best, other = 4, 5
	rtts := [][2]time.Duration{{105, 105}, {105, 105}, {105, 105}, {105, 105}, best: {92, 210}, other: {97, 97}} // in ms
	table := selection.NewTable([]string{"ann", "bob"}, len(rtts))
	var list []discovery.Server
	for server, ms := range rtts {
		list = append(list, discovery.Server{Addr: netip.MustParseAddrPort(fmt.Sprintf("192.%d.2.1:27960", server)), Country: "DE", ASN: 64500})
		for player := range ms {
			table.Set(player, server, discovery.Answered, ms[player]*time.Millisecond)
		}
	}
	list[other].Country, list[other].ASN = "FR", 64501
	p := coordinate.New(topology.New(list), selection.Servers{}, table, selection.Criteria{By: selection.Mean}, coordinate.Options{Seed: 1})
	if hidden := p.Hidden(3); !slices.Equal(hidden, []int{other, best}) {
		t.Errorf("%v are looked at again, want %d, which leads, and %d, which may be better", hidden, other, best)
	}
}

// TestLargeParts checks that the fair rules look at every network with 0.25 % of the list, though
// all known networks of its country are hopeless.
func TestLargeParts(t *testing.T) {
	const (
		ms = time.Millisecond
		// the first half are a country that is fairly fair, the others one that is not
		networks, each = 120, 20
	)
	var list []discovery.Server
	var of []int // each server's network
	for n := range networks {
		country := "AA"
		if n >= networks/2 {
			country = "BB"
		}
		for i := range each {
			addr := netip.AddrFrom4([4]byte{30, byte(n), 1, byte(i + 1)})
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: country, ASN: uint32(100 + n)})
			of = append(of, n)
		}
	}
	players := []string{"ann", "bob", "cem", "dee"}
	for _, by := range []selection.Rule{selection.Fairness, selection.FairThreshold} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", by, seed), func(t *testing.T) {
				criteria := selection.Criteria{By: by, Limits: []time.Duration{400 * ms}}
				p := coordinate.New(topology.New(list), selection.Servers{}, selection.NewTable(players, len(list)),
					criteria, coordinate.Options{Seed: seed, Budget: 200})
				asked := map[int]bool{}
				for !p.Progress().Done {
					for _, b := range p.Next() {
						for _, server := range b.Servers {
							asked[of[server]] = true
							apart := 90
							if n := of[server]; n < networks/2 {
								apart = 20 + n%7
							}
							rtt := time.Duration(50+apart*b.Player+server%3) * ms
							p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
						}
					}
				}
				if len(asked) < networks {
					t.Errorf("%d of %d networks were asked", len(asked), networks)
				}
			})
		}
	}
}
