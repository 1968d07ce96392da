package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/net/nettest"
)

// coreNATS starts a server without JetStream, and returns its URL.
func coreNATS(t testing.TB) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

// soon is a beat for tests in which hosts die, and calm one for those in which none does,
// however busy the machine is.
const (
	soon = 100 * time.Millisecond
	calm = time.Minute
)

func relayAt(t testing.TB, url, node string, beat time.Duration) *Relay {
	t.Helper()
	conn, err := nats.Connect(url, nats.ReconnectBufSize(-1))
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRelay(conn, "muster", node, beat)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// between dials from one relay to another and returns both ends.
func between(t testing.TB, from, to *Relay) (ours, theirs net.Conn) {
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

// TestRelayIsConn: what net.Conn promises holds, between two hosts and within one.
func TestRelayIsConn(t *testing.T) {
	t.Parallel()
	url := coreNATS(t)
	a, b := relayAt(t, url, "a", calm), relayAt(t, url, "b", calm)
	for name, to := range map[string]*Relay{"two hosts": b, "one host": a} {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				c1, c2 = between(t, a, to)
				return c1, c2, func() { c1.Close(); c2.Close() }, nil
			})
		})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for host, l := range a.links {
		if len(l.conns) > 0 {
			t.Errorf("%d connections with %s are left", len(l.conns), host)
		}
	}
}

// TestRelaySlowReader: who does not read stops the writer, and costs no more memory than
// the window; other connections go on.
func TestRelaySlowReader(t *testing.T) {
	url := coreNATS(t)
	a, b := relayAt(t, url, "a", calm), relayAt(t, url, "b", calm)
	ours, theirs := between(t, a, b)
	ours.SetWriteDeadline(time.Now().Add(5 * soon))
	n, err := ours.Write(make([]byte, 4*relayWindow))
	if n != relayWindow || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes were written to who does not read, and %v; want %d", n, err, relayWindow)
	}
	quick, other := between(t, a, b)
	go quick.Write([]byte("hello"))
	if _, err := io.ReadFull(other, make([]byte, 5)); err != nil {
		t.Errorf("another connection: %v", err)
	}
	ours.SetWriteDeadline(time.Time{})
	go ours.Write(make([]byte, 4*relayWindow))
	if _, err := io.ReadFull(theirs, make([]byte, 5*relayWindow)); err != nil {
		t.Errorf("read at last: %v", err)
	}
}

// TestRelayHalfClose: who says no more still hears.
func TestRelayHalfClose(t *testing.T) {
	url := coreNATS(t)
	ours, theirs := between(t, relayAt(t, url, "a", calm), relayAt(t, url, "b", calm))
	ours.Write([]byte("question"))
	ours.(*relayed).CloseWrite()
	if asked, err := io.ReadAll(theirs); string(asked) != "question" || err != nil {
		t.Errorf("heard %q, %v", asked, err)
	}
	if _, err := ours.Write([]byte("more")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("said more: %v", err)
	}
	theirs.Write([]byte("answer"))
	theirs.Close()
	if answer, err := io.ReadAll(ours); string(answer) != "answer" || err != nil {
		t.Errorf("heard %q, %v", answer, err)
	}
}

// TestRelayEnds: whatever takes a connection away, both ends that are left notice within
// a few beats, and new connections are made.
func TestRelayEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		// happens to b, to which a has a connection.
		happens func(t *testing.T, url string, a, b *Relay)
		want    error
		// theirs: the other end has to notice, too.
		theirs bool
	}{
		{"a frame from a is lost", func(t *testing.T, _ string, a, b *Relay) { lose(a, "b") }, errLost, true},
		{"a frame from b is lost", func(t *testing.T, _ string, a, b *Relay) { lose(b, "a") }, errLost, true},
		{"b is killed", func(t *testing.T, _ string, a, b *Relay) { b.conn.Close() }, errNobody, false},
		{"b is stopped", func(t *testing.T, _ string, a, b *Relay) { hush(b) }, errSilent, false},
		{"b was started again", func(t *testing.T, url string, a, b *Relay) { hush(b); relayAt(t, url, "b", soon) }, errGone, false},
		{"NATS lets go of a", func(t *testing.T, _ string, a, b *Relay) { a.conn.ForceReconnect(); lose(b, "a") }, errLost, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := coreNATS(t)
			a, b := relayAt(t, url, "a", soon), relayAt(t, url, "b", soon)
			ours, theirs := between(t, a, b)
			theirs.Write([]byte("unread"))
			if _, err := io.ReadFull(ours, make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			tt.happens(t, url, a, b)
			if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, tt.want) {
				t.Errorf("a's end: %v, want %v", err, tt.want)
			}
			if _, err := ours.Write([]byte("more")); err == nil {
				t.Error("a's end still takes something")
			}
			if !tt.theirs {
				return
			}
			if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, errLost) {
				t.Errorf("b's end: %v, want %v", err, errLost)
			}
			ours, theirs = between(t, a, b)
			go ours.Write([]byte("again"))
			if _, err := io.ReadFull(theirs, make([]byte, 5)); err != nil {
				t.Errorf("a new connection: %v", err)
			}
		})
	}
}

// lose has a frame to a host be lost.
func lose(r *Relay, host string) {
	r.mu.Lock()
	l := r.links[host]
	r.mu.Unlock()
	l.out.Lock()
	l.sent++
	l.out.Unlock()
}

// hush has a relay neither say nor hear anything, and stay where it is, as one whose
// machine is cut off.
func hush(r *Relay) {
	r.cancel()
	r.work.Wait()
	r.mu.Lock()
	r.links = map[string]*link{"nobody": {relay: r, conns: map[connection]*relayed{}}}
	r.heard.Unsubscribe()
	sub, err := r.conn.SubscribeSync(r.subject(r.node, "*"))
	if err != nil {
		panic(err)
	}
	r.conn.Flush()
	r.heard = sub
	r.mu.Unlock()
}

// TestRelayDial: who is not there, or takes nobody, says so at once.
func TestRelayDial(t *testing.T) {
	url := coreNATS(t)
	a, b := relayAt(t, url, "a", time.Minute), relayAt(t, url, "b", time.Minute)
	if _, err := a.Dial(t.Context(), "nobody"); !errors.Is(err, errNobody) {
		t.Errorf("nobody: %v", err)
	}
	between(t, a, b)
	ended := make(chan error)
	go func() { _, err := b.Listener().Accept(); ended <- err }()
	b.Listener().Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("who listens when the listener is closed: %v", err)
	}
	if _, err := a.Dial(t.Context(), "b"); !errors.Is(err, errBusy) {
		t.Errorf("a host that closes: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Dial(ctx, "c"); !errors.Is(err, context.Canceled) && !errors.Is(err, errNobody) {
		t.Errorf("given up: %v", err)
	}
	a.Close()
	if _, err := a.Dial(t.Context(), "b"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := a.Listener().Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestRelayMany: many connections at once, each with its own bytes.
func TestRelayMany(t *testing.T) {
	t.Parallel()
	url := coreNATS(t)
	a, b := relayAt(t, url, "a", calm), relayAt(t, url, "b", calm)
	var work sync.WaitGroup
	defer work.Wait()
	const many, bytesEach = 200, 100_000
	for i := range many {
		ours, theirs := between(t, a, b)
		said := bytes.Repeat([]byte{byte(i)}, bytesEach)
		work.Go(func() { ours.Write(said); ours.(*relayed).CloseWrite() })
		work.Go(func() {
			if heard, err := io.ReadAll(theirs); err != nil || !bytes.Equal(heard, said) {
				t.Errorf("connection %d: %d bytes, %v", i, len(heard), err)
			}
		})
	}
}

// FuzzRelay: whatever a host says, another one lives, and keeps its memory.
func FuzzRelay(f *testing.F) {
	url := coreNATS(f)
	a, b := relayAt(f, url, "a", time.Hour), relayAt(f, url, "b", time.Hour)
	frame := func(kind byte, number uint64, data string) []byte {
		head := binary.BigEndian.AppendUint64(nil, b.instance)
		head = append(binary.BigEndian.AppendUint64(head, 1), kind)
		return append(binary.BigEndian.AppendUint64(head, number), data...)
	}
	for kind := range byte(frameHere + 2) {
		f.Add(frame(kind, 1, "12345678"))
		f.Add(frame(kind, 1|dialedBit, ""))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, said []byte) {
		ours, theirs := between(t, a, b)
		defer theirs.Close()
		defer ours.Close()
		a.mu.Lock()
		l := a.links["b"]
		if next := l.received; len(said) >= frameHead { // or all that comes later would count as lost
			said = slices.Clone(said)
			binary.BigEndian.PutUint64(said, l.instance)
			binary.BigEndian.PutUint64(said[8:], next)
			l.received--
		}
		a.mu.Unlock()
		m := nats.NewMsg(a.subject("a", "b"))
		m.Data = said
		a.receive(m)
		c := ours.(*relayed)
		c.mu.Lock()
		if cap(c.unread) > 2*relayWindow {
			t.Errorf("%d bytes are kept", cap(c.unread))
		}
		c.mu.Unlock()
	})
}

// TestRelayListenerCloses: who waits for connections hears that none come any more, or a
// host that drains would wait for it forever.
func TestRelayListenerCloses(t *testing.T) {
	a := relayAt(t, coreNATS(t), "a", soon)
	listener := a.Listener()
	ended := make(chan error)
	go func() { _, err := listener.Accept(); ended <- err }()
	listener.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want net.ErrClosed", err)
	}
	if err := listener.Close(); err != nil {
		t.Error("closed once more: ", err)
	}
}
