package coordinate

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
			column[i] = duration(far[i%37]*near[i%1201] + access)
		}
		rtts[p] = column
	}
	return list, rtts
}

// BenchmarkRound measures the processor time of whole searches among 30,000 servers, whatever else
// the machine does. The goals: a round takes under 10 ms for 64 players and 2 for four, and a
// finished planner far less than 1 MB.
func BenchmarkRound(b *testing.B) {
	for _, players := range []int{4, 64} {
		b.Run(fmt.Sprint(players), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			list, rtts := internet(30000, players, 1)
			tree := topology.New(list)
			rounds, took, longest, size := 0, time.Duration(0), time.Duration(0), int64(0)
			for b.Loop() {
				before := heap()
				table := selection.NewTable(names(players), len(list))
				p := New(tree, selection.Servers{}, table, selection.Criteria{By: selection.Mean}, Options{Enough: -1})
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

// threadTime returns this thread's processor time.
func threadTime(b *testing.B) time.Duration {
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &clock); err != nil {
		b.Fatal(err)
	}
	return time.Duration(clock.Nano())
}

// heap returns how many bytes are allocated and still used.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
