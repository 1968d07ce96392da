package fleet

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/internal/sim"
)

// nearby returns a world of many servers, 20 ms away.
func nearby(servers int) *sim.World {
	return handWorld([]time.Duration{20 * time.Millisecond}, manyServers(servers)...)
}

// BenchmarkLateness asks at an even pace and reports how much longer than the world the fleet holds
// replies.
func BenchmarkLateness(b *testing.B) {
	b.Run("1000 a second", func(b *testing.B) { benchmarkFleet(b, time.Millisecond) })
	b.Run("10000 a second", func(b *testing.B) { benchmarkFleet(b, 100*time.Microsecond) })
}

// BenchmarkThroughput keeps more queries under way than any machine can answer. replies/s is the
// joint rate of asker and fleet.
func BenchmarkThroughput(b *testing.B) { benchmarkFleet(b, 0) }

func benchmarkFleet(b *testing.B, gap time.Duration) {
	var late []time.Duration // written by the fleet's sender until it is closed
	f := startFleet(b, Options{World: nearby(30_000), Sent: func(e Exchange) { late = append(late, e.Held-e.RTT) }})
	a := startQuestioner(b, f)
	clock, err := newAlarm()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = clock.close() })
	i, start := 0, time.Now()
	for b.Loop() {
		if ahead := time.Duration(i)*gap - time.Since(start); ahead > 0 {
			clock.sleep(ahead)
		}
		a.ask(i)
		i++
	}
	a.wait()
	took := time.Since(start)
	_ = f.Close()
	slices.Sort(late)
	if n := len(late); n > 0 {
		b.ReportMetric(float64(late[n/2].Microseconds()), "late-p50-µs")
		b.ReportMetric(float64(late[n*99/100].Microseconds()), "late-p99-µs")
		b.ReportMetric(float64(n)/took.Seconds(), "replies/s")
	}
}

// BenchmarkAlarm waits by the fleet's alarm and by Go's timer in turn. It reports how many times
// later than the alarm the timer wakes.
func BenchmarkAlarm(b *testing.B) {
	clock, err := newAlarm()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = clock.close() })
	const nap = 300 * time.Microsecond
	var alarm, timer time.Duration
	for b.Loop() {
		start := time.Now()
		clock.sleep(nap)
		middle := time.Now()
		<-time.After(nap)
		alarm += middle.Sub(start) - nap
		timer += time.Since(middle) - nap
	}
	b.ReportMetric(float64(alarm.Microseconds())/float64(b.N), "late-µs")
	b.ReportMetric(float64(timer)/float64(alarm), "timer-is-later-x")
}

// questioner asks many servers from one socket.
type questioner struct {
	tb       testing.TB
	conn     *net.UDPConn
	targets  []netip.AddrPort
	underWay chan struct{} // a token for each query
}

// maxUnderWay is how many queries are under way at 20 ms and 150,000 queries a second.
const maxUnderWay = 3000

func startQuestioner(tb testing.TB, f *Fleet) *questioner {
	tb.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: f.Source(0).AsSlice()})
	if err != nil {
		tb.Fatal(err)
	}
	if err := conn.SetReadBuffer(receiveBuffer); err != nil {
		tb.Fatal(err)
	}
	q := &questioner{tb: tb, conn: conn, underWay: make(chan struct{}, maxUnderWay)}
	for _, s := range f.Servers() {
		q.targets = append(q.targets, s.Addr)
	}
	var reader sync.WaitGroup
	reader.Go(q.listen)
	tb.Cleanup(func() { _ = conn.Close(); reader.Wait() })
	return q
}

func (q *questioner) ask(i int) {
	q.underWay <- struct{}{}
	if _, err := q.conn.WriteToUDPAddrPort([]byte(getinfo), q.targets[i%len(q.targets)]); err != nil {
		q.tb.Fatal(err)
	}
}

func (q *questioner) listen() {
	buf := make([]byte, maxQuery)
	for {
		if _, _, err := q.conn.ReadFromUDPAddrPort(buf); err != nil {
			return
		}
		<-q.underWay
	}
}

// wait returns when every query has its reply.
func (q *questioner) wait() {
	for range cap(q.underWay) {
		q.underWay <- struct{}{}
	}
}
