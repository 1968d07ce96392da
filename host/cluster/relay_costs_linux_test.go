package cluster

import (
	"context"
	"flag"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

var measureRelay = flag.Bool("relay", false, "compare connections over NATS with plain TCP")

// TestRelayCosts compares connections between hosts over NATS with TCP between them:
// time there and back, bytes a second, and processor time of what a room says to a page
// or peer at another host, as the gateway passes it on.
func TestRelayCosts(t *testing.T) {
	if !*measureRelay {
		t.Skip("without -relay")
	}
	url := coreNATS(t)
	a, b := relayAt(t, url, "a", relayBeat), relayAt(t, url, "b", relayBeat)
	for _, way := range []struct {
		name string
		pair func() (net.Conn, net.Conn)
	}{
		{"TCP", func() (net.Conn, net.Conn) { return overTCP(t) }},
		{"NATS", func() (net.Conn, net.Conn) { return between(t, a, b) }},
	} {
		ours, theirs := way.pair()
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

		ours, theirs = way.pair()
		const length = 256 << 20
		began := time.Now()
		go func() { io.CopyN(ours, zeros{}, length) }()
		if _, err := io.CopyN(io.Discard, theirs, length); err != nil {
			t.Fatal(err)
		}
		rate := length / time.Since(began).Seconds() / 1e6

		// A state of a room for ten people at another host, 2 KiB each: five of them a second.
		const people, states = 10, 2000
		var conns [people]net.Conn
		var readers sync.WaitGroup
		for i := range conns {
			to, from := way.pair()
			conns[i] = to
			readers.Go(func() { io.CopyN(io.Discard, from, states*2048) })
		}
		state := make([]byte, 2048)
		before := processor()
		for range states {
			for _, c := range conns {
				c.Write(state)
			}
			time.Sleep(100 * time.Microsecond)
		}
		readers.Wait()
		cpu := (processor() - before) / states
		t.Logf("%-4s  there and back p50 %v p99 %v  %.0f MB/s  a state for %d people %v of a processor", way.name, took[times/2], took[times*99/100], rate, people, cpu)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// processor is the time that this process has computed, NATS in it.
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
