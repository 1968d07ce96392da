package echo_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/protocol/beacon"
	"muster/internal/await"
	"muster/internal/echo"
)

// beaconAt runs a beacon on loopback until the test ends.
func beaconAt(t testing.TB, b echo.Bounds) (*echo.Beacon, netip.AddrPort) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l := echo.New("frankfurt", b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- l.Serve(ctx, conn) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l, conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// asker returns a socket at a loopback address.
func asker(t testing.TB, from string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)})
	if err != nil {
		t.Skipf("this system has no %s: %v", from, err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// TestProber checks that the prober treats a beacon as a server that answers.
func TestProber(t *testing.T) {
	_, at := beaconAt(t, echo.Bounds{})
	p, err := prober.New(prober.Options{Protocol: beacon.Protocol{}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var got discovery.Result
	if err := p.Run(ctx, []discovery.Server{{Addr: at}}, discovery.NewConventional(1), func(r discovery.Result) { got = r }); err != nil {
		t.Fatal(err)
	}
	if got.State != discovery.Answered || got.Info == nil || got.Info.Name != "frankfurt" {
		t.Errorf("%+v", got)
	}
}

// TestBothKinds checks that a socket for IPv4 and IPv6 answers both, and many questions at once.
func TestBothKinds(t *testing.T) {
	conn, err := net.ListenUDP("udp", nil)
	if err != nil {
		t.Fatal(err)
	}
	go echo.New("here", echo.Bounds{Each: 1000}).Serve(t.Context(), conn)
	for _, addr := range []string{"127.0.0.1", "::1"} {
		to := netip.AddrPortFrom(netip.MustParseAddr(addr), conn.LocalAddr().(*net.UDPAddr).AddrPort().Port())
		from, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		if err != nil {
			t.Logf("this system has no %s: %v", addr, err)
			continue
		}
		defer from.Close()
		from.SetDeadline(time.Now().Add(10 * time.Second))
		for range 100 {
			from.Write(beacon.Protocol{}.AppendQuery(nil, 1, nil))
		}
		for i := range 100 {
			if n, err := from.Read(make([]byte, 100)); n != 20 || err != nil {
				t.Fatalf("%s, answer %d: %d bytes, %v", addr, i, n, err)
			}
		}
	}
}

// TestFlood checks that a flooding network gets a bounded number of answers, that another gets all of its own, and that
// anything but a question gets nothing.
func TestFlood(t *testing.T) {
	const each, sent, asked = 10, 2000, 20
	l, at := beaconAt(t, echo.Bounds{Each: each})
	flooder, other := asker(t, "127.0.0.2"), asker(t, "127.0.0.3")
	question := beacon.Protocol{}.AppendQuery(nil, 1, nil)
	answered := func(conn *net.UDPConn) {
		b := make([]byte, 100)
		n, from, err := conn.ReadFromUDPAddrPort(b)
		if err != nil || from != at || n > len(question) || !bytes.Equal(b[8:16], question[8:16]) {
			t.Fatalf("%q from %v: %v", b[:n], from, err)
		}
	}
	began, mine := time.Now(), 0
	for i := range sent {
		flooder.WriteToUDPAddrPort(question, at)
		flooder.WriteToUDPAddrPort([]byte("Muster!1........"), at)
		if i%(sent/asked) == 0 {
			other.WriteToUDPAddrPort(question, at)
			answered(other)
			mine++
		}
	}
	other.WriteToUDPAddrPort(question, at)
	answered(other)                                  // comes after the whole flood
	most := each * (4 + time.Since(began).Seconds()) // a bucket holds three seconds' answers
	if got := float64(l.Answered.Load() - uint64(mine) - 1); got > most || got < each {
		t.Errorf("the flooder got %v answers, of %v at most", got, most)
	}
	if l.HeldBack.Load() == 0 || l.Strange.Load() == 0 {
		t.Errorf("%d held back, %d strange", l.HeldBack.Load(), l.Strange.Load())
	}
}

// TestAll checks that all networks together have a bound, too.
func TestAll(t *testing.T) {
	l, at := beaconAt(t, echo.Bounds{Each: 1000, All: 1})
	conn := asker(t, "127.0.0.1")
	question := beacon.Protocol{}.AppendQuery(nil, 1, nil)
	for range 100 {
		conn.WriteToUDPAddrPort(question, at)
	}
	await.Until(t, func() bool { return l.Answered.Load()+l.HeldBack.Load() >= 100 }, "not all questions are heard")
	if got := l.Answered.Load(); got < 1 || got > 10 {
		t.Errorf("%d of 100 were answered", got)
	}
}
