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
