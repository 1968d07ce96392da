package between

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/await"
	"muster/internal/leak"
)

// leases holds the entrances of all hosts, as a store does.
type leases struct {
	mu    sync.Mutex // guards following
	doors map[string]string
}

func (l *leases) all() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.doors)
}

func (l *leases) set(node, door string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doors == nil {
		l.doors = map[string]string{}
	}
	if l.doors[node] = door; door == "" {
		delete(l.doors, node)
	}
}

// lines is a log to which several goroutines write.
type lines struct {
	mu   sync.Mutex // guards following
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// alone starts a mesh without a lease.
func alone(t *testing.T, node string) (*Mesh, *lines) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return on(t, listener, node)
}

func on(t *testing.T, listener net.Listener, node string) (*Mesh, *lines) {
	t.Helper()
	log := new(lines)
	m, err := New(listener, node, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, log
}

// join starts a mesh that has a lease.
func join(t *testing.T, l *leases, node string) (*Mesh, *lines) {
	t.Helper()
	m, log := alone(t, node)
	l.set(node, m.Door(nil))
	m.Join(l.all)
	return m, log
}

// pair dials from one mesh to another and returns both ends.
func pair(t testing.TB, from, to *Mesh) (ours, theirs net.Conn) {
	t.Helper()
	ours, err := from.Dial(context.Background(), to.node)
	if err == nil {
		theirs, err = to.Listener().Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// TestDial checks that hosts reach each other, and themselves, by name from the moment that both
// have a lease.
func TestDial(t *testing.T) {
	leak.Check(t)
	var l leases
	a, _ := join(t, &l, "a")
	if _, err := a.Dial(t.Context(), "b"); err != errNobody {
		t.Errorf("a host without a lease: %v", err)
	}
	b, _ := join(t, &l, "b")
	for _, to := range []*Mesh{a, b} {
		ours, theirs := pair(t, a, to)
		go fmt.Fprint(ours, "there")
		said := make([]byte, 5)
		if _, err := io.ReadFull(theirs, said); err != nil || string(said) != "there" {
			t.Errorf("%s hears %q, %v", to.node, said, err)
		}
		go fmt.Fprint(theirs, "again")
		if _, err := io.ReadFull(ours, said); err != nil || string(said) != "again" {
			t.Errorf("a hears %q from %s, %v", said, to.node, err)
		}
		ours.Close()
		if _, err := theirs.Read(said); err == nil {
			t.Error("the other end stays open")
		}
	}
	b.Listener().Close()
	if _, err := b.Listener().Accept(); err != net.ErrClosed {
		t.Errorf("a closed listener: %v", err)
	}
	if m := a.neighbours["b"]; len(m.conns) > 0 {
		t.Errorf("%d connections are left", len(m.conns))
	}
}

// TestStrangers checks that a mesh admits only certificates of a lease and speaks to no host with
// another certificate. Whatever strangers send, other connections go on.
func TestStrangers(t *testing.T) {
	leak.Check(t)
	var l leases
	a, _ := join(t, &l, "a")
	b, _ := join(t, &l, "b")
	address, key, _ := strings.Cut(b.Door(nil), " ")
	stranger, _ := alone(t, "c")
	stranger.Join(l.all)
	if _, err := stranger.Dial(t.Context(), "b"); err == nil {
		t.Error("a host without a lease is let in")
	}
	for what, certificates := range map[string][]tls.Certificate{"none": nil, "another": {stranger.certificate}} {
		config := &tls.Config{InsecureSkipVerify: true, Certificates: certificates, NextProtos: []string{carries}}
		conn, err := tls.Dial("tcp", address, config)
		if err == nil {
			conn.Write([]byte("?GET / HTTP/1.1\r\n\r\n"))
			conn.SetReadDeadline(time.Now().Add(time.Minute))
			if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("who shows the certificate %s is answered", what)
			}
			conn.Close()
		}
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: b\r\n\r\n")
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if said, _ := io.ReadAll(conn); strings.Contains(string(said), "HTTP") {
		t.Errorf("who speaks without TLS is told %q", said)
	}
	conn.Close()
	_, other, _ := strings.Cut(stranger.Door(nil), " ")
	l.set("b", address+" "+other)
	if _, err := a.Dial(t.Context(), "b"); err == nil {
		t.Error("somebody else at a host's address is spoken to")
	}
	l.set("b", address+" "+key)
	pair(t, a, b)
}

// TestAnew checks that hosts reach a restarted host by its new certificate.
func TestAnew(t *testing.T) {
	leak.Check(t)
	var l leases
	a, _ := join(t, &l, "a")
	b, _ := join(t, &l, "b")
	ours, _ := pair(t, a, b)
	b.Close()
	if _, err := ours.Read(make([]byte, 1)); err == nil {
		t.Error("a connection to a host that has ended stays")
	}
	again, _ := join(t, &l, "b")
	pair(t, a, again)
	pair(t, again, a)
}

// segment is a network inside this process, so that a test on it needs no time. Once it is cut it drops what is sent,
// as a failed network does, on the connections that there are; nobody is reached any more.
type segment struct {
	addr *net.TCPAddr
	asks chan net.Conn
	cut  chan struct{}
	over chan struct{}
}

func newSegment(port int) *segment {
	return &segment{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, make(chan net.Conn), make(chan struct{}), make(chan struct{})}
}

func (s *segment) Addr() net.Addr { return s.addr }

func (s *segment) Accept() (net.Conn, error) {
	select {
	case conn := <-s.asks:
		return conn, nil
	case <-s.over:
		return nil, net.ErrClosed
	}
}

func (s *segment) Close() error {
	close(s.over)
	return nil
}

// reach connects to the host that listens on the segment.
func (s *segment) reach(ctx context.Context) (net.Conn, error) {
	select {
	case <-s.cut:
		<-ctx.Done()
		return nil, ctx.Err()
	default:
	}
	ours, theirs := net.Pipe()
	here, there := s.end(ours), s.end(theirs)
	err := net.ErrClosed
	select {
	case s.asks <- there:
		return here, nil
	case <-s.over:
	case <-ctx.Done():
		err = ctx.Err()
	}
	here.Close()
	there.Close()
	return nil, err
}

// end returns an end of a connection whose writer, unlike a pipe's, does not wait for the reader.
func (s *segment) end(of net.Conn) net.Conn {
	d := &dropping{Conn: of, sent: make(chan []byte, 64), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case b := <-d.sent:
				select {
				case <-s.cut:
				default:
					of.Write(b)
				}
			case <-d.closed:
				return
			}
		}
	}()
	return d
}

// dropping is an end of a connection on a segment.
type dropping struct {
	net.Conn
	sent   chan []byte
	closed chan struct{}
	once   sync.Once
}

func (d *dropping) Write(b []byte) (int, error) {
	select {
	case d.sent <- bytes.Clone(b):
		return len(b), nil
	case <-d.closed:
		return 0, net.ErrClosed
	}
}

func (d *dropping) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Conn.Close()
}

// TestSilence checks that connections to a silent host end although nobody closed them. The log
// says once that the host is unreachable, and once that it is back.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leases
		wire := newSegment(1)
		another := &segment{&net.TCPAddr{IP: wire.addr.IP, Port: 2}, wire.asks, make(chan struct{}), wire.over}
		a, log := on(t, newSegment(3), "a")
		b, _ := on(t, wire, "b")
		a.Reach = func(ctx context.Context, _, address string) (net.Conn, error) {
			if address == another.addr.String() {
				return another.reach(ctx)
			}
			return wire.reach(ctx)
		}
		b.Reach = func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
		l.set("a", a.Door(nil))
		l.set("b", b.Door(nil))
		a.Join(l.all)
		b.Join(l.all)
		passes := func() {
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		passes()
		if !log.has("this host reaches another\" host=b") {
			t.Fatalf("a does not say that it reaches b: %s", log)
		}
		ours, _ := pair(t, a, b)
		close(wire.cut)
		cut := time.Now()
		if _, err := ours.Read(make([]byte, 1)); err == nil {
			t.Error("b speaks through a wire that is cut")
		}
		if took := time.Since(cut); took > beatEvery+2*answerTime {
			t.Errorf("the connection has ended after %v", took)
		}
		passes()
		if !log.has("does not reach another") || a.Unreached() != 1 {
			t.Errorf("a counts %d who are not reached, and says %s", a.Unreached(), log)
		}
		_, key, _ := strings.Cut(b.Door(nil), " ")
		l.set("b", another.addr.String()+" "+key)
		passes()
		if a.Unreached() != 0 {
			t.Errorf("a still counts %d", a.Unreached())
		}
		for said, times := range map[string]int{"this host reaches another\" host=b": 2, "does not reach another: who comes here for that one's rooms waits\" host=b": 1} {
			if n := strings.Count(log.String(), said); n != times {
				t.Errorf("%q is said %d times, want %d: %s", said, n, times, log)
			}
		}
		pair(t, a, b)
	})
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestForgotten checks that beats to a host without a lease stop once no connection to it is left.
func TestForgotten(t *testing.T) {
	t.Parallel()
	var l leases
	a, _ := join(t, &l, "a")
	b, _ := join(t, &l, "b")
	ours, _ := pair(t, a, b)
	known := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.neighbours["b"] != nil
	}
	l.set("b", "")
	if !known() {
		t.Error("a host with connections is forgotten")
	}
	ours.Close()
	await.Until(t, func() bool { return !known() }, "a host without a lease is still asked")
}

// everywhere claims to listen on all addresses.
type everywhere struct{ net.Listener }

func (everywhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv6unspecified, Port: 7779} }

// TestDoor checks that the door names the address where a host listens, or else where it is seen.
func TestDoor(t *testing.T) {
	m, _ := alone(t, "a")
	if door := m.Door(net.IPv4(10, 0, 0, 7)); !strings.HasPrefix(door, m.listener.Addr().String()+" ") {
		t.Errorf("one address: %s", door)
	}
	m, _ = on(t, everywhere{m.listener}, "a")
	if door := m.Door(net.IPv4(10, 0, 0, 7)); !strings.HasPrefix(door, "10.0.0.7:7779 ") {
		t.Errorf("seen at 10.0.0.7: %s", door)
	}
}
