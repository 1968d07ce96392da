package costs

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/memory"
)

// internet returns a list of servers in blocks of networks of countries, and each player's RTT to
// each server.
func internet(servers, players int, seed uint64) ([]discovery.Server, [][]time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]discovery.Server, servers)
	rtts := make([][]time.Duration, players)
	var far, near []float64
	for i := range list {
		c, n := i%37, i%1201
		list[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(1 + c), byte(n), byte(i / 1201), byte(1 + i%200)}), 27960),
			Country: fmt.Sprintf("%c%c", 'A'+c/6, 'A'+c%6), ASN: uint32(1 + n),
		}
	}
	for p := range players {
		far, near = make([]float64, 37), make([]float64, 1201)
		for c := range far {
			far[c] = 10 + 250*rng.Float64()
		}
		for n := range near {
			near[n] = 1 + 0.1*rng.ExpFloat64()
		}
		column := make([]time.Duration, servers)
		for i := range column {
			access := float64(i*7919%101) / 10
			column[i] = time.Duration((far[i%37]*near[i%1201] + access) * float64(time.Millisecond))
		}
		rtts[p] = column
	}
	return list, rtts
}

// BenchmarkRound measures the processor time of whole searches among 30,000 servers, whatever else
// the machine does. The goals: a round takes under 10 ms for 64 players and 2 for four, and a
// finished planner far less than 1 MB. The third row is the second session of 16 players who
// remember as much as a memory holds, in which a tenth of the forecasts is wrong; the second is
// their first.
func BenchmarkRound(b *testing.B) {
	for _, of := range []struct {
		players    int
		remembered bool
	}{{4, false}, {16, false}, {16, true}, {64, false}} {
		b.Run(fmt.Sprintf("%d remember %t", of.players, of.remembered), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			list, rtts := internet(30000, of.players, 1)
			tree := topology.New(list)
			names := make([]string, of.players)
			for i := range names {
				names[i] = fmt.Sprint("player ", i)
			}
			options := coordinate.Options{Enough: -1}
			if of.remembered {
				options.Remembered = remembered(tree, rtts)
			}
			rounds, took, longest, size := 0, time.Duration(0), time.Duration(0), int64(0)
			for b.Loop() {
				before := heap()
				table := selection.NewTable(names, len(list))
				p := coordinate.New(tree, selection.Servers{}, table, selection.Criteria{By: selection.Mean}, options)
				for !p.Progress().Done {
					start := threadTime(b)
					batches := p.Next()
					round := threadTime(b) - start
					took, longest = took+round, max(longest, round)
					rounds++
					for _, batch := range batches {
						for _, server := range batch.Servers {
							p.Observe(batch.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtts[batch.Player][server]})
						}
					}
				}
				size = heap() - before
				runtime.KeepAlive(p)
			}
			b.ReportMetric(took.Seconds()*1000/float64(rounds), "ms/round")
			b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
			b.ReportMetric(float64(size), "B/planner")
		})
	}
}

// remembered returns the players' forecasts from measurements of as many networks as a memory holds.
// Of the forecasts a tenth is three times too long.
func remembered(tree *topology.Tree, rtts [][]time.Duration) (all [][]memory.Forecast) {
	rng, now := rand.New(rand.NewPCG(1, 2)), time.Unix(0, 0).UTC()
	for _, of := range rtts {
		seen := map[memory.Part]bool{}
		var cells []memory.Cell
		for server, s := range tree.List() {
			part := memory.Part{Country: s.Country, ASN: s.ASN, Prefix: topology.Prefix24.Prefix(s.Addr.Addr())}
			if seen[part] || len(cells) == memory.Max {
				continue
			}
			seen[part] = true
			ms := discovery.MS(of[server])
			if rng.IntN(10) == 0 {
				ms *= 3
			}
			cells = append(cells, memory.Cell{Part: part, MS: ms, Count: 1, Seen: now})
		}
		all = append(all, memory.Forecasts(tree, now, cells))
	}
	return all
}

// threadTime returns this thread's processor time.
func threadTime(b *testing.B) time.Duration {
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &clock); err != nil {
		b.Fatal(err)
	}
	return time.Duration(clock.Nano())
}
