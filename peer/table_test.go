package peer_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/await"
	"muster/internal/leak"
	"muster/peer"
	"muster/selection"
)

// table is a host on a real socket that a test can cut off and restart.
type table struct {
	*testing.T
	file     string
	listener *cutListener
	host     *host.Host
	server   *http.Server
	serving  sync.WaitGroup
	code     string
	// addresses are what the host announces of itself.
	addresses []netip.AddrPort
}

const listed = 200

func newTable(t *testing.T, players int) *table {
	t.Helper()
	leak.Check(t)
	tb := &table{T: t, file: filepath.Join(t.TempDir(), "rooms.db")}
	tb.start("127.0.0.1:0")
	tb.code, _, _ = tb.host.Open(wire.Settings{
		Name:     "Friday",
		Game:     "openarena",
		By:       selection.Mean,
		Players:  players,
		Strategy: "conventional",
	})
	t.Cleanup(tb.stop)
	return tb
}

func (tb *table) start(address string) {
	tb.Helper()
	store, err := store.Open(tb.file)
	if err != nil {
		tb.Fatal(err)
	}
	if tb.host, err = host.New(host.Config{List: list, Store: store, Addresses: func() []netip.AddrPort { return tb.addresses }}); err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.listener = &cutListener{Listener: listener}
	tb.server = &http.Server{Handler: tb.host.Handler()}
	tb.serving.Go(func() { tb.server.Serve(tb.listener) })
}

func (tb *table) stop() {
	tb.server.Close()
	tb.serving.Wait()
	if err := tb.host.Close(); err != nil {
		tb.Error(err)
	}
}

// restart stops the host, and starts another with its store and address.
func (tb *table) restart() {
	tb.Helper()
	address := tb.listener.Addr().String()
	tb.stop()
	tb.start(address)
}

// room waits until the room satisfies is, which may check other things as well.
func (tb *table) room(what string, is func(wire.Document) bool) wire.Document {
	tb.Helper()
	var room wire.Document
	await.Until(tb, func() bool {
		now, _ := tb.host.Room(tb.code)
		room = now.Document()
		return is(room)
	}, "%s did not come about; the room is %+v", what, &room)
	return room
}

func member(room wire.Document, name string) wire.Member {
	for _, m := range room.Members {
		if m.Name == name {
			return m
		}
	}
	return wire.Member{}
}

// cutListener records connections, to cut them.
type cutListener struct {
	net.Listener
	mu    sync.Mutex // guards the fields below
	conns []net.Conn
}

func (l *cutListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

// cut closes all connections without a word.
func (l *cutListener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		conn.Close()
	}
	l.conns = nil
}

func list(context.Context, string) ([]discovery.Server, error) {
	servers := make([]discovery.Server, listed)
	for i := range servers {
		servers[i].Addr = address(i)
	}
	return servers, nil
}

func address(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960)
}

// seat is one player, with a prober that knows all answers.
type seat struct {
	tb      *table
	options peer.Options
	ended   chan error

	mu     sync.Mutex // guards the fields below
	token  string
	asked  map[netip.AddrPort]int // probes while discovering
	events []peer.Event
	// hold, if not nil, runs before each probe of a discovery.
	hold func(ctx context.Context, n int)
	// says is how a launch ends.
	says   wire.LaunchState
	detail string
	// gamePort is the port that servers name for players, if it differs from the query port.
	gamePort uint16
}

func newSeat(tb *table, name string) *seat {
	s := &seat{tb: tb, ended: make(chan error, 1), asked: map[netip.AddrPort]int{}, says: wire.LaunchStarted}
	s.options = peer.Options{
		URL: "ws://" + tb.listener.Addr().String() + "/peer", Code: tb.code, Name: name, Once: true,
		SaveToken: func(token string) { s.locked(func() { s.token = token }) },
		NewProber: func(game string, _ func(time.Duration)) (peer.Prober, error) {
			if game != "openarena" {
				return nil, fmt.Errorf("unknown game %q", game)
			}
			return s, nil
		},
		NewPlan: func(_ wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
			return discovery.NewConventional(len(servers)), nil
		},
		Launch: func(ctx context.Context, launch wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
			tell(wire.LaunchAsking, sentence.Sentence{})
			tell(s.says, sentence.Plain(s.detail))
		},
		Events: func(e peer.Event) { s.locked(func() { s.events = append(s.events, e) }) },
	}
	peer.Hurry(&s.options, time.Minute)
	return s
}

func (s *seat) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// sit runs the peer until it ends or leave is called.
func (s *seat) sit() (leave context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	options := s.options
	options.Token = s.token
	go func() { s.ended <- peer.Run(ctx, options) }()
	return cancel
}

// done waits for the peer's end.
func (s *seat) done() error {
	s.tb.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		s.tb.Fatalf("%s does not come to an end", s.options.Name)
		return nil
	}
}

// Run answers all probes at once, with an RTT that depends on player and server.
func (s *seat) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	discovering := len(servers) == listed
	for n := 0; ; n++ {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			return nil
		}
		if discovering && s.hold != nil {
			s.hold(ctx, n)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		addr := servers[probe.Server].Addr
		if discovering {
			s.locked(func() { s.asked[addr]++ })
		}
		if w, ok := plan.(discovery.SendObserver); ok {
			w.Asked(probe.Server)
		}
		result := s.answer(addr)
		result.Server, result.Order, result.Phase = probe.Server, n+1, probe.Phase
		plan.Observe(result)
		seen(result)
	}
}

func (s *seat) Close() error { return nil }

func (s *seat) Share(int)            {}
func (s *seat) Lead(discovery.Reach) {}

// answer returns a server's answer. Every seventh server refuses everyone, without delay. ann is near the first
// servers, the others near the last.
func (s *seat) answer(addr netip.AddrPort) discovery.Result {
	server := int(addr.Addr().As4()[3])
	if server%7 == 3 {
		return discovery.Result{State: discovery.Refused}
	}
	ms := 10 + server
	if s.options.Name != "ann" {
		ms = 10 + (listed-server)*2
	}
	return discovery.Result{State: discovery.Answered, RTT: time.Duration(ms) * time.Millisecond, Info: &discovery.Info{
		Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 2, MaxPlayers: 16, GamePort: s.gamePort,
	}}
}

// askedOnce checks that no server was asked twice, and how many were asked.
func (s *seat) askedOnce(want int) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, n := range s.asked {
		if n != 1 {
			s.tb.Errorf("%s asked %s %d times", s.options.Name, addr, n)
		}
	}
	if len(s.asked) != want {
		s.tb.Errorf("%s asked %d servers, want %d", s.options.Name, len(s.asked), want)
	}
}

// gate holds a prober at its n-th probe until it is opened.
type gate struct {
	n       int
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

func newGate(n int) *gate {
	return &gate{n: n, reached: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) hold(ctx context.Context, n int) {
	if n < g.n {
		return
	}
	g.once.Do(func() { close(g.reached) })
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}

func (s *seat) joins() int {
	joins := 0
	s.locked(func() {
		for _, e := range s.events {
			if _, ok := e.(peer.Joined); ok {
				joins++
			}
		}
	})
	return joins
}

var errBroken = errors.New("broken")
