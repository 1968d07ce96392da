package costs

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/discovery"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// BenchmarkLateness asks at an even pace and reports how much longer than the world the fleet holds
// replies.
func BenchmarkLateness(b *testing.B) {
	b.Run("1000 a second", func(b *testing.B) { benchmarkFleet(b, time.Millisecond) })
	b.Run("10000 a second", func(b *testing.B) { benchmarkFleet(b, 100*time.Microsecond) })
}

// BenchmarkThroughput keeps more queries under way than any machine can answer. replies/s is the
// joint rate of asker and fleet.
func BenchmarkThroughput(b *testing.B) { benchmarkFleet(b, 0) }

// maxUnderWay is how many queries are under way at 20 ms and 150,000 queries a second.
const maxUnderWay = 3000

// benchmarkFleet asks 30,000 servers, 20 ms away, from one socket.
func benchmarkFleet(b *testing.B, gap time.Duration) {
	servers := make([]sim.Server, 30_000)
	for i := range servers {
		addr := netip.AddrFrom4([4]byte{60 + byte(i>>16), byte(i >> 8), byte(i) / 4, byte(i%4 + 1)})
		servers[i].Server = discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: "DE", ASN: 3320}
		servers[i].Info = discovery.Info{Name: "Arena", Map: "q3dm17", Players: 2, MaxPlayers: 8}
	}
	world := sim.NewWorld(1, []sim.Place{{Name: "here"}}, servers, func(int, int) time.Duration { return 20 * time.Millisecond })
	var late []time.Duration // written by the fleet's sender until it is closed
	f, err := fleet.Start(b.Context(), fleet.Options{
		World: world, Kind: fleet.Quake3, Game: fleet.Game{Name: "Quake3Arena", Protocol: 68},
		Sent: func(e fleet.Exchange) { late = append(late, e.Held-e.RTT) },
	})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: f.Source(0).AsSlice()})
	if err == nil {
		err = conn.SetReadBuffer(4 << 20)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	underWay := make(chan struct{}, maxUnderWay) // a token for each query
	go func() {
		for buf := make([]byte, 2048); ; <-underWay {
			if _, _, err := conn.ReadFromUDPAddrPort(buf); err != nil {
				return
			}
		}
	}()
	targets, i, start := f.Servers(), 0, time.Now()
	for b.Loop() {
		if ahead := time.Duration(i)*gap - time.Since(start); ahead > 0 {
			nap := unix.NsecToTimespec(ahead.Nanoseconds()) // Go's timer waits for whole milliseconds
			_ = unix.Nanosleep(&nap, nil)
		}
		underWay <- struct{}{}
		if _, err := conn.WriteToUDPAddrPort([]byte("\xff\xff\xff\xffgetinfo xyzzy"), targets[i%len(targets)].Addr); err != nil {
			b.Fatal(err)
		}
		i++
	}
	for range cap(underWay) { // every query has its reply
		underWay <- struct{}{}
	}
	took := time.Since(start)
	_ = f.Close()
	slices.Sort(late)
	if n := len(late); n > 0 {
		b.ReportMetric(float64(late[n/2].Microseconds()), "late-p50-µs")
		b.ReportMetric(float64(late[n*99/100].Microseconds()), "late-p99-µs")
		b.ReportMetric(float64(n)/took.Seconds(), "replies/s")
	}
}
