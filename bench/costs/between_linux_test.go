package costs

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/host/between"
	"muster/internal/leak"
)

var measureCosts = flag.Bool("costs", false, "compare connections between hosts with plain TCP")

// TestCosts compares connections between hosts with plain TCP, in turns. It measures round trip
// time, throughput, and the processor time for sending a room's states to a page or peer at another
// host.
func TestCosts(t *testing.T) {
	if !*measureCosts {
		t.Skip("without -costs")
	}
	leak.Check(t)
	doors := map[string]string{}
	a, b := mesh(t, "a"), mesh(t, "b")
	doors["a"], doors["b"] = a.Door(nil), b.Door(nil)
	for _, m := range []*between.Mesh{a, b} {
		m.Join(func() map[string]string { return doors })
	}
	ways := []struct {
		name string
		pair func() (net.Conn, net.Conn)
	}{
		{"TCP", func() (net.Conn, net.Conn) { return overTCP(t) }},
		{"between", func() (net.Conn, net.Conn) { return dialled(t, a, b) }},
	}
	for range 3 {
		for _, way := range ways {
			p50, p99 := thereAndBack(t, way.pair)
			rate := throughput(t, way.pair)
			cpu := states(way.pair)
			t.Logf("%-7s  there and back p50 %v p99 %v  %.0f MB/s  a state for %d people %v of a processor  %d kB for an idle one, both ends",
				way.name, p50, p99, rate, people, cpu, idle(way.pair)>>10)
		}
	}
}

// mesh starts a host's end of the connections between hosts.
func mesh(t *testing.T, node string) *between.Mesh {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := between.New(listener, node, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// dialled returns both ends of a connection from a to b.
func dialled(t *testing.T, a, b *between.Mesh) (ours, theirs net.Conn) {
	t.Helper()
	ours, err := a.Dial(context.Background(), "b")
	if err == nil {
		theirs, err = b.Listener().Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// thereAndBack returns how long a short message and its answer take.
func thereAndBack(t *testing.T, pair func() (net.Conn, net.Conn)) (p50, p99 time.Duration) {
	ours, theirs := pair()
	var echo sync.WaitGroup
	echo.Go(func() { io.Copy(theirs, theirs) })
	said := make([]byte, 300)
	const times = 20_000
	var took []time.Duration
	for range times {
		began := time.Now()
		ours.Write(said)
		if _, err := io.ReadFull(ours, said); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	ours.Close()
	echo.Wait()
	theirs.Close()
	return took[times/2], took[times*99/100]
}

// throughput returns the throughput of one connection, in MB a second.
func throughput(t *testing.T, pair func() (net.Conn, net.Conn)) float64 {
	ours, theirs := pair()
	const length = 256 << 20
	began := time.Now()
	var writer sync.WaitGroup
	writer.Go(func() { io.CopyN(ours, zeros{}, length) })
	if _, err := io.CopyN(io.Discard, theirs, length); err != nil {
		t.Fatal(err)
	}
	writer.Wait()
	return length / time.Since(began).Seconds() / 1e6
}

const people = 10

// states returns the processor time for sending one state of a room, 2 KiB each, to ten people at
// another host.
func states(pair func() (net.Conn, net.Conn)) time.Duration {
	const states = 2000
	var conns [people]net.Conn
	var readers sync.WaitGroup
	for i := range conns {
		to, from := pair()
		conns[i] = to
		readers.Go(func() { io.CopyN(io.Discard, from, states*2048) })
	}
	state := make([]byte, 2048)
	before := processor()
	for range states {
		for _, c := range conns {
			c.Write(state)
		}
		time.Sleep(100 * time.Microsecond) // a room sends no more at once
	}
	readers.Wait()
	return (processor() - before) / states
}

// idle returns how many bytes of memory an idle connection takes.
func idle(pair func() (net.Conn, net.Conn)) uint64 {
	const many = 500
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := inUse()
	said := make([]byte, 300)
	for range many {
		ours, theirs := pair()
		ours.Write(said)
		io.ReadFull(theirs, said)
	}
	return (inUse() - before) / many
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func overTCP(t *testing.T) (ours, theirs net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err = new(net.Dialer).DialContext(context.Background(), "tcp", l.Addr().String())
	if err == nil {
		theirs, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}
