package costs

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

// obvious is the obvious way to do what [selection.Select] does. It keeps reports in maps by the
// server's address, and visits server by server. The benchmarks compare with it.
type obvious map[string]map[string]float64 // player, server, milliseconds

type obviousScore struct {
	addr  string
	score float64
}

// selectMean ranks the servers that all players reach.
func (o obvious) selectMean() []obviousScore {
	servers := map[string]bool{}
	for _, report := range o {
		for addr := range report {
			servers[addr] = true
		}
	}
	var ranking []obviousScore
	for addr := range servers {
		var rtts []float64
		for _, report := range o {
			if rtt, ok := report[addr]; ok {
				rtts = append(rtts, rtt)
			}
		}
		if len(rtts) == len(o) {
			ranking = append(ranking, obviousScore{addr, average(rtts)})
		}
	}
	slices.SortFunc(ranking, func(a, b obviousScore) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.addr, b.addr))
	})
	return ranking
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// benchInput returns 30,000 servers. One in 50 is silent for a player.
func benchInput(players int) (selection.Servers, *selection.Table) {
	random := rand.New(rand.NewPCG(1, 2))
	names := make([]string, players)
	for i := range names {
		names[i] = "player" + strconv.Itoa(i)
	}
	servers, table := selection.Servers{Infos: map[int]*discovery.Info{}}, selection.NewTable(names, benchServers)
	for server := range benchServers {
		servers.List = append(servers.List, benchServer(server))
		servers.Infos[server] = &discovery.Info{Map: "q3dm17", Players: server % 17, MaxPlayers: 16}
		base := random.Float64() * 150
		silent := -1
		if random.IntN(50) == 0 {
			silent = random.IntN(players)
		}
		for player := range players {
			state := discovery.Answered
			if player == silent {
				state = discovery.Lost
			}
			table.Set(player, server, state, time.Duration((base+random.Float64()*100)*1e6))
		}
	}
	return servers, table
}

func benchServer(i int) discovery.Server {
	addr := netip.AddrFrom4([4]byte{10, byte(i >> 10), byte(i >> 2), byte(i & 3)})
	return discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
}

func obviousOf(servers selection.Servers, table *selection.Table) obvious {
	o := obvious{}
	for player, name := range table.Players() {
		o[name] = map[string]float64{}
		for server := range servers.List {
			if state, rtt := table.At(player, server); state == discovery.Answered {
				o[name][servers.List[server].Addr.String()] = rtt.Seconds() * 1000
			}
		}
	}
	return o
}

// BenchmarkSelect measures the bare choice that the live page wants: the best server and none of
// the culled. "times" is how much longer the maps take for less.
func BenchmarkSelect(b *testing.B) {
	for _, players := range []int{8, 64, 1000} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			servers, table := benchInput(players)
			criteria := selection.Criteria{By: selection.Mean, Top: 1, Reasons: -1}
			filter := selection.NewFilter(servers, criteria)
			compare := timeObvious(b, obviousOf(servers, table), filter.Select(table))
			runtime.GC() // collect the maps now, not while measuring
			b.ReportAllocs()
			for b.Loop() {
				filter.Select(table)
			}
			b.ReportMetric(compare.Seconds()/(b.Elapsed().Seconds()/float64(b.N)), "times")
		})
	}
}

// BenchmarkSelectListed measures a whole choice in a room whose list says something of each server.
// The servers themselves report all demanded facts ("told"), or only their names.
func BenchmarkSelectListed(b *testing.B) {
	for _, told := range []string{"told", "silent"} {
		b.Run(told, func(b *testing.B) {
			servers, table := benchInput(8)
			servers.Said.Infos = map[netip.AddrPort]*discovery.Info{}
			for server, s := range servers.List {
				servers.Said.Infos[s.Addr] = &discovery.Info{Name: "server", Map: "q3dm17", MaxPlayers: 16, AsListed: true}
				if told == "silent" {
					servers.Infos[server] = &discovery.Info{}
				}
			}
			criteria := selection.Criteria{By: selection.Mean, Seats: 4, Wishes: selection.Wishes{Map: "q3dm17"}, Top: 1, Reasons: -1}
			b.ReportAllocs()
			for b.Loop() {
				selection.Select(servers, table, criteria)
			}
		})
	}
}

// timeObvious times the obvious way once, and checks that its result is the same.
func timeObvious(b *testing.B, o obvious, got selection.Selection) time.Duration {
	start := time.Now()
	ranking := o.selectMean()
	elapsed := time.Since(start)
	if best := ranking[0]; best.addr != got.Chosen.Addr.String() || math.Abs(best.score-got.Chosen.Score) > 0.001 {
		b.Fatalf("the maps choose %v, the table %v", best, got.Chosen)
	}
	return elapsed
}

// BenchmarkDocument measures a choice as it is shown: ten servers and a hundred reasons.
func BenchmarkDocument(b *testing.B) {
	for _, players := range []int{8, 64, 1000} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			servers, table := benchInput(players)
			criteria := selection.Criteria{
				By: selection.Threshold, Limits: []time.Duration{150 * time.Millisecond, 300 * time.Millisecond},
				Seats: min(players, 8), Wishes: selection.Wishes{Map: "q3dm17"}, Top: 10, Reasons: 100,
			}
			for b.Loop() {
				selection.Select(servers, table, criteria)
			}
		})
	}
}

// BenchmarkWeighted measures the deviation with weights for all players. It reads every cell twice,
// which is the most work that a choice can be.
func BenchmarkWeighted(b *testing.B) {
	for _, players := range []int{8, 64, 1000} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			servers, table := benchInput(players)
			criteria := selection.Criteria{By: selection.Fairness, Weights: map[string]float64{}, Top: 1, Reasons: -1}
			for _, name := range table.Players() {
				criteria.Weights[name] = 2
			}
			filter := selection.NewFilter(servers, criteria)
			for b.Loop() {
				filter.Select(table)
			}
		})
	}
}

// BenchmarkInfluences measures whose word a choice hangs on. "choices" is how many choices take as
// long.
func BenchmarkInfluences(b *testing.B) {
	for _, players := range []int{8, 64} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			servers, table := benchInput(players)
			criteria := selection.Criteria{By: selection.Mean, Top: 1, Reasons: -1}
			filter := selection.NewFilter(servers, criteria)
			once := time.Now()
			chosen := filter.Select(table).Chosen.Server
			one := time.Since(once)
			for b.Loop() {
				selection.Influences(servers, table, criteria, chosen)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/one.Seconds(), "choices")
		})
	}
}

// BenchmarkFold adds one player's report of all servers to a table, in turn a new one and the same
// with other RTTs.
func BenchmarkFold(b *testing.B) {
	_, table := benchInput(64)
	var reports [2][]time.Duration
	for i := range benchServers {
		reports[0] = append(reports[0], time.Duration(i+1)*time.Microsecond)
		reports[1] = append(reports[1], time.Duration(benchServers-i)*time.Microsecond)
	}
	for i := 0; b.Loop(); i++ {
		for server, rtt := range reports[i%2] {
			table.Set(7, server, discovery.Answered, rtt)
		}
	}
}
