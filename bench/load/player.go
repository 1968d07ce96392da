// Package load is a crowd of players for measuring hosts: they speak the real wire over real WebSockets,
// and their pings come from a simulated world instead of probes. TestLoad drives it.
package load

import (
	"bytes"
	"context"
	"crypto/rand"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/bench/worlds"
	"muster/discovery"
	"muster/host/wire"
)

// Crowd are the players of some hosts, and what they have seen so far.
type Crowd struct {
	// Hosts are the addresses of the hosts, HOST:PORT. A player takes any of them.
	Hosts []string

	mu     sync.Mutex // guards following
	joins  []time.Duration
	states []time.Duration
	here   map[*Player]string // the host of each player who is in its room
	// refusals counts refused players by reason.
	refusals map[string]int
	// moved is when a player last came into a room, or lost its place there.
	moved time.Time
	work  sync.WaitGroup
}

// Joins returns how long players have waited for their place in a room, and States how long until the
// others in the room have seen them there.
func (c *Crowd) Joins() []time.Duration { return c.taken(&c.joins) }

// States is documented at Joins.
func (c *Crowd) States() []time.Duration { return c.taken(&c.states) }

// taken returns times, and begins to collect anew.
func (c *Crowd) taken(of *[]time.Duration) []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	times := *of
	*of = nil
	return times
}

// Refusals returns how often players were refused, by reason.
func (c *Crowd) Refusals() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.refusals)
}

func (c *Crowd) refused(m wire.Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusals == nil {
		c.refusals = map[string]int{}
	}
	c.refusals[m.Reason+" "+m.Says.Key]++
}

// Here returns how many players are in their rooms.
func (c *Crowd) Here() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.here)
}

// Wait waits for all players to leave, which they do when their context ends.
func (c *Crowd) Wait() { c.work.Wait() }

// Moved returns when a player last came into its room, or lost its place there.
func (c *Crowd) Moved() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// Lose counts the players of a host that is about to end as gone, before they notice it.
func (c *Crowd) Lose(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.here, func(_ *Player, at string) bool { return at == host })
}

// note notes at which host a player is in its room now, empty for none.
func (c *Crowd) note(p *Player, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.here == nil {
		c.here = map[*Player]string{}
	}
	if c.here[p] == host {
		return // it has tried in vain
	}
	if c.moved = time.Now(); host != "" {
		c.here[p] = host
	} else {
		delete(c.here, p)
	}
}

// Room is a room with its players.
type Room struct {
	Code, Key string
	crowd     *Crowd

	mu       sync.Mutex // guards following
	arrivals map[string]time.Time
}

// NewRoom returns a room whose link has a code and a key.
func (c *Crowd) NewRoom(code, key string) *Room {
	return &Room{Code: code, Key: key, crowd: c, arrivals: map[string]time.Time{}}
}

// Player is a player of a room.
type Player struct {
	room *Room
	name string
	// from is the player's address, as a proxy would say it.
	from  string
	token string
	// line is how many servers the player asks a second, 0 for all at once.
	line     float64
	launched func()

	ws    *websocket.Conn
	began time.Time
	list  []discovery.Server
	told  int
	// saw are the others whom this player has seen in the room.
	saw map[string]bool
	// free is when the player's line will have sent all queries.
	free time.Time
	// writing guards ws for writers. later are messages to the host, which leave in order, each at its
	// time; nil before the player has a line to wait for.
	writing sync.Mutex
	later   chan timed
}

// timed is a message that leaves at a time.
type timed struct {
	at       time.Time
	messages []wire.Message
}

// messageTime is how long a message to the host and back takes over a player's line. silence is after
// what time a player reports a silent server.
const (
	messageTime = 50 * time.Millisecond
	silence     = 900 * time.Millisecond
)

// Join brings a player into a room, again and again until ctx ends. It returns at once. The player
// launches its game at once, and then calls launched.
func (r *Room) Join(ctx context.Context, name, from string, line float64, launched func()) {
	p := &Player{
		room: r, name: name, from: from, token: rand.Text(), line: line, launched: sync.OnceFunc(launched), began: time.Now(),
		saw: map[string]bool{},
	}
	r.crowd.work.Go(func() { p.play(ctx) })
}

// play keeps the player in its room until ctx ends.
func (p *Player) play(ctx context.Context) {
	pause := firstPause
	for line := 1; ctx.Err() == nil; line++ {
		wait := pause
		if p.visit(ctx, line) { // it was in, so all players come back at the same moment: spread them
			pause, wait = firstPause, mathrand.N(4*firstPause)
		}
		pause = min(2*pause, lastPause)
		p.room.crowd.note(p, "")
		rest := time.NewTimer(wait)
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
		}
	}
}

// firstPause and lastPause are how long players wait before they connect again, as package peer has it.
const firstPause, lastPause = 250 * time.Millisecond, 5 * time.Second

// visit is one connection to one of the hosts, from the hello on. It reports whether the player was in its
// room.
func (p *Player) visit(ctx context.Context, line int) (wasIn bool) {
	hosts := p.room.crowd.Hosts
	dialer := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: 10 * time.Second}
	began := time.Now()
	var host string
	var ws *websocket.Conn
	var err error
	for first, i := mathrand.IntN(len(hosts)), 0; i < len(hosts) && ws == nil; i++ { // as a balancer passes over a host that is down
		host = hosts[(first+i)%len(hosts)]
		ws, _, err = dialer.DialContext(ctx, "ws://"+host+"/peer", http.Header{"X-Forwarded-For": {p.from}})
	}
	if err != nil {
		return false
	}
	defer ws.Close()
	defer context.AfterFunc(ctx, func() { ws.Close() })()
	p.writing.Lock()
	p.ws = ws
	p.writing.Unlock()
	p.say(wire.Hello{
		Version: wire.Version, Code: p.room.Code, Key: p.room.Key, Name: p.name, Token: p.token, Program: p.token[:8], Line: line,
	})
	for {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			return wasIn
		}
		switch {
		case kind == websocket.TextMessage && bytes.HasPrefix(data, []byte(`{"type":"room"`)):
			p.look(data)
		case kind == websocket.TextMessage && bytes.HasPrefix(data, []byte(`{"type":"welcome"`)):
			wasIn = true
			p.arrive(host, line, began)
		default:
			message, err := wire.Unmarshal(wire.Frame{Data: data, Binary: kind == websocket.BinaryMessage})
			if err != nil {
				return wasIn
			}
			p.hear(ctx, message)
		}
	}
}

// arrive notes that the player is in the room.
func (p *Player) arrive(host string, line int, began time.Time) {
	now, c := time.Now(), p.room.crowd
	c.note(p, host)
	c.mu.Lock()
	c.joins = append(c.joins, now.Sub(began))
	c.mu.Unlock()
	if line == 1 {
		p.room.mu.Lock()
		p.room.arrivals[p.name] = now
		p.room.mu.Unlock()
	}
}

// look notes whom the player sees in the room for the first time.
func (p *Player) look(state []byte) {
	now, c := time.Now(), p.room.crowd
	var took []time.Duration
	p.room.mu.Lock()
	for name, arrived := range p.room.arrivals {
		if name != p.name && !p.saw[name] && bytes.Contains(state, []byte(`"name":"`+name+`"`)) {
			p.saw[name] = true
			if arrived.After(p.began) {
				took = append(took, now.Sub(arrived))
			}
		}
	}
	p.room.mu.Unlock()
	c.mu.Lock()
	c.states = append(c.states, took...)
	c.mu.Unlock()
}

func (p *Player) hear(ctx context.Context, message wire.Message) {
	switch m := message.(type) {
	case wire.List:
		p.list, p.told = m.Servers, 0
	case wire.Ask:
		at := p.asksUntil(m.Servers, 1)
		infos, report := worlds.Script(p.name, p.list).Report(m.Round, p.told, m.Servers, time.Since(p.began))
		p.told += len(report.Results)
		p.sayAt(ctx, at, infos, report)
	case wire.Finalists:
		p.sayAt(ctx, p.asksUntil(m.Servers, m.Samples), worlds.Script(p.name, p.list).Look(m))
	case wire.Refusal:
		p.room.crowd.refused(m)
	case wire.Launch:
		p.say(wire.Launched{Round: m.Round, State: wire.LaunchStarted})
		p.launched()
	}
}

// asksUntil returns when the answers of servers will have come, if the player asks each of them so often
// now.
func (p *Player) asksUntil(servers []int, often int) (last time.Time) {
	now := time.Now()
	if p.line == 0 {
		return now
	}
	if p.free.Before(now) {
		p.free = now
	}
	for range often {
		for _, server := range servers {
			p.free = p.free.Add(time.Duration(float64(time.Second) / p.line))
			rtt := worlds.RTT(p.name, p.list[server])
			if rtt == 0 {
				rtt = silence
			}
			if at := p.free.Add(messageTime + rtt); at.After(last) {
				last = at
			}
		}
	}
	return last
}

// sayAt sends messages at a time, after those that were to be sent before.
func (p *Player) sayAt(ctx context.Context, at time.Time, messages ...wire.Message) {
	if p.line == 0 {
		for _, m := range messages {
			p.say(m)
		}
		return
	}
	if p.later == nil {
		p.later = make(chan timed, 256)
		p.room.crowd.work.Go(func() { p.sendLater(ctx) })
	}
	select {
	case p.later <- timed{at, messages}:
	case <-ctx.Done():
	}
}

func (p *Player) sendLater(ctx context.Context) {
	for {
		select {
		case next := <-p.later:
			timer := time.NewTimer(time.Until(next.at))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			for _, m := range next.messages {
				p.say(m)
			}
		case <-ctx.Done():
			return
		}
	}
}

// say sends a message. If it fails, the connection has ended, and the next read finds that out.
func (p *Player) say(m wire.Message) {
	frame, err := wire.Marshal(m)
	if err != nil {
		return
	}
	kind := websocket.TextMessage
	if frame.Binary {
		kind = websocket.BinaryMessage
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.ws.WriteMessage(kind, frame.Data)
}
