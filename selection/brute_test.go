package selection_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/rules"
)

// bruteScore computes a server's score exactly by the formulas of the MUSST paper, one by one, in
// milliseconds.
func bruteScore(by selection.Rule, rtts []time.Duration) float64 {
	values := make([]float64, len(rtts))
	for i, rtt := range rtts {
		values[i] = float64(rtt.Microseconds()) / 1000
	}
	mean := average(values)
	switch {
	case by == selection.Minimax || by == selection.LeastSacrifice: // the latter of extras
		return slices.Max(values)
	case (by == selection.Fairness || by == selection.FairThreshold) && len(values) > 1:
		squares := 0.0
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		return math.Sqrt(squares / float64(len(values)-1))
	case by == selection.Mean || by == selection.Threshold || by == selection.Fairness || by == selection.FairThreshold:
		return mean
	}
	return rules.Of(by).Score(rules.Equal(values, nil)) // the rule's own test works this out by hand
}

// bruteSides is the score of two sides in milliseconds, and the figure by which servers are ordered.
func bruteSides(a, b, all []time.Duration) (score, order float64) {
	score = math.Abs(bruteScore(selection.Mean, a) - bruteScore(selection.Mean, b))
	order = bruteScore(selection.Mean, all) / 10
	if score > 5 {
		return score, order + score
	}
	return score, order + 5
}

// ofSide returns the RTTs of a side's players.
func ofSide(table *selection.Table, sides map[string]selection.Side, side selection.Side, rtts []time.Duration) (of []time.Duration) {
	for player, name := range table.Players() {
		if sides[name] == side {
			of = append(of, rtts[player])
		}
	}
	return of
}

type bruteServer struct {
	addr         netip.AddrPort
	score, order float64
}

// bruteRanking ranks a table without weights and filters.
func bruteRanking(servers selection.Servers, table *selection.Table, by selection.Rule, limit time.Duration,
	sides map[string]selection.Side) []bruteServer {
	var ranking []bruteServer
	everyone := make([]time.Duration, len(table.Players()))
	a, b := ofSide(table, sides, selection.SideA, everyone), ofSide(table, sides, selection.SideB, everyone)
	hasSides := len(a) > 0 && len(b) > 0 && len(table.Players()) > 1
	if by == selection.EvenSides && !hasSides {
		by = selection.Mean
	}
	if by == selection.EvenSides && limit == 0 { // 1.5 times the lowest worst RTT, and at least 100 ms
		for server := range servers.List {
			if rtts := reached(table, server); rtts != nil && (limit == 0 || slices.Max(rtts)*3/2 < limit) {
				limit = max(slices.Max(rtts)*3/2, 100*time.Millisecond)
			}
		}
	}
	own := make([]time.Duration, len(table.Players()))
	suits := func(rtts []time.Duration) bool { return rtts != nil && (limit == 0 || slices.Max(rtts) <= limit) }
	for server := range servers.List {
		if rtts := reached(table, server); suits(rtts) {
			for player, rtt := range rtts {
				if own[player] == 0 || rtt < own[player] {
					own[player] = rtt
				}
			}
		}
	}
	for server, entry := range servers.List {
		rtts := reached(table, server)
		if !suits(rtts) {
			continue
		}
		if by == selection.LeastSacrifice {
			for player := range rtts {
				rtts[player] -= own[player]
			}
		}
		one := bruteServer{addr: entry.Addr}
		if by == selection.EvenSides {
			a, b := ofSide(table, sides, selection.SideA, rtts), ofSide(table, sides, selection.SideB, rtts)
			one.score, one.order = bruteSides(a, b, rtts)
		} else {
			one.score = bruteScore(by, rtts)
			one.order = one.score
		}
		ranking = append(ranking, one)
	}
	slices.SortFunc(ranking, func(a, b bruteServer) int {
		if math.Abs(a.order-b.order) > 1e-9 {
			return cmp.Compare(a.order, b.order)
		}
		return a.addr.Compare(b.addr)
	})
	return ranking
}

// reached returns all players' RTTs to a server, or nil if somebody has none.
func reached(table *selection.Table, server int) []time.Duration {
	var rtts []time.Duration
	for player := range table.Players() {
		state, rtt := table.At(player, server)
		if state != discovery.Answered {
			return nil
		}
		rtts = append(rtts, rtt)
	}
	return rtts
}

// randomTable has few different RTTs, for the sake of ties, and few gaps, so that some servers
// survive.
func randomTable(random *rand.Rand) (selection.Servers, *selection.Table) {
	players, servers := 1+random.IntN(6), 1+random.IntN(40)
	names := make([]string, players)
	for i := range names {
		names[i] = fmt.Sprint("p", i)
	}
	list, table := selection.Servers{}, selection.NewTable(names, servers)
	for server := range servers {
		list.List = append(list.List, numberedServer(server))
		for player := range players {
			state := discovery.Answered
			if random.IntN(5*players) == 0 {
				state = discovery.State(random.IntN(4))
			}
			table.Set(player, server, state, time.Duration(1+random.IntN(6))*10*time.Millisecond)
		}
	}
	return list, table
}

// drawnSides puts players on random sides, and some on neither.
func drawnSides(random *rand.Rand, players []string) map[string]selection.Side {
	sides := map[string]selection.Side{}
	for _, name := range players {
		if side := selection.Side(random.IntN(3)); side != selection.Neither {
			sides[name] = side
		}
	}
	return sides
}

func TestSelectIsTheOptimumOfItsRule(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		servers, table := randomTable(random)
		for _, by := range selection.Rules() {
			limit := time.Duration(random.IntN(7)) * 10 * time.Millisecond
			criteria := selection.Criteria{By: by, Top: random.IntN(4), Sides: drawnSides(random, table.Players())}
			if limit > 0 {
				criteria.Limits = []time.Duration{limit}
			}
			got := selection.Select(servers, table, criteria)
			want := bruteRanking(servers, table, by, limit, criteria.Sides)
			if criteria.Top > 0 {
				want = want[:min(len(want), criteria.Top)]
			}
			if err := sameRanking(got, want); err != nil {
				t.Fatalf("%s under %v, top %d: %v", by, limit, criteria.Top, err)
			}
		}
	}
}

func sameRanking(got selection.Selection, want []bruteServer) error {
	if len(got.Ranking) != len(want) {
		return fmt.Errorf("%d servers ranked, want %d", len(got.Ranking), len(want))
	}
	if got.Chosen == nil != (len(want) == 0) {
		return fmt.Errorf("chosen: %v, want one of %v", got.Chosen, want)
	}
	for i, w := range want {
		if g := got.Ranking[i]; g.Addr.AddrPort != w.addr || math.Abs(g.Score-w.score) > 0.0006 {
			return fmt.Errorf("place %d: %v with %v, want %v with %v", i, g.Addr, g.Score, w.addr, w.score)
		}
	}
	if len(want) > 0 && got.Chosen.Addr.AddrPort != want[0].addr {
		return fmt.Errorf("chose %v, want %v", got.Chosen.Addr, want[0].addr)
	}
	return nil
}

func TestLadderStopsAtTheStrictestLimitThatLeavesAServer(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rungs := []time.Duration{50 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond}
	for range 200 {
		servers, table := randomTable(random)
		sides := drawnSides(random, table.Players())
		for _, by := range []selection.Rule{selection.Threshold, selection.FairThreshold, selection.EvenSides} {
			limit := 50 * time.Millisecond
			for _, rung := range slices.Sorted(slices.Values(rungs)) {
				if bruteRanking(servers, table, by, rung, sides) != nil {
					limit = rung
					break
				}
			}
			got := selection.Select(servers, table, selection.Criteria{By: by, Limits: rungs, Sides: sides})
			if err := sameRanking(got, bruteRanking(servers, table, by, limit, sides)); err != nil {
				t.Fatalf("%s: %v", by, err)
			}
			if got.LimitMS != float64(limit.Milliseconds()) {
				t.Fatalf("%s: the limit was %v ms, want %v", by, got.LimitMS, limit)
			}
		}
	}
}

// shuffled returns the same table with rows and columns in another order.
func shuffled(random *rand.Rand, servers selection.Servers, table *selection.Table) (selection.Servers, *selection.Table) {
	rows, columns := random.Perm(len(servers.List)), random.Perm(len(table.Players()))
	names := make([]string, len(columns))
	for to, from := range columns {
		names[to] = table.Players()[from]
	}
	list, other := selection.Servers{}, selection.NewTable(names, len(rows))
	for to, from := range rows {
		list.List = append(list.List, servers.List[from])
		for column, player := range columns {
			state, rtt := table.At(player, from)
			other.Set(column, to, state, rtt)
		}
	}
	return list, other
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		servers, table := randomTable(random)
		otherServers, otherTable := shuffled(random, servers, table)
		for _, by := range selection.Rules() {
			criteria := selection.Criteria{
				By: by, Limits: []time.Duration{40 * time.Millisecond},
				Weights: map[string]float64{"p0": 0.3, "p1": 1.7, "p3": 0.1},
				Sides:   map[string]selection.Side{"p0": selection.SideA, "p1": selection.SideB, "p2": selection.SideA, "p4": selection.SideB},
			}
			one := fmt.Sprint(explained(selection.Select(servers, table, criteria)))
			two := fmt.Sprint(explained(selection.Select(otherServers, otherTable, criteria)))
			if one != two {
				t.Fatalf("%s:\n%s\n%s", by, one, two)
			}
		}
	}
}

func TestAddingAPlayerOnlyRemovesServers(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		servers, table := randomTable(random)
		all := surviving(servers, table, len(table.Players()))
		for players := len(table.Players()) - 1; players > 0; players-- {
			fewer := surviving(servers, table, players)
			for addr := range all {
				if !fewer[addr] {
					t.Fatalf("%v suits %d players but not %d of them", addr, players+1, players)
				}
			}
			all = fewer
		}
	}
}

// surviving returns the servers that suit the first so many players of a table.
func surviving(servers selection.Servers, table *selection.Table, players int) map[netip.AddrPort]bool {
	part := selection.NewTable(table.Players()[:players], table.Servers())
	for player := range players {
		for server := range servers.List {
			state, rtt := table.At(player, server)
			part.Set(player, server, state, rtt)
		}
	}
	suits := map[netip.AddrPort]bool{}
	limit := []time.Duration{50 * time.Millisecond}
	for _, r := range selection.Select(servers, part, selection.Criteria{By: selection.Minimax, Limits: limit}).Ranking {
		suits[r.Addr.AddrPort] = true
	}
	return suits
}

// TestWithoutIsAChoiceForTheOthers compares the choice without a player with that from a table that
// never held the player.
func TestWithoutIsAChoiceForTheOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		servers, table := randomTable(random)
		last := len(table.Players()) - 1
		for _, by := range selection.Rules() {
			criteria := selection.Criteria{By: by, Limits: []time.Duration{50 * time.Millisecond}}
			if random.IntN(2) == 0 {
				criteria.Weights = map[string]float64{"p0": 2, "p1": 0.5}
			}
			if random.IntN(2) == 0 {
				criteria.Sides = drawnSides(random, table.Players())
			}
			pivots := selection.NewFilter(servers, criteria).Pivots(table)
			if pivots == nil {
				continue
			}
			part := selection.NewTable(table.Players()[:last], table.Servers())
			for player := range last {
				for server := range servers.List {
					state, rtt := table.At(player, server)
					part.Set(player, server, state, rtt)
				}
			}
			want := selection.Select(servers, part, criteria).Chosen
			if pivots[last].Player == "" {
				continue // the others have no second side
			}
			if got := pivots[last]; got.Addr != want.Addr || got.Score != want.Score {
				t.Fatalf("%s: without %s %v, want %v", by, got.Player, got, want)
			}
		}
	}
}

// FuzzTable overwrites cells at random. The running sums must equal those of a table whose cells
// are each set once.
func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 0, 1, 10, 1, 0, 1, 20, 0, 0, 1, 5, 1, 0, 2, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		names := []string{"ann", "bob", "cat"}
		servers, table := selection.Servers{}, selection.NewTable(names, 4)
		for server := range 4 {
			servers.List = append(servers.List, numberedServer(server))
		}
		for ; len(ops) >= 4; ops = ops[4:] {
			rtt := time.Duration(ops[3]) * time.Millisecond
			table.Set(int(ops[0])%3, int(ops[1])%4, discovery.State(ops[2]%4), rtt)
		}
		fresh := selection.NewTable(names, 4)
		for player := range names {
			for server := range 4 {
				state, rtt := table.At(player, server)
				fresh.Set(player, server, state, rtt)
			}
		}
		for _, by := range selection.Rules() {
			criteria := selection.Criteria{By: by, Limits: []time.Duration{100 * time.Millisecond},
				Sides: map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideB}}
			one, two := selection.Select(servers, table, criteria), selection.Select(servers, fresh, criteria)
			if got, want := fmt.Sprint(explained(one)), fmt.Sprint(explained(two)); got != want {
				t.Fatalf("%s: got %s, want %s", by, got, want)
			}
		}
	})
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func numberedServer(i int) discovery.Server {
	addr := netip.AddrFrom4([4]byte{10, byte(i >> 10), byte(i >> 2), byte(i & 3)})
	return discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
}
