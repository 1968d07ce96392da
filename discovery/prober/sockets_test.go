package prober

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/discovery"
)

// serve runs a game server on addr until the test ends. The test decides on the answer
// to the nth query.
func serve(t *testing.T, addr string, answer func(nth int, query string) []string) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for nth := 1; ; nth++ {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			for _, reply := range answer(nth, string(buf[:n])) {
				conn.WriteTo([]byte(reply), from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func closedPort(t *testing.T, ip string) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func openProber(t *testing.T, options Options) *Prober {
	t.Helper()
	before := runtime.NumGoroutine()
	p, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				return
			}
		}
	})
	return p
}

// hasIPv6 reports whether the machine has a loopback address of that family; many
// containers have none.
func hasIPv6() bool {
	conn, err := net.ListenPacket("udp6", "[::1]:0")
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func servers(addrs ...netip.AddrPort) []discovery.Server {
	servers := make([]discovery.Server, len(addrs))
	for i, addr := range addrs {
		servers[i].Addr = addr
	}
	return servers
}

func echo(_ int, query string) []string { return []string{markedReply(query)} }

func TestSocketsBothFamilies(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}})
	addrs := []string{"127.0.0.1:0", "127.0.0.2:0", "127.0.0.3:0"}
	if hasIPv6() {
		addrs[2] = "[::1]:0"
	}
	list := servers(serve(t, addrs[0], echo), serve(t, addrs[1], echo), serve(t, addrs[2], echo))
	began := time.Now()
	for _, r := range scan(t, p, list) {
		if took := time.Since(began); r.State != discovery.Answered || r.RTT <= 0 || r.RTT > took || r.Info.Name != "arena" {
			t.Errorf("server %d is %v, RTT %v of %v in all", r.Server, r.State, r.RTT, took)
		}
	}
	if s := p.Stats(); s.PacketsSent != 3 || s.PacketsReceived != 3 || s.BytesSent != 60 || s.BytesReceived != 81 {
		t.Errorf("counted %+v", s)
	}
}

func TestSocketsChallenge(t *testing.T) {
	p := openProber(t, Options{Protocol: plain{}})
	addr := serve(t, "127.0.0.1:0", func(_ int, query string) []string {
		if query == "ask|" {
			return []string{"challenge|\x00\xff\x80x"}
		}
		return []string{"info|" + query[4:]}
	})
	if r := scan(t, p, servers(addr))[0]; r.Info == nil || r.Info.Name != "\x00\xff\x80x" {
		t.Errorf("got %+v", r)
	}
}

// The reply comes from another port and from another address of the machine.
func TestSocketsForeignSender(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}, Retries: -1, Timeout: 100 * time.Millisecond})
	to := p.LocalAddrs()[0].Port()
	addr := serve(t, "127.0.0.1:0", func(_ int, query string) []string {
		for _, from := range []string{"127.0.0.1:0", "127.0.0.9:0"} {
			conn, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", to))
			if err != nil {
				t.Error(from, err)
				continue
			}
			conn.Write([]byte(markedReply(query)))
			conn.Close()
		}
		return nil
	})
	if r := scan(t, p, servers(addr))[0]; r.State != discovery.Lost || p.Stats().Strays != 2 {
		t.Errorf("the server is %v, with %d strays", r.State, p.Stats().Strays)
	}
}

func TestSocketsRefused(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}, Rate: 5000})
	other := "127.0.0.4"
	if hasIPv6() {
		other = "::1"
	}
	list := servers(closedPort(t, "127.0.0.1"), serve(t, "127.0.0.1:0", echo), closedPort(t, "127.0.0.2"), closedPort(t, other),
		serve(t, net.JoinHostPort(other, "0"), echo), closedPort(t, "127.0.0.3"), serve(t, "127.0.0.3:0", echo))
	refused := discovery.Refused
	if runtime.GOOS != "linux" {
		refused = discovery.Lost // an unconnected socket sees no ICMP errors
	}
	want := []discovery.State{refused, discovery.Answered, refused, refused, discovery.Answered, refused, discovery.Answered}
	for _, r := range scan(t, p, list) {
		if r.State != want[r.Server] {
			t.Errorf("%v is %v, want %v", list[r.Server].Addr, r.State, want[r.Server])
		}
	}
}

// All ports are closed: each write finds the error of the one before.
func TestSocketsManyRefused(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}, Rate: maxRate, Retries: -1})
	list := make([]discovery.Server, 3000)
	port := closedPort(t, "127.0.0.1").Port()
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, byte(i >> 8), byte(i)}), port)
	}
	states := map[discovery.State]int{}
	for _, r := range scan(t, p, list) {
		states[r.State]++
	}
	// Linux limits how many ICMP errors it sends, so some are silent.
	if s := p.Stats(); s.Unreachable > 0 || s.PacketsSent != len(list) || runtime.GOOS == "linux" && s.Refused == 0 {
		t.Errorf("states %v, counted %+v", states, s)
	}
}

// A prober that is bound to one family loses the servers of the other, and says so
// once.
func TestSocketsOneFamily(t *testing.T) {
	v4, v6 := serve(t, "127.0.0.1:0", echo), netip.MustParseAddrPort("[::1]:9")
	locals := map[string][]discovery.State{"127.0.0.5": {discovery.Answered, discovery.Lost, discovery.Lost}}
	if hasIPv6() {
		v6 = serve(t, "[::1]:0", echo)
		locals["::1"] = []discovery.State{discovery.Lost, discovery.Answered, discovery.Answered}
	}
	for local, want := range locals {
		var log bytes.Buffer
		p := openProber(t, Options{Protocol: marked{}, LocalAddr: netip.MustParseAddr(local), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for _, r := range scan(t, p, servers(v4, v6, v6)) {
			if r.State != want[r.Server] {
				t.Errorf("from %s server %d is %v, want %v", local, r.Server, r.State, want[r.Server])
			}
		}
		if addrs := p.LocalAddrs(); len(addrs) != 1 || addrs[0].Addr().String() != local || addrs[0].Port() == 0 {
			t.Errorf("bound to %v", addrs)
		}
		if p.Stats().Unreachable != 1 || strings.Count(log.String(), "no socket for this address family") != 1 {
			t.Errorf("%d are unreachable, logged %q", p.Stats().Unreachable, &log)
		}
	}
}

// TestSocketsKeepPort checks that all servers and all runs see one source port.
func TestSocketsKeepPort(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}})
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list := servers(conn.LocalAddr().(*net.UDPAddr).AddrPort())
	for range 3 {
		done := make(chan []discovery.Result)
		go func() { done <- scan(t, p, list) }()
		buf := make([]byte, 100)
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil || from.Port() != p.LocalAddrs()[0].Port() {
			t.Errorf("asked from %v, bound to %v: %v", from, p.LocalAddrs(), err)
		}
		conn.WriteToUDPAddrPort([]byte(markedReply(string(buf[:n]))), from)
		if r := (<-done)[0]; r.State != discovery.Answered {
			t.Errorf("the server is %v", r.State)
		}
	}
}

func TestSocketsCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int32
	addr := serve(t, "127.0.0.1:0", func(int, string) []string { asked.Add(1); cancel(); return nil })
	p := openProber(t, Options{Protocol: marked{}, Rate: 2000})
	err := p.Run(ctx, servers(addr), discovery.NewConventional(1), nil)
	if !errors.Is(err, context.Canceled) || asked.Load() != 1 {
		t.Errorf("ended with %v after %d queries", err, asked.Load())
	}
	again := servers(serve(t, "127.0.0.1:0", echo))
	if r := scan(t, p, again)[0]; r.State != discovery.Answered {
		t.Errorf("the run after a cancelled one finds the server %v", r.State)
	}
}

func TestSocketsClosedDuringRun(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}})
	silent := serve(t, "127.0.0.2:0", func(int, string) []string { return nil })
	list := servers(serve(t, "127.0.0.1:0", echo), silent)
	err := p.Run(t.Context(), list, discovery.NewConventional(2), func(discovery.Result) { p.Close() })
	if !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

// A datagram of the largest UDP size, and an empty one.
func TestSocketsSizes(t *testing.T) {
	p := openProber(t, Options{Protocol: marked{}})
	addr := serve(t, "127.0.0.1:0", func(_ int, query string) []string {
		long := markedReply(query)
		return []string{"", long + string(make([]byte, 65507-len(long)))}
	})
	if r := scan(t, p, servers(addr))[0]; r.State != discovery.Answered || p.Stats().BytesReceived != 65507 || p.Stats().Malformed != 1 {
		t.Errorf("the server is %v, counted %+v", r.State, p.Stats())
	}
}

// TestNoSocket checks that a player without any socket reads why, without the names of
// system calls.
func TestNoSocket(t *testing.T) {
	_, err := openSockets(netip.MustParseAddr("192.0.2.77")) // not this machine's
	var no *SocketError
	if !errors.As(err, &no) || !strings.HasPrefix(err.Error(),
		"prober: this machine gives Muster no UDP at 192.0.2.77: ") || strings.Contains(err.Error(), "bind") {
		t.Errorf("error %v", err)
	}
	denied := (&SocketError{Err: &net.OpError{Op: "listen", Net: "udp4", Err: os.NewSyscallError("wsaioctl", syscall.EPERM)}}).Error()
	if want := "prober: this machine gives Muster no UDP, and nothing can be measured without: " + syscall.EPERM.Error(); denied != want {
		t.Errorf("error %q, want %q", denied, want)
	}
}
