package delayed

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

const ms = time.Millisecond

// TestQueue checks when packets leave a queue, also while the delay changes.
func TestQueue(t *testing.T) {
	for name, steps := range map[string][]struct {
		comes string // added at now, if not empty
		held  time.Duration
		now   time.Duration
		goes  string
		wait  time.Duration
	}{
		"nothing":     {{"", 10 * ms, 5 * ms, "", forever}},
		"one":         {{"a", 10 * ms, 5 * ms, "", 10 * ms}, {"", 10 * ms, 14 * ms, "", ms}, {"", 10 * ms, 15 * ms, "a", 0}, {"", 10 * ms, 15 * ms, "", forever}},
		"no delay":    {{"a", 0, 5 * ms, "a", 0}},
		"it shortens": {{"a", 40 * ms, 0, "", 40 * ms}, {"b", 0, ms, "a", 0}, {"c", 0, ms, "b", 0}, {"", 0, ms, "c", 0}},
		"it grows":    {{"a", 10 * ms, 0, "", 10 * ms}, {"b", 50 * ms, 9 * ms, "", 41 * ms}, {"", 50 * ms, 50 * ms, "a", 0}, {"", 50 * ms, 50 * ms, "", 9 * ms}},
	} {
		var q queue
		for i, s := range steps {
			if s.comes != "" {
				q.add(s.now, []byte(s.comes))
			}
			if data, wait := q.take(s.held, s.now); string(data) != s.goes || wait != s.wait {
				t.Errorf("%s, step %d: %q goes, %v to wait; want %q, %v", name, i, data, wait, s.goes, s.wait)
			}
		}
	}
	var q queue
	for i := range maxPackets + 1 {
		if q.add(0, nil) != (i < maxPackets) {
			t.Fatalf("packet %d", i)
		}
	}
	if q = (queue{}); !q.add(0, make([]byte, maxBytes)) || q.add(0, []byte{1}) {
		t.Error("the queue's bytes have no bound, or a smaller one")
	}
}

// TestLine checks what a line passes on between real sockets, and what it tells.
func TestLine(t *testing.T) {
	server, game, stranger := open(t), open(t), open(t)
	told := make(chan string, 10)
	line, err := Open(addrOf(server), func(s sentence.Sentence) { told <- s.Key })
	if err != nil {
		t.Fatal(err)
	}
	if other, err := Open(addrOf(stranger), nil); err != nil || other.Addr() == line.Addr() || other.Close() != nil {
		t.Fatalf("two servers at %v: %v", line.Addr(), err)
	}
	say(t, game, line.Addr(), "hello")
	_, relay := hear(t, server)

	line.SetDelay(40 * ms)
	began := time.Now()
	for _, size := range []int{0, 1, 1450, 1472, 1492, 1500, 8000} { // the kernel's loopback has room
		data := bytes.Repeat([]byte{byte(size)}, size)
		say(t, game, line.Addr(), string(data))
		if got, _ := hear(t, server); got != string(data) {
			t.Errorf("of %d bytes %d came", size, len(got))
		}
		say(t, server, relay, string(data))
		if got, from := hear(t, game); got != string(data) || from != line.Addr() {
			t.Errorf("of the server's %d bytes %d came from %v", size, len(got), from)
		}
	}
	if took := time.Since(began); took < 7*40*ms {
		t.Errorf("7 round trips took %v", took)
	}

	say(t, stranger, line.Addr(), "a second game")
	if key := <-told; key != "even.second-game" {
		t.Error("it tells", key)
	}
	say(t, stranger, relay, "another server")
	if key := <-told; key != "even.elsewhere" {
		t.Error("it tells", key)
	}
	const sent = 200
	for i := range sent {
		line.SetDelay(time.Duration(i%7) * 5 * ms)
		say(t, game, line.Addr(), string(rune(i)))
	}
	for i := range sent { // neither of the strangers' packets, and all in their order
		if got, _ := hear(t, server); got != string(rune(i)) {
			t.Fatalf("after %d packets comes %q", i, got)
		}
	}

	if err := line.Close(); err != nil {
		t.Error(err)
	}
	say(t, game, addrOf(server), "direct")
	if got, from := hear(t, server); got != "direct" || from != addrOf(game) {
		t.Errorf("%q comes from %v", got, from)
	}
}

func open(t *testing.T) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func addrOf(conn *net.UDPConn) netip.AddrPort { return conn.LocalAddr().(*net.UDPAddr).AddrPort() }

func say(t *testing.T, conn *net.UDPConn, to netip.AddrPort, data string) {
	if _, err := conn.WriteToUDPAddrPort([]byte(data), to); err != nil {
		t.Error(err)
	}
}

// hear returns the next packet and its sender.
func hear(t *testing.T, conn *net.UDPConn) (string, netip.AddrPort) {
	b := make([]byte, maxDatagram)
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, from, err := conn.ReadFromUDPAddrPort(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n]), from
}
