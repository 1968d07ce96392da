//go:build linux

package faults

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/access"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// session is a room and everybody in it. They are scripted, and send no packet to a game server.
type session struct {
	lab    *lab
	number int
	rng    *rand.Rand // of the organiser alone
	code   string
	key    string
	secret string
	people []*peer

	mu    sync.Mutex // guards the fields below
	sent  map[string]int
	round int
	stage string
}

// serversOfRoom is how many servers a room chooses from.
const serversOfRoom = 40

// serverOf returns the address of a game server that nobody probes.
func serverOf(i int) string { return fmt.Sprintf("11.0.%d.%d:27960", i/200, i%200+1) }

// roundTrip returns a player's RTT to a server: both have their place on a map.
func roundTrip(player string, server string) time.Duration {
	place := func(name string) (x, y float64) {
		h := fnv.New64a()
		h.Write([]byte(name))
		sum := h.Sum64() * 0x9e3779b97f4a7c15 // FNV's high bits differ too little
		return float64(sum>>48) / 65536, float64(sum>>32&0xffff) / 65536
	}
	ax, ay := place(player)
	bx, by := place(server)
	return 2*time.Millisecond + time.Duration(math.Hypot(ax-bx, ay-by)*80e6)
}

// open opens a room, trying until it works, and brings in its players.
func (l *lab) open(ctx context.Context, number, players int, seed uint64) *session {
	e := &session{lab: l, number: number, rng: rand.New(rand.NewPCG(seed, uint64(number))), sent: map[string]int{}}
	order := map[string]any{"game": "openarena", "by": "mean", "players": players, "limits_ms": []int{1000}}
	var servers []string
	for i := range serversOfRoom {
		servers = append(servers, serverOf(i))
	}
	order["servers"] = servers
	body, _ := json.Marshal(order)
	for e.code == "" && ctx.Err() == nil {
		var opened struct {
			Code string `json:"code"`
			Link string `json:"organiser_link"`
		}
		status, answer, err := e.post(ctx, "/api/rooms", "", body)
		if err != nil || status/100 != 2 || json.Unmarshal(answer, &opened) != nil {
			if err == nil && status/100 == 4 && status != http.StatusTooManyRequests {
				l.t.Errorf("POST /api/rooms: %d %s", status, answer)
				return e
			}
			pause(ctx, time.Second)
			continue
		}
		_, fragment, _ := strings.Cut(opened.Link, "#")
		place, secret, _ := strings.Cut(fragment, ".")
		_, key, _ := strings.Cut(place, "_")
		e.key, _, _ = strings.Cut(key, "~")
		e.code, e.secret = opened.Code, secret
	}
	l.tell(Event{Kind: Opened, Room: e.code})
	for i := range players {
		e.people = append(e.people, &peer{session: e, name: fmt.Sprintf("player %d", i+1), token: access.NewSecret(),
			rng: rand.New(rand.NewPCG(seed, uint64(number*100+i+1)))})
	}
	return e
}

// post sends a request to the room's host through the proxy, from an address of its own.
func (e *session) post(ctx context.Context, path, credential string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, "POST", "http://"+e.entrance(e.number)+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header = e.header(99)
	request.Header.Set("Content-Type", "application/json")
	if credential != "" {
		request.Header.Set("Authorization", "Bearer "+credential)
	}
	reply, err := e.lab.client().Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer reply.Body.Close()
	answer, err = io.ReadAll(reply.Body)
	return reply.StatusCode, answer, err
}

// header tells the address that the proxy speaks for, which differs for each person.
func (e *session) header(person int) http.Header {
	return http.Header{"X-Forwarded-For": {fmt.Sprintf("12.%d.%d.%d", e.number/250, e.number%250, person+1)}}
}

// entrance returns one of the proxy's two addresses.
func (e *session) entrance(n int) string {
	return net.JoinHostPort(e.lab.addrs[Players], []string{readyPort, anyPort}[n%2])
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// between draws a pause.
func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)))
}

// steer plays the organiser. It starts the next round whenever everyone is in the game, and gives
// orders meanwhile, until calm is closed.
func (e *session) steer(ctx context.Context, calm <-chan struct{}) {
	limit := 1000
	for {
		select {
		case <-calm:
			return
		case <-ctx.Done():
			return
		case <-time.After(between(e.rng, time.Second, 5*time.Second)):
		}
		if round, together := e.together(); together && e.rng.IntN(2) == 0 {
			e.order(ctx, Event{Text: Go, Round: round}, "go", map[string]any{"stage": launching})
			continue
		}
		limit++
		e.order(ctx, Event{Text: SetLimit, Value: limit}, "settings", map[string]any{"settings": map[string]any{"limits_ms": []int{limit}}})
	}
}

func (e *session) order(ctx context.Context, event Event, action string, order any) {
	event.Room, event.Who, event.Kind = e.code, "organiser", Ordered
	e.lab.tell(event)
	body, _ := json.Marshal(order)
	status, answer, err := e.post(ctx, "/api/rooms/"+e.code+"/"+action, e.secret, body)
	switch {
	case err != nil || status >= 500 || status == http.StatusTooManyRequests: // not known, or not now
	case status == http.StatusNoContent:
		event.Kind = Kept
		e.lab.tell(event)
	default:
		event.Kind, event.Text = Rejected, fmt.Sprintf("%s: %d %s", event.Text, status, bytes.TrimSpace(answer))
		e.lab.tell(event)
	}
}

// together reports whether all players were sent to a server in the newest round.
func (e *session) together() (round int, is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.people {
		if e.sent[p.name] < e.round {
			return e.round, false
		}
	}
	return e.round, e.round > 0 && e.stage == launching
}

// peer is a player's program.
type peer struct {
	session *session
	name    string
	token   string
	rng     *rand.Rand

	mu       sync.Mutex // guards the fields below
	line     int
	conn     *conn.Conn
	epoch    uint64
	welcomed bool
	shown    Event
	snapshot wire.Snapshot
	round    int
	began    time.Time
	servers  []discovery.Server
	results  []discovery.Result
	known    map[int]bool
	told     int
	// trace holds the last messages, to find out why a player is not in the game.
	trace []string
}

// longestTrace is how many of a player's messages are kept.
const longestTrace = 40

// note adds a message to the trace.
func (p *peer) note(way string, line int, m wire.Message) {
	text := fmt.Sprintf("%8.3f %s %d %T", time.Since(p.session.lab.began).Seconds(), way, line, m)
	switch m := m.(type) {
	case wire.Room:
		return
	case wire.Report:
		text += fmt.Sprintf(" round %d, %d results from %d", m.Round, len(m.Results), m.First)
	case wire.List:
		text += fmt.Sprintf(" round %d, %d servers", m.Round, len(m.Servers))
	case wire.Infos:
		return
	default:
		text += fmt.Sprintf(" %.200v", m)
	}
	if len(p.trace) == longestTrace {
		p.trace = p.trace[1:]
	}
	p.trace = append(p.trace, text)
}

// errStale ends a connection to an owner that was replaced.
var errStale = errors.New("an owner that was replaced")

// play keeps the player in the room until ctx ends.
func (p *peer) play(ctx context.Context) {
	wait := 250 * time.Millisecond
	for ctx.Err() == nil {
		p.mu.Lock()
		p.line++
		line := p.line
		p.mu.Unlock()
		p.tell(Event{Kind: Dialled, Line: line})
		if p.connect(ctx, line) {
			wait = 250 * time.Millisecond
		}
		p.tell(Event{Kind: Lost, Line: line})
		pause(ctx, wait/2+between(p.rng, 0, wait))
		wait = min(2*wait, 5*time.Second)
	}
}

// tell records what the player did or heard.
func (p *peer) tell(event Event) {
	event.Room, event.Who = p.session.code, p.name
	p.session.lab.tell(event)
}

func (p *peer) connect(ctx context.Context, line int) (welcomed bool) {
	dialer := websocket.Dialer{
		NetDialContext:   p.session.lab.dial,
		HandshakeTimeout: 5 * time.Second,
		ReadBufferSize:   1024,
		WriteBufferSize:  1024,
	}
	person := int(p.name[len(p.name)-1] - '0')
	ws, reply, err := dialer.DialContext(ctx, "ws://"+p.session.entrance(p.session.number+person+line)+"/peer", p.session.header(person))
	if err != nil {
		if reply != nil {
			reply.Body.Close()
		}
		return false
	}
	c := conn.New(ws, conn.AtPeer)
	p.mu.Lock()
	p.conn, p.welcomed = c, false
	p.mu.Unlock()
	c.Send(wire.Hello{
		Version: wire.Version,
		Code:    p.session.code,
		Key:     p.session.key,
		Name:    p.name,
		Token:   p.token,
		Program: p.token,
		Line:    line,
	})
	c.Run(ctx, func(m wire.Message) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		err := p.hear(m, line)
		welcomed = welcomed || p.welcomed
		return err
	})
	return welcomed
}

// hear acts on a message as a player's program does.
func (p *peer) hear(m wire.Message, line int) error {
	p.note("hears by", line, m)
	switch m := m.(type) {
	case wire.Welcome:
		p.tell(Event{Kind: Welcomed, Line: line, Epoch: m.Epoch, Text: m.Name})
		if m.Epoch < p.epoch {
			return errStale
		}
		if p.welcomed { // another owner has the room, and sends what follows
			p.send(wire.Again{})
		}
		p.epoch, p.welcomed, p.snapshot, p.told = m.Epoch, true, wire.Snapshot{}, 0
	case wire.Refusal:
		p.tell(Event{Kind: Refused, Line: line, Text: m.Reason})
	case wire.List:
		if p.round != m.Round {
			p.round, p.servers, p.results, p.known, p.told, p.began = m.Round, m.Servers, nil, map[int]bool{}, 0, time.Now()
		}
	case wire.Measure:
		if m.Round == p.round && m.Strategy != wire.Coordinated {
			var all []int
			for i := range p.servers {
				all = append(all, i)
			}
			p.later(50, 900, func() { p.answer(m.Round, all); p.send(wire.Done{Round: m.Round}) })
		}
	case wire.Ask:
		p.later(50, 600, func() { p.answer(m.Round, m.Servers) })
	case wire.Finalists:
		p.later(100, 900, func() { p.look(m) })
	case wire.Launch:
		p.tell(Event{Kind: Launched, Line: line, Epoch: m.Epoch, Round: m.Round, Text: m.Address})
		if m.Epoch < p.epoch {
			return errStale
		}
		p.epoch = m.Epoch
		p.send(wire.Launched{Round: m.Round, State: wire.LaunchStarted})
		p.session.mu.Lock()
		p.session.sent[p.name] = max(p.session.sent[p.name], m.Round)
		p.session.round = max(p.session.round, m.Round)
		p.session.mu.Unlock()
	case wire.Room:
		if err := p.snapshot.Merge(m); err != nil {
			return err
		}
		p.saw(line)
	}
	return nil
}

// sight returns the event that records a state.
func sight(s *wire.Snapshot) Event {
	e := Event{Kind: Saw, Round: s.Room.Round, Stage: string(s.Room.Stage)}
	if limits := s.Room.Limits; len(limits) > 0 {
		e.Value = int(time.Duration(limits[len(limits)-1]).Milliseconds())
	}
	if s.Way != nil && s.Room.Stage == wire.Launching {
		e.Text = s.Way.Connect
	}
	for _, person := range s.People {
		e.People = append(e.People, person.Name)
	}
	return e
}

// isNew reports whether a sight differs from the one before.
func isNew(e, before Event) bool {
	return e.Line != before.Line || e.Epoch != before.Epoch || e.Round != before.Round || e.Stage != before.Stage ||
		e.Value != before.Value || e.Text != before.Text ||
		len(e.People) != len(before.People)
}

func (p *peer) saw(line int) {
	e := sight(&p.snapshot)
	e.Line, e.Epoch = line, p.epoch
	p.session.mu.Lock()
	if p.session.round = max(p.session.round, e.Round); e.Round == p.session.round {
		p.session.stage = e.Stage
	}
	p.session.mu.Unlock()
	if isNew(e, p.shown) {
		p.shown = e
		p.tell(e)
	}
}

// later calls do some ms from now, if the connection is still the same.
func (p *peer) later(least, most int, do func()) {
	c := p.conn
	time.AfterFunc(between(p.rng, time.Duration(least)*time.Millisecond, time.Duration(most)*time.Millisecond), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.conn == c {
			do()
		}
	})
}

func (p *peer) send(m wire.Message) {
	p.note("says by", p.line, m)
	p.conn.Send(m)
}

// answer measures servers, and reports all results that this connection has not sent.
func (p *peer) answer(round int, servers []int) {
	if round != p.round {
		return
	}
	now := time.Since(p.began)
	for _, server := range servers {
		if p.known[server] || server >= len(p.servers) {
			continue
		}
		p.known[server] = true
		p.results = append(p.results, discovery.Result{
			Server: server,
			State:  discovery.Answered,
			Phase:  discovery.Refining,
			At:     now,
			RTT:    p.rtt(server),
		})
	}
	news := p.results[p.told:]
	if len(news) == 0 {
		return
	}
	infos := wire.Infos{Round: round}
	for _, result := range news {
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: result.Server,
			Info:   discovery.Info{Map: "oa_dm1", Mode: "0", Players: 2, MaxPlayers: 16},
		})
	}
	p.send(infos)
	p.send(wire.Report{Round: round, First: p.told, Now: now, Results: news})
	p.told = len(p.results)
}

func (p *peer) rtt(server int) time.Duration {
	return roundTrip(fmt.Sprint(p.session.number, p.name), p.servers[server].Addr.String())
}

// look answers the second look at the finalists.
func (p *peer) look(m wire.Finalists) {
	v := wire.Verified{Round: m.Round, Attempt: m.Attempt}
	for _, server := range m.Servers {
		if server >= len(p.servers) {
			return
		}
		ms := p.rtt(server).Seconds() * 1000
		rtts := slices.Repeat([]float64{ms + .1}, cmp.Or(m.Samples, 3)) // one for each packet: more make no sense
		v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: rtts, Sent: len(rtts),
			Info: &discovery.Info{Name: fmt.Sprintf("arena %d", server), Map: "oa_dm1", Mode: "0", Players: 2, MaxPlayers: 16}})
	}
	p.send(v)
}

// pageSilence is when a page gives its host up: it hears from it every two seconds.
const pageSilence = 8 * time.Second

// watch plays an open page of the room, until ctx ends.
func (e *session) watch(ctx context.Context, name string, number int) {
	rng := rand.New(rand.NewPCG(uint64(e.number), uint64(number)))
	var shown Event
	for line := 1; ctx.Err() == nil; line++ {
		tell := func(event Event) {
			event.Room, event.Who, event.Page, event.Line = e.code, name, true, line
			e.lab.tell(event)
		}
		tell(Event{Kind: Dialled})
		dialer := websocket.Dialer{NetDialContext: e.lab.dial, HandshakeTimeout: 5 * time.Second, ReadBufferSize: 1024, WriteBufferSize: 1024}
		ws, reply, err := dialer.DialContext(ctx, "ws://"+e.entrance(e.number+line)+"/live", e.header(50+number))
		if reply != nil && err != nil {
			reply.Body.Close()
		}
		if err == nil {
			stop := context.AfterFunc(ctx, func() { ws.Close() })
			var snapshot wire.Snapshot
			err = ws.WriteJSON(map[string]string{"code": e.code, "key": e.key})
			for err == nil {
				ws.SetReadDeadline(time.Now().Add(pageSilence))
				var kind int
				var text []byte
				if kind, text, err = ws.ReadMessage(); err != nil || kind != websocket.TextMessage {
					continue
				}
				var news wire.Room
				var what struct{ Type, Reason string }
				if json.Unmarshal(text, &what) != nil || json.Unmarshal(text, &news) != nil {
					e.lab.t.Errorf("a page is told %q", text)
					break
				}
				if what.Type == "refused" {
					tell(Event{Kind: Refused, Text: what.Reason})
					continue
				}
				if snapshot.Merge(news) == nil && snapshot.Room.Stage != "" {
					event := sight(&snapshot)
					if event.Line = line; isNew(event, shown) {
						shown = event
						tell(event)
					}
				}
			}
			stop()
			ws.Close()
		}
		tell(Event{Kind: Lost})
		pause(ctx, between(rng, 200*time.Millisecond, time.Second))
	}
}
