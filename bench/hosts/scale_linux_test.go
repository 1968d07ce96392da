package hosts

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host"
	"muster/host/wire"
	"muster/internal/await"
	"muster/selection"
)

// These flags are for measuring what one host can carry. A process cannot have descriptors for a
// hundred thousand sockets, so the connections are in memory. The host's own server, gate, handlers
// and WebSockets run as they do over sockets; the kernel's cost is not counted.
//
//	go -C bench test ./hosts -run TestScaleIdle -v -timeout 0 -scale-rooms 10000
//	go -C bench test ./hosts -run TestScaleStarts -v -timeout 0 -scale-starts 60 -scale-rate 2
//	go -C bench test ./hosts -run TestScalePages -v -timeout 0 -scale-pages 1000 -scale-rooms 1
var (
	scaleRooms   = flag.Int("scale-rooms", 20, "rooms of TestScaleIdle and TestScalePages")
	scalePlayers = flag.Int("scale-players", 10, "connected players in each of the rooms")
	scaleFor     = flag.Duration("scale-for", 300*time.Millisecond, "how long TestScaleIdle and TestScalePages look")
	scaleStarts  = flag.Int("scale-starts", 0, "rooms that start in TestScaleStarts; 0 skips it")
	scaleRate    = flag.Float64("scale-rate", 1, "rooms that start a second")
	scaleServers = flag.Int("scale-servers", 30_000, "servers in the one list of all rooms that start")
	scaleGroup   = flag.Int("scale-group", 4, "players of a room that starts")
	scaleLine    = flag.Float64("scale-line", 0,
		"questions a second that each player's own line sends in TestScaleStarts, which then waits for answers; 0 answers at once")
	scalePages   = flag.Int("scale-pages", 20, "open pages of TestScalePages, in turns on its rooms")
	scaleChange  = flag.Duration("scale-change", 500*time.Millisecond, "how often something changes in a room of TestScalePages")
	scaleProfile = flag.String("scale-profile", "", "write a processor profile to this file, and one of memory beside it")
)

// memory makes connections to a host without sockets.
type memory struct {
	calls  chan net.Conn
	closed chan struct{}
	number atomic.Uint32
}

func newMemory() *memory { return &memory{calls: make(chan net.Conn), closed: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.calls:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { close(m.closed); return nil }
func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7777} }

// dial connects a client without a goroutine to the host. The client hears the host's messages at
// once, on the host's goroutine.
func (m *memory) dial(path string, hears func(l *lineInMemory, kind byte, data []byte)) *lineInMemory {
	n := m.number.Add(1)
	l := &lineInMemory{hears: hears, from: netip.AddrPortFrom(netip.AddrFrom4([4]byte{12, byte(n >> 16), byte(n >> 8), byte(n)}), 40_000)}
	l.arrived.L = &l.mu
	fmt.Fprintf(&l.unread, "GET %s HTTP/1.1\r\nHost: 192.0.2.1:7777\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", path)
	m.calls <- l
	return l
}

// lineInMemory is the host's end of a connection, and its client.
type lineInMemory struct {
	from  netip.AddrPort
	hears func(l *lineInMemory, kind byte, data []byte)

	mu       sync.Mutex // guards following: bytes that the host has not read
	arrived  sync.Cond
	unread   bytes.Buffer
	closed   bool
	deadline time.Time
	timer    *time.Timer

	writing  sync.Mutex // guards following: bytes that the client has not read
	upgraded bool
	heard    []byte
}

func (l *lineInMemory) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.unread.Len() == 0 {
		switch {
		case l.closed:
			return 0, io.EOF
		case !l.deadline.IsZero() && !time.Now().Before(l.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		l.arrived.Wait()
	}
	n, err := l.unread.Read(b)
	if l.unread.Len() == 0 {
		l.unread = bytes.Buffer{} // an idle line holds nothing
	}
	return n, err
}

// Write gives the client its frames as they come.
func (l *lineInMemory) Write(b []byte) (int, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.heard = append(l.heard, b...)
	if !l.upgraded {
		if !bytes.HasSuffix(l.heard, []byte("\r\n\r\n")) {
			return len(b), nil
		}
		l.upgraded, l.heard = true, nil
		l.hears(l, 0, nil)
		return len(b), nil
	}
	for len(l.heard) >= 2 {
		kind, length, header := l.heard[0]&15, int(l.heard[1]), 2
		switch length {
		case 126:
			header = 4
		case 127:
			header = 10
		}
		if len(l.heard) < header {
			break
		}
		switch header {
		case 4:
			length = int(binary.BigEndian.Uint16(l.heard[2:]))
		case 10:
			length = int(binary.BigEndian.Uint64(l.heard[2:]))
		}
		if len(l.heard) < header+length {
			break
		}
		data := l.heard[header : header+length]
		if kind == websocket.PingMessage {
			l.says(websocket.PongMessage, data)
		} else {
			l.hears(l, kind, data)
		}
		l.heard = l.heard[header+length:]
	}
	if len(l.heard) == 0 {
		l.heard = nil
	}
	return len(b), nil
}

// says sends the host a frame from the client.
func (l *lineInMemory) says(kind byte, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	frame := []byte{0x80 | kind, 0x80 | byte(len(data))}
	if len(data) > 125 {
		frame = binary.BigEndian.AppendUint16([]byte{0x80 | kind, 0x80 | 126}, uint16(len(data)))
	}
	l.unread.Write(append(frame, 0, 0, 0, 0)) // a mask that changes nothing
	l.unread.Write(data)
	l.arrived.Signal()
}

func (l *lineInMemory) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.arrived.Broadcast()
	return nil
}

func (l *lineInMemory) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7777}
}
func (l *lineInMemory) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(l.from) }

func (l *lineInMemory) SetDeadline(t time.Time) error      { return l.SetReadDeadline(t) }
func (l *lineInMemory) SetWriteDeadline(t time.Time) error { return nil }

func (l *lineInMemory) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = t
	switch {
	case t.IsZero() && l.timer != nil:
		l.timer.Stop()
	case t.IsZero():
	case l.timer == nil:
		l.timer = time.AfterFunc(time.Until(t), func() { l.mu.Lock(); defer l.mu.Unlock(); l.arrived.Broadcast() })
	default:
		l.timer.Reset(time.Until(t))
	}
	l.arrived.Broadcast()
	return nil
}

// inMemory starts a host with connections in memory.
func inMemory(t *testing.T, config host.Config) (*host.Host, *memory) {
	t.Helper()
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	stop := h.Serve(m, nil, func(err error) { t.Error(err) })
	t.Cleanup(func() { stop(); h.Close() })
	return h, m
}

// inUse returns the size of the program's data and stacks after a collection, in bytes.
func inUse() float64 {
	heap, stacks := heapAndStacks()
	return heap + stacks
}

func heapAndStacks() (heap, stacks float64) {
	runtime.GC()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64()), float64(sample[1].Value.Uint64())
}

// profiles writes the profiles that the flag asks for until it is stopped.
func profiles(t *testing.T) (stop func()) {
	t.Helper()
	if *scaleProfile == "" {
		return func() {}
	}
	processor, err := os.Create(*scaleProfile)
	if err == nil {
		err = pprof.StartCPUProfile(processor)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		processor.Close()
		memory, err := os.Create(*scaleProfile + ".memory")
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		runtime.GC()
		pprof.WriteHeapProfile(memory)
	}
}

// fill opens rooms. Each has the given number of players, who all wait for one more.
func fill(t *testing.T, h *host.Host, m *memory, rooms, players int) (codes []string, lines []*lineInMemory) {
	t.Helper()
	var welcomed atomic.Int64
	for range rooms {
		code, _, err := h.Open(wire.Settings{Game: "openarena", By: selection.Mean, Players: players + 1, Strategy: wire.Coordinated})
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
		for i := range players {
			hello, _ := wire.Marshal(wire.Hello{Version: wire.Version, Code: code, Name: fmt.Sprint("player ", i)})
			var hears func(l *lineInMemory, kind byte, data []byte)
			hears = func(l *lineInMemory, kind byte, data []byte) {
				switch {
				case kind == 0:
					l.says(websocket.TextMessage, hello.Data)
				case bytes.HasPrefix(data, []byte(`{"type":"welcome"`)):
					welcomed.Add(1)
				case bytes.HasPrefix(data, []byte(`{"type":"refused","reason":"moved"`)): // the host is ending
				case bytes.Contains(data, []byte(`"key":"refused.held"`)): // the disk is slow: programs try again
					time.AfterFunc(100*time.Millisecond, func() { m.dial("/peer", hears) })
				case bytes.HasPrefix(data, []byte(`{"type":"refused"`)):
					t.Errorf("%s", data)
				}
			}
			lines = append(lines, m.dial("/peer", hears))
		}
	}
	awaits(t, "everyone is welcome", func() bool { return int(welcomed.Load()) == rooms*players || t.Failed() })
	return codes, lines
}

// awaits polls until a condition holds.
func awaits(t *testing.T, what string, is func() bool) {
	t.Helper()
	await.Within(t, 5*time.Minute, is, "not within 5 minutes: %s", what)
}

// TestScaleIdle measures many idle rooms with everyone connected.
func TestScaleIdle(t *testing.T) {
	t.Parallel()
	before := inUse()
	h, m := inMemory(t, host.Config{List: listOf(100)})
	began, busy := time.Now(), cpuTime(t)
	_, _ = fill(t, h, m, *scaleRooms, 0)
	empty := inUse()
	_, lines := fill(t, h, m, *scaleRooms, *scalePlayers)
	opened, opening := time.Since(began), cpuTime(t)-busy
	if *scaleRooms > 100 {
		time.Sleep(15 * time.Second) // by then all were pinged, and the last views are read
	}
	heap, stacks := heapAndStacks()
	used := heap + stacks
	bare := barely(t, len(lines))
	stop := profiles(t)
	began, busy = time.Now(), cpuTime(t)
	ticks := time.NewTicker(10 * time.Millisecond) // players' programs ping every ten seconds
	for i := 0; time.Since(began) < *scaleFor; {
		<-ticks.C
		for due := int(time.Since(began).Seconds() / 10 * float64(len(lines))); i < due; i++ {
			lines[i%len(lines)].says(websocket.PingMessage, nil)
		}
	}
	ticks.Stop()
	spent, lasted := cpuTime(t)-busy, time.Since(began)
	stop()
	rooms, players := float64(*scaleRooms), float64(len(lines))
	t.Logf("%d rooms without players, and %d rooms of %d: opened in %.1f s (processor %.1f s)", *scaleRooms,
		*scaleRooms, *scalePlayers, opened.Seconds(), opening.Seconds())
	t.Logf("memory: %.1f kB a room without players; %.1f kB a player with the room's share, of which %.1f kB "+
		"are the test's own end of the line; %.0f MB in all (%.0f MB of them stacks), resident at most %.0f MB, %d goroutines",
		(empty-before)/rooms/1e3, (used-empty)/players/1e3, bare/players/1e3, (used-before)/1e6, stacks/1e6,
		maxResident(t)/1e6, runtime.NumGoroutine())
	t.Logf("idle: %.3f processor seconds a second", spent.Seconds()/lasted.Seconds())
}

// barely returns what n lines take without a host, in bytes.
func barely(t *testing.T, n int) float64 {
	before := inUse()
	lines := make([]*lineInMemory, n)
	for i := range lines {
		lines[i] = &lineInMemory{hears: func(*lineInMemory, byte, []byte) {}}
		lines[i].SetReadDeadline(time.Now().Add(time.Hour))
	}
	took := inUse() - before
	for _, l := range lines {
		l.Close()
	}
	return took
}

// TestScalePages measures open pages on rooms in which something changes.
func TestScalePages(t *testing.T) {
	t.Parallel()
	h, m := inMemory(t, host.Config{List: listOf(100)})
	codes, _ := fill(t, h, m, *scaleRooms, min(*scalePlayers, 10))
	before := inUse()
	var shown, bytesShown atomic.Int64
	for i := range *scalePages {
		first, _ := json.Marshal(map[string]string{"code": codes[i%len(codes)]})
		m.dial("/live", func(l *lineInMemory, kind byte, data []byte) {
			if kind == 0 {
				l.says(websocket.TextMessage, first)
				return
			}
			shown.Add(1)
			bytesShown.Add(int64(len(data)))
		})
	}
	awaits(t, "every page is shown its room", func() bool { return int(shown.Load()) >= *scalePages })
	used := inUse()
	rest := func() (processor, states float64) {
		was, busy, began := shown.Load(), cpuTime(t), time.Now()
		time.Sleep(*scaleFor)
		lasted := time.Since(began).Seconds()
		return (cpuTime(t) - busy).Seconds() / lasted, float64(shown.Load()-was) / lasted
	}
	idle, beats := rest()
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-time.After(*scaleChange):
			case <-ctx.Done():
				return
			}
			for _, code := range codes {
				s, _ := h.Settings(code)
				s.Map = fmt.Sprint("map", i)
				h.Resettle(code, s)
			}
		}
	})
	stop := profiles(t)
	was := bytesShown.Load()
	busy, states := rest()
	length := float64(bytesShown.Load()-was) / max(1, states*scaleFor.Seconds())
	stop()
	cancel()
	work.Wait()
	t.Logf("%d pages on %d rooms of %d: %.1f kB a page (the test's end included)", *scalePages, *scaleRooms,
		*scalePlayers, (used-before)/float64(*scalePages)/1e3)
	t.Logf("idle: %.3f processor seconds a second, %.0f beats a second; with a change every %v: %.3f, %.0f "+
		"states a second of %.0f bytes, %.0f µs each",
		idle, beats, *scaleChange, busy, states, length, busy/max(1, states)*1e6)
}
