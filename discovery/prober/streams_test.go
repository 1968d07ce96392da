package prober

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/prober/probertest"
)

// talking listens on a port of its own for the length of a test, and calls handle for
// each connection.
func talking(t testing.TB, handle func(net.Conn)) discovery.Server {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
				conn.Read(make([]byte, 1)) // until the other side ends it
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return discovery.Server{Addr: l.Addr().(*net.TCPAddr).AddrPort()}
}

// answers speaks the protocol, and waits before each of its two answers.
func answers(description, echo time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			switch word, rest, _ := strings.Cut(line, " "); word {
			case "what?\n":
				time.Sleep(description)
				fmt.Fprint(conn, "i a")
				fmt.Fprint(conn, "m arena\n")
			case "again":
				time.Sleep(echo)
				fmt.Fprint(conn, "echo "+rest)
			}
		}
	}
}

func says(text string) func(net.Conn) { return func(conn net.Conn) { fmt.Fprint(conn, text) } }

func streamProber(t testing.TB, o Options) *Prober {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// notAlwaysLate repeats a measurement until it is right. A busy machine may be late, though not
// always.
func notAlwaysLate(t *testing.T, measure func() (isRight bool, what string)) {
	t.Helper()
	const patience = 30 * time.Second
	for begun := time.Now(); ; {
		isRight, what := measure()
		if isRight {
			return
		}
		if time.Since(begun) > patience {
			t.Fatal(what)
		}
	}
}

// isAbout reports whether an RTT is one on this machine, of somebody who waits for a time.
func isAbout(rtt, wait time.Duration) bool { return rtt >= wait && rtt <= wait+100*ms }

// TestStreams checks the results of servers that are asked over TCP.
func TestStreams(t *testing.T) {
	closed := talking(t, func(net.Conn) {})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Addr = l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	for _, c := range []struct {
		name     string
		protocol discovery.Stream
		server   discovery.Server
		state    discovery.State
		about    time.Duration // lower bound of the RTT; the upper is 100 ms more
		told     string
	}{
		{"a server", probertest.Lines{}, talking(t, answers(0, 0)), discovery.Answered, 0, "arena"},
		{"one that is slow to describe itself", probertest.Lines{}, talking(t, answers(150*ms, 0)), discovery.Answered, 0, "arena"},
		{"one behind another's door", probertest.Lines{}, talking(t, answers(0, 150*ms)), discovery.Answered, 150 * ms, "arena"},
		{"one that ends the conversation", probertest.Lines{}, talking(t, func(c net.Conn) {
			says("i am arena\n")(c)
			c.(*net.TCPConn).CloseWrite()
		}), discovery.Answered, 0, "arena"},
		{"another protocol's", probertest.Lines{}, talking(t, says("HTTP/1.1 400 Bad Request\r\n")), discovery.Lost, 0, ""},
		{"one that never ends", probertest.Lines{}, talking(t, func(c net.Conn) {
			for chunk := []byte(strings.Repeat("x", 1<<16)); ; {
				if _, err := c.Write(chunk); err != nil {
					return
				}
			}
		}), discovery.Lost, 0, ""},
		{"one that hangs up", probertest.Lines{}, talking(t, func(c net.Conn) { c.Close() }), discovery.Lost, 0, ""},
		{"one that is mute", probertest.Lines{}, talking(t, func(net.Conn) {}), discovery.Lost, 0, ""},
		{"one that keeps its echo", probertest.Lines{}, talking(t, answers(0, time.Hour)), discovery.Answered, 0, "arena"},
		{"nobody", probertest.Lines{}, closed, discovery.Refused, 0, ""},
		{"somebody who listens", probertest.Connecting{}, talking(t, func(net.Conn) {}), discovery.Answered, 0, ""},
		{"nobody listens", probertest.Connecting{}, closed, discovery.Refused, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := streamProber(t, Options{Protocol: c.protocol, Timeout: 400 * ms, Retries: 1})
			var results []discovery.Result
			notAlwaysLate(t, func() (bool, string) {
				results = scan(t, p, []discovery.Server{c.server})
				isRight := len(results) == 1 && results[0].State == c.state && (c.state != discovery.Answered || isAbout(results[0].RTT, c.about))
				return isRight, fmt.Sprintf("%+v, want %v", results, c.state)
			})
			if info := results[0].Info; (info != nil) != (c.state == discovery.Answered) || info != nil && info.Name != c.told {
				t.Errorf("told %+v, want %q", info, c.told)
			}
		})
	}
}

// TestStreamRepeats checks that a failed connection is tried again, and that the RTT is
// that of the successful one.
func TestStreamRepeats(t *testing.T) {
	t.Parallel()
	notAlwaysLate(t, func() (bool, string) {
		var connections atomic.Int32
		server := talking(t, func(c net.Conn) {
			if connections.Add(1) == 1 {
				c.Close() // as if it had never come
				return
			}
			answers(0, 0)(c)
		})
		p := streamProber(t, Options{Protocol: probertest.Lines{}, Timeout: 300 * ms})
		results := scan(t, p, []discovery.Server{server})
		return results[0].State == discovery.Answered && isAbout(results[0].RTT, 0) && p.Stats().Retries == 1,
			fmt.Sprintf("%+v after %d retries", results, p.Stats().Retries)
	})
}

// TestStreamLate checks that an echo which is late once, as after a lost packet, is no
// distance. An echo that is late twice is.
func TestStreamLate(t *testing.T) {
	t.Parallel()
	for late, want := range map[int32]time.Duration{1: 0, 2: 150 * ms} {
		notAlwaysLate(t, func() (bool, string) {
			var connections atomic.Int32
			server := talking(t, func(c net.Conn) {
				delay := time.Duration(0)
				if connections.Add(1) <= late {
					delay = 150 * ms
				}
				answers(0, delay)(c)
			})
			p := streamProber(t, Options{Protocol: probertest.Lines{}, Timeout: 400 * ms})
			results := scan(t, p, []discovery.Server{server})
			return results[0].State == discovery.Answered && isAbout(results[0].RTT, want) && connections.Load() == 2,
				fmt.Sprintf("late %d times: %+v after %d connections, want %v after 2", late, results, connections.Load(), want)
		})
	}
}

// TestStreamsEnd checks that a run that is cut short leaves no connection behind, and
// that the next run gets no reply of it.
func TestStreamsEnd(t *testing.T) {
	var mute []discovery.Server
	for range 50 {
		mute = append(mute, talking(t, func(net.Conn) {}))
	}
	ours := talking(t, answers(0, 0))
	p := streamProber(t, Options{Protocol: probertest.Lines{}, Rate: 10000})
	ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
	defer cancel()
	if err := p.Run(ctx, mute, discovery.NewConventional(len(mute)), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	for _, protocol := range []int{1, 2} {
		if results := scan(t, p, []discovery.Server{ours}); results[0].State != discovery.Answered {
			t.Errorf("run %d after it: %+v", protocol, results)
		}
	}
	s := p.sockets.(*streams)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.talks) > 0 {
		t.Errorf("%d connections are left", len(s.talks))
	}
}

// TestStreamLimits checks that connections are paced more slowly, that their number is
// bounded, and that they count towards an address's allowance.
func TestStreamLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, most := 0, 0
		sky := newSky(func(sighting) []packet {
			open++
			most = max(most, open)
			return nil
		})
		p := virtual(t, Options{Protocol: probertest.Lines{}, Rate: 10000, Retries: -1}, leaving{sky, &open})
		start := time.Now()
		scan(t, p, list(4000))
		if took := time.Since(start); most > maxStreams || took < 4*time.Second {
			t.Errorf("%d at a time, in %v", most, took)
		}
		forbidden := 0
		for _, r := range scan(t, p, portsOf(victim, 500)) {
			if r.State == discovery.Forbidden {
				forbidden++
			}
		}
		if forbidden < 400 {
			t.Errorf("%d of 500 ports of an address were not asked, want 400 at the least", forbidden)
		}
	})
}

// leaving counts the servers that are released.
type leaving struct {
	*sky
	open *int
}

func (l leaving) release(netip.AddrPort) { *l.open-- }

// TestKeysAreNotAsked checks that nothing is sent to an address that only tells an entry from others.
func TestKeysAreNotAsked(t *testing.T) {
	p, err := New(Options{Protocol: probertest.Connecting{}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	servers := []discovery.Server{{Addr: discovery.Placeholder(1)}, {Addr: discovery.Placeholder(2)}}
	var results []discovery.Result
	err = p.Run(t.Context(), servers, discovery.NewConventional(len(servers)), func(r discovery.Result) {
		results = append(results, r)
	})
	if err != nil || len(results) != 2 || results[0].State != discovery.Forbidden || results[1].State != discovery.Forbidden ||
		p.Stats().PacketsSent > 0 {
		t.Errorf("%+v, %+v, %v", results, p.Stats(), err)
	}
}
