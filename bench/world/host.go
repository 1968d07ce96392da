package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/between"
	"muster/host/cluster"
	"muster/host/cluster/clustertest"
	"muster/host/public"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/clock"
	"muster/selection"
)

// process is a host that runs, or has run, under a name of the cluster.
type process struct {
	w     *world
	name  string
	node  string // in the network, where each process is a node of its own
	line  *clustertest.Line
	far   atomic.Int64 // ns, by which messages of NATS are late
	clock *machine
	stop  func(kill bool)
	ended chan struct{}
	// isKilled says that nobody hears of it any more; its goroutines end as those of a process do that ends in
	// good order.
	isKilled atomic.Bool
}

func (w *world) door(i int) string { return fmt.Sprintf("10.0.0.%d:7800", i+1) }

// game is the game of all rooms.
const game = "openarena"

// start runs a host until it is stopped. Like a service manager it tries again if the host does not
// come up.
func (w *world) start(i int) *process {
	w.lives++
	p := &process{w: w, name: string(rune('a' + i)), clock: w.machines[i], ended: make(chan struct{})}
	if w.nats != nil {
		p.line = w.nats.Line()
	}
	p.node = fmt.Sprint(p.name, w.lives)
	ctx, cancel := context.WithCancel(context.Background())
	if w.disk != nil {
		w.disk.kills(func() { p.stop(true) })
	}
	p.stop = func(kill bool) {
		if kill {
			p.isKilled.Store(true)
			if p.line != nil {
				p.line.Set(clustertest.Mute)
				p.line.Cut()
			}
			w.net.reset(p.node)
		}
		cancel()
	}
	w.work.Go(func() {
		defer close(p.ended)
		defer w.net.reset(p.node)
		for ctx.Err() == nil {
			if err := p.serve(ctx, w.web(i), w.door(i)); err != nil && ctx.Err() == nil {
				w.tell("host "+p.name, "does not start: %v", err)
				rest(ctx, time.Second)
			}
		}
	})
	return p
}

// set changes the process's line to NATS, unless it was killed: what its goroutines still write reaches nobody.
func (p *process) set(state clustertest.LineState) {
	if !p.isKilled.Load() {
		p.line.Set(state)
	}
}

func (p *process) serve(ctx context.Context, web, door string) error {
	w := p.w
	listener := w.net.listen(p.node, web)
	defer listener.Close()
	log := slog.New(&teller{of: p})
	limits := public.Limits{Rooms: 100, PerAddress: 100, Players: 16, Servers: 100,
		Games: []public.Game{{Game: wire.Game{ID: game, Name: "OpenArena"}, By: selection.Mean, Listed: true}}}
	config := host.Config{
		Logger: log, Clock: clock.From(p.clock), Public: &limits,
		Searches: 2, // on any machine
		List: func(context.Context, string) ([]discovery.Server, error) {
			time.Sleep(delay(link{p.node, "list"})) // otherwise it meets what has made a room ask
			return slices.Clone(w.servers), nil
		},
		Games: []wire.Game{{ID: game, Name: "OpenArena"}},
		Names: []string{"muster.example"},
	}
	if w.disk != nil {
		file, err := w.disk.open()
		if err != nil {
			return err
		}
		file.Warn = func(err error) { log.Error("the store", "error", err) }
		if damage := file.Damage(); damage != nil {
			log.Error("the store was damaged", "error", damage)
		}
		w.disk.says(file.Damage())
		config.Store = slow{file, p.node}
	} else {
		mesh, err := between.New(w.net.listen(p.node, door), p.name, log)
		if err != nil {
			return err
		}
		defer mesh.Close()
		ip, _, _ := net.SplitHostPort(door)
		mesh.Reach = func(ctx context.Context, _, to string) (net.Conn, error) { return w.net.dial(ctx, p.node, ip+":0", to) }
		w.canonical(mesh.Door(nil), door+" key-of-"+p.name)
		c, err := cluster.Open(ctx, cluster.Config{
			URL: w.nats.URL(), Dial: p.dialNATS, Node: p.name, Logger: log, Clock: clock.From(p.clock),
			Door: func(net.IP) string { return mesh.Door(nil) },
		})
		if err != nil {
			return err
		}
		mesh.Join(c.Doors)
		config.Store, config.Relay, config.Loads, limits.Hosts = c, mesh, c.Loads, c.Hosts
	}
	h, err := host.New(config)
	if err != nil {
		config.Store.Close()
		return err
	}
	stop := h.Serve(listener, nil, func(error) {})
	w.tell("host "+p.name, "begins")
	time.Sleep(700 * time.Nanosecond) // even if it was killed as it began: its rooms begin, and only then end
	<-ctx.Done()
	hurry, done := context.WithTimeout(context.Background(), 2500*time.Millisecond)
	h.Drain(hurry)
	done()
	stop()
	err = h.Close()
	return err
}

// dialNATS connects to a server of NATS, which may be far away.
func (p *process) dialNATS(network, address string) (net.Conn, error) {
	line, err := p.line.Dial(network, address)
	far := time.Duration(p.far.Load())
	if err != nil || far == 0 {
		return line, err
	}
	way := link{address, p.node}
	return &farLine{Conn: line, w: p.w, in: &half{of: p.w.net, way: way, delay: far + delay(way), changed: make(chan struct{})}}, nil
}

// farLine is a connection on which what comes takes long, once the client is in: before that it waits under
// a lock, and would stop the clock.
type farLine struct {
	net.Conn
	w    *world
	in   *half
	isIn atomic.Bool
}

func (c *farLine) Read(b []byte) (int, error) {
	if c.isIn.Load() {
		return c.in.read(b)
	}
	n, err := c.Conn.Read(b)
	if bytes.Contains(b[:n], []byte("PONG")) {
		c.isIn.Store(true)
		c.Conn.SetReadDeadline(time.Time{})
		c.w.work.Go(c.carry)
	}
	return n, err
}

// carry passes on what comes.
func (c *farLine) carry() {
	b := make([]byte, 64<<10)
	for {
		n, err := c.Conn.Read(b)
		if err != nil {
			c.in.end(err)
			return
		}
		c.in.write(b[:n])
	}
}

func (c *farLine) Close() error {
	c.in.kill()
	return c.Conn.Close()
}

func (c *farLine) SetReadDeadline(t time.Time) error {
	if !c.isIn.Load() {
		return c.Conn.SetReadDeadline(t)
	}
	c.in.until(t)
	return nil
}

// teller is a log handler that writes into the trace.
type teller struct {
	of   *process
	with string
}

func (*teller) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (t *teller) WithGroup(string) slog.Handler                  { return t }
func (t *teller) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *t
	for _, a := range attrs {
		more.with += " " + a.String()
	}
	return &more
}

func (t *teller) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "NATS" {
		return nil // as often as goroutines of the client still write on a connection that is closed
	}
	text := []string{r.Level.String(), r.Message + t.with}
	r.Attrs(func(a slog.Attr) bool { text = append(text, a.String()); return true })
	// If a store is out of reach in two ways at once, either is the reason.
	what, _, _ := strings.Cut(strings.Join(text, " "), store.ErrAway.Error())
	if !t.of.isKilled.Load() {
		t.of.w.tell("host "+t.of.name, "%s", what)
	}
	return nil
}

// world is what a night happens in.
type world struct {
	net      *network
	nats     *clustertest.Model // nil in a night on one machine, which has a disk
	stops    [natsServers]int   // how many faults have stopped each of its servers
	disk     *disk
	machines []*machine
	hosts    []*process
	gone     []int    // hosts that stay away
	quiet    []*group // rooms in which nobody is, one of each host
	spans    []span
	calm     time.Duration // when the world was whole again, 0 before
	servers  []discovery.Server
	lives    int
	work     sync.WaitGroup // of hosts and players
	orders   sync.WaitGroup // of organisers
	began    time.Time

	mu     sync.Mutex // guards following
	trace  []line
	owners map[string]string // by code, the host that last saved a room
	names  []string          // pairs: a text that is random, and how the trace writes it
	seen   []sighting
	looks  []look
	words  []word
	claims map[string]*epochs // by code and epoch
	rivals []string           // what is wrong with them
	// isOver says that what follows is not told: all ends at once.
	isOver bool
}

// line is an entry of the trace.
type line struct {
	at        time.Duration
	who, what string
}

func (w *world) tell(who, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isOver {
		return
	}
	w.trace = append(w.trace, line{time.Since(w.began), who, fmt.Sprintf(format, args...)})
	if len(w.trace) > steps {
		w.isOver = true
		go w.hang(fmt.Sprint("the night does not end within ", steps, " steps"))
	}
}

// canonical makes the trace write a random text in another way.
func (w *world) canonical(random, as string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = append(w.names, random, as)
}

// claimNumbers matches the numbers of claims, which a host makes at the same time to several rooms.
var claimNumbers = regexp.MustCompile(`(\\"claim\\":)[0-9]+`)

// saves matches a room's record with its owner.
var saves = regexp.MustCompile(`^[^"]*"muster\.room\.(\w+)\\n.{0,80}\\"owner\\":\\"(\w)\\"`)

// Write takes over what the model of JetStream traces.
func (w *world) Write(text []byte) (int, error) {
	what := strings.TrimSuffix(string(text), "\n")[len("15:04:05.000000000 "):]
	if saved := saves.FindStringSubmatch(what); saved != nil {
		w.mu.Lock()
		w.owners[saved[1]] = saved[2]
		w.mu.Unlock()
	}
	w.tell("nats", "%s", claimNumbers.ReplaceAllString(what, `${1}_`))
	return len(text), nil
}

// keeps notes what NATS keeps.
func (w *world) keeps(subject string, header []byte) {
	_, text, is := strings.Cut(string(header), "Muster-Room: ")
	code, isRoom := strings.CutPrefix(subject, "muster.room.")
	if !is || !isRoom {
		return
	}
	var r struct {
		claim
		Epoch uint64
	}
	text, _, _ = strings.Cut(text, "\r\n")
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(err)
	}
	w.held(code, r.Epoch, r.claim)
}

func (w *world) web(i int) string { return fmt.Sprintf("10.0.0.%d:7777", i+1) }

// rest waits, and reports whether ctx is still alive.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// list returns the servers of the world: of each of its cities some.
func list(servers int) (all []discovery.Server) {
	for i := range servers {
		all = append(all, discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, byte(i % cities), byte(i + 1)}), 27960),
			Country: []string{"DE", "FR", "US", "JP"}[i%cities%4], ASN: uint32(64500 + i%cities),
		})
	}
	return all
}

const cities = 6
