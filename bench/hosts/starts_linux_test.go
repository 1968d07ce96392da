package hosts

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/bench/worlds"
	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/selection"
)

// aloneRooms is how many rooms TestScaleStarts first starts one after the other, on an otherwise
// idle host.
const aloneRooms = 8

// TestScaleStarts starts rooms at a rate, with one long list. Their players answer at once, or as
// fast as -scale-line lets them. Some rooms first start alone, for comparison.
func TestScaleStarts(t *testing.T) {
	if *scaleStarts == 0 {
		t.Skip("no -scale-starts")
	}
	list := worlds.List(*scaleServers)
	h, m := inMemory(t, host.Config{
		List:        func(context.Context, string) ([]discovery.Server, error) { return slices.Clone(list), nil },
		MetricsFrom: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	})
	var players atomic.Int64 // the players' processor time, in ns
	bystander := newBystander(t, h, m)
	var alone []time.Duration
	quiet := bystander.looks(t)
	for n := range aloneRooms {
		began := time.Now()
		startRoom(t, h, m, -1-n, list, &players)
		alone = append(alone, time.Since(began))
	}
	t.Logf("alone: %s to choose; %s", figures(alone), quiet())
	players.Store(0)
	before, planned := inUse(), bystander.planned(t)
	var mu sync.Mutex // guards following
	var took []time.Duration
	var work sync.WaitGroup
	peak := watch(t, heapNow)
	stop := profiles(t)
	crowded := bystander.looks(t)
	began, busy := time.Now(), cpuTime(t)
	for n := range *scaleStarts {
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / *scaleRate * float64(time.Second)))))
		work.Go(func() {
			since := time.Now()
			startRoom(t, h, m, n, list, &players)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(since))
		})
	}
	work.Wait()
	wall, spent := time.Since(began), cpuTime(t)-busy
	said := crowded()
	stop()
	most := peak()
	planned = bystander.planned(t) - planned
	after := inUse()
	rooms := float64(len(took))
	t.Logf("%d rooms of %d over %d servers, %.1f a second: %s to choose, worst %.2f s; all in %.1f s; %s",
		len(took), *scaleGroup, *scaleServers, *scaleRate, figures(took), slices.Max(took).Seconds(), wall.Seconds(), said)
	t.Logf("processor: %.0f ms a room, of which the planner's %.0f ms and at most %.0f ms the players'; memory: "+
		"%.2f MB a room that stays open, heap at most %.0f MB, resident at most %.0f MB",
		spent.Seconds()/rooms*1000, planned/rooms*1000, float64(players.Load())/rooms/1e6, (after-before)/rooms/1e6, most/1e6, maxResident(t)/1e6)
}

// figures returns the median and the 99th percentile.
func figures(took []time.Duration) string {
	took = slices.Sorted(slices.Values(took))
	at := func(share float64) time.Duration {
		return took[min(len(took)-1, int(share*float64(len(took))))]
	}
	digits := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1000, 'f', 1, 64) }
	return fmt.Sprintf("p50 %s ms, p99 %s ms", digits(at(.5)), digits(at(.99)))
}

// bystander is in a quiet room of its own, and measures how long the host takes to answer.
type bystander struct {
	memory       *memory
	code, secret string
	pings        chan time.Time // when pongs came
	line         *lineInMemory
	http         http.Client
}

func newBystander(t *testing.T, h *host.Host, m *memory) *bystander {
	t.Helper()
	code, secret, err := h.Open(wire.Settings{Game: "openarena", By: selection.Mean, Players: 3})
	if err != nil {
		t.Fatal(err)
	}
	b := &bystander{memory: m, code: code, secret: secret, pings: make(chan time.Time, 1)}
	b.http.Transport = pipes(m)
	t.Cleanup(b.http.CloseIdleConnections)
	b.line = b.joins("bystander")
	return b
}

// pipes returns a transport for HTTP to the host in memory.
func pipes(m *memory) *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		m.calls <- onThisMachine{there}
		return here, nil
	}}
}

// onThisMachine is a connection from this machine.
type onThisMachine struct{ net.Conn }

func (onThisMachine) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// joins enters the room, for the first time or again, and waits for the welcome.
func (b *bystander) joins(name string) *lineInMemory {
	hello, _ := wire.Marshal(wire.Hello{Version: wire.Version, Code: b.code, Name: name, Token: name + strings.Repeat("x", 26)})
	welcome := make(chan struct{})
	welcomed := sync.OnceFunc(func() { close(welcome) })
	l := b.memory.dial("/peer", func(l *lineInMemory, kind byte, data []byte) {
		switch {
		case kind == 0:
			l.says(websocket.TextMessage, hello.Data)
		case kind == websocket.PongMessage:
			b.pings <- time.Now()
		case bytes.HasPrefix(data, []byte(`{"type":"welcome"`)):
			welcomed()
		}
	})
	<-welcome
	return l
}

// looksEvery is how often a bystander pings, reads the room and joins.
const looksEvery = 50 * time.Millisecond

// looks begins to measure; saw stops it and returns the results.
func (b *bystander) looks(t *testing.T) (saw func() string) {
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	again := func(what string, do func() time.Duration) func() string {
		var took []time.Duration
		work.Go(func() {
			for every := time.Tick(looksEvery); ctx.Err() == nil; <-every {
				took = append(took, do())
			}
		})
		return func() string { return what + " " + figures(took) }
	}
	since := func(do func()) func() time.Duration {
		return func() time.Duration { began := time.Now(); do(); return time.Since(began) }
	}
	reports := []func() string{
		again("a ping", func() time.Duration {
			began := time.Now()
			b.line.says(websocket.PingMessage, nil)
			return (<-b.pings).Sub(began)
		}),
		again("the room as JSON", since(func() { b.get(t, "/api/rooms/"+b.code) })),
		again("a join", since(func() { b.joins("guest") })),
	}
	return func() string {
		cancel()
		work.Wait()
		var all []string
		for _, r := range reports {
			all = append(all, r())
		}
		return strings.Join(all, ", ")
	}
}

func (b *bystander) get(t *testing.T, path string) string {
	request, _ := http.NewRequest(http.MethodGet, "http://192.0.2.1:7777"+path, nil)
	request.Header.Set("Authorization", "Bearer "+b.secret)
	answer, err := b.http.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer answer.Body.Close()
	var text strings.Builder
	if _, err := bufio.NewReader(answer.Body).WriteTo(&text); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", path, answer.Status, err)
	}
	return text.String()
}

// planned returns the planner's total time, in seconds, from the host's metrics.
func (b *bystander) planned(t *testing.T) float64 {
	_, after, _ := strings.Cut(b.get(t, "/metrics"), "\nmuster_planner_seconds_sum ")
	value, _, _ := strings.Cut(after, "\n")
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Error(err)
		return math.NaN()
	}
	return seconds
}

// startRoom takes a room from its first player to its launch.
func startRoom(t *testing.T, h *host.Host, m *memory, n int, list []discovery.Server, spent *atomic.Int64) {
	code, _, err := h.Open(wire.Settings{Game: "openarena", By: selection.Mean, Players: *scaleGroup, Strategy: wire.Coordinated})
	if err != nil {
		t.Error(err)
		return
	}
	var launched sync.WaitGroup
	launched.Add(*scaleGroup)
	for i := range *scaleGroup {
		p := &inMemoryPlayer{
			name:     fmt.Sprintf("player %d of %d", i, n),
			list:     list,
			began:    time.Now(),
			launched: sync.OnceFunc(launched.Done),
			inbox:    make(chan wire.Message, 64),
			spent:    spent,
		}
		hello, _ := wire.Marshal(wire.Hello{Version: wire.Version, Code: code, Name: p.name})
		p.line = m.dial("/peer", func(l *lineInMemory, kind byte, data []byte) {
			switch {
			case kind == 0:
				l.says(websocket.TextMessage, hello.Data)
			case kind != websocket.TextMessage || bytes.HasPrefix(data, []byte(`{"type":"room"`)):
				if bytes.Contains(data, []byte(`"stage":"failed"`)) {
					t.Errorf("%s: %.300s", p.name, data)
					p.launched()
				}
			default:
				if message, err := wire.Unmarshal(wire.Frame{Data: bytes.Clone(data)}); err == nil {
					p.inbox <- message
				}
			}
		})
		go p.plays()
	}
	began := time.Now()
	launched.Wait()
	if room, _ := h.Room(code); time.Since(began) > 10*time.Second {
		for _, n := range room.Log {
			t.Log(code, n.At.Sub(began), n.String())
		}
	}
}

// inMemoryPlayer answers at once or, if it has a line, when real servers' answers would have come.
type inMemoryPlayer struct {
	name     string
	list     []discovery.Server
	began    time.Time
	told     int
	line     *lineInMemory
	inbox    chan wire.Message
	launched func()
	spent    *atomic.Int64
	// free is when the line will have sent all queries, and coming are the answers on their way, in
	// the order of the queries.
	free   time.Time
	coming []coming
}

// coming is an answer that reaches the host at a time, unless it comes too late for the room's next
// look.
type coming struct {
	at     time.Time
	round  int
	server int
	look   *wire.Verified // set for a look, which has no server's answer
}

const (
	// tellEvery is how often a player with a line reports answers. messageTime is how long a
	// message to the host and back takes. silence is after what time a player reports a silent
	// server.
	tellEvery   = 100 * time.Millisecond
	messageTime = 50 * time.Millisecond
	silence     = 900 * time.Millisecond
)

func (p *inMemoryPlayer) plays() {
	var tells <-chan time.Time
	if *scaleLine > 0 {
		ticker := time.NewTicker(tellEvery)
		defer ticker.Stop()
		tells = ticker.C
	}
	for {
		var message wire.Message
		select {
		case message = <-p.inbox:
		case <-tells:
		}
		began := time.Now()
		switch m := message.(type) {
		case nil:
			p.tells(began)
		case wire.Ask:
			if tells == nil {
				p.answers(m)
				break
			}
			for _, server := range m.Servers {
				p.coming = append(p.coming, coming{at: p.asks(began, server), round: m.Round, server: server})
			}
		case wire.Finalists:
			look := worlds.Script(p.name, p.list).Look(m)
			if tells == nil {
				p.says(look)
				break
			}
			last := began
			for range m.Samples {
				for _, server := range m.Servers {
					last = latest(last, p.asks(began, server))
				}
			}
			p.coming = append(p.coming, coming{at: last, look: &look})
		case wire.Launch:
			p.says(wire.Launched{Round: m.Round, State: wire.LaunchStarted})
			p.launched()
			p.spent.Add(int64(time.Since(began)))
			return
		}
		p.spent.Add(int64(time.Since(began)))
	}
}

// asks sends a query, and returns when the host will know the answer.
func (p *inMemoryPlayer) asks(now time.Time, server int) time.Time {
	p.free = latest(now, p.free).Add(time.Duration(float64(time.Second) / *scaleLine))
	return p.free.Add(messageTime + cmp.Or(worlds.RTT(p.name, p.list[server]), silence))
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// tells reports the answers that have come.
func (p *inMemoryPlayer) tells(now time.Time) {
	var ask wire.Ask
	p.coming = slices.DeleteFunc(p.coming, func(c coming) bool {
		switch {
		case c.at.After(now):
			return false
		case c.look != nil:
			p.says(*c.look)
		default:
			ask.Round, ask.Servers = c.round, append(ask.Servers, c.server)
		}
		return true
	})
	if len(ask.Servers) > 0 {
		p.answers(ask)
	}
}

func (p *inMemoryPlayer) answers(ask wire.Ask) {
	infos, report := worlds.Script(p.name, p.list).Report(ask.Round, p.told, ask.Servers, time.Since(p.began))
	p.told += len(report.Results)
	p.says(infos)
	p.says(report)
}

func (p *inMemoryPlayer) says(m wire.Message) {
	frame, err := wire.Marshal(m)
	if err != nil {
		panic(err)
	}
	kind := cmp.Or(map[bool]byte{true: websocket.BinaryMessage}[frame.Binary], websocket.TextMessage)
	p.line.says(kind, frame.Data)
}
