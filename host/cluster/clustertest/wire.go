package clustertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxPayload is how long a message may be, as in nats-server.
const maxPayload = 1 << 20

// conn is a client's connection to a server. The model's lock guards it, but for write.
type conn struct {
	m      *Model
	id     int
	server int
	line   *Line
	net    net.Conn
	in     []chunk
	rest   []byte // the beginning of a frame
	subs   []subscription
	held   []string // by a frozen line
	out    []byte   // for write
	// isReady is set after the greeting, which takes no time: the client holds a lock meanwhile, and
	// the clock of a bubble stands while another goroutine waits for a lock.
	isReady bool
	ready   chan struct{}
	ended   chan struct{}
	end     func()
}

// chunk is some bytes from a client, and when they came. Without bytes it is the connection's end.
type chunk struct {
	at   time.Time
	data []byte
}

type subscription struct{ subject, id string }

// frame is one operation of a client.
type frame struct {
	conn         *conn
	at           time.Time
	op           string
	args         []string
	header, data []byte
	key          string
}

// subject returns the subject of a message that the client publishes.
func (f frame) subject() string {
	if f.op != "PUB" {
		return ""
	}
	return f.args[0]
}

// attach begins a connection; the caller holds mu.
func (m *Model) attach(pipe net.Conn, server int, line *Line) {
	m.nextID++
	c := &conn{m: m, id: m.nextID, server: server, line: line, net: pipe, ready: make(chan struct{}, 1), ended: make(chan struct{})}
	c.end = sync.OnceFunc(func() { close(c.ended); pipe.Close() })
	m.conns = append(m.conns, c)
	slices.SortStableFunc(m.conns, func(a, b *conn) int { return cmp.Compare(a.line.id, b.line.id) })
	cluster := ""
	if len(m.servers) > 1 {
		cluster = clusterName
	}
	info, err := json.Marshal(map[string]any{"server_id": m.servers[server].name, "server_name": m.servers[server].name, "version": "2.15.2",
		"proto": 1, "headers": true, "max_payload": maxPayload, "jetstream": m.servers[server].hasJS, "client_id": c.id,
		"client_ip": "127.0.0.1", "cluster": cluster})
	if err != nil {
		panic(err) // cannot fail: texts and numbers
	}
	c.get("INFO " + string(info) + "\r\n")
	m.work.Go(c.read)
	m.work.Go(c.write)
}

// close ends a connection; the caller holds mu.
func (c *conn) close() {
	c.end()
	c.subs = nil
	c.in = nil
}

func (c *conn) read() {
	for {
		buffer := make([]byte, 32<<10)
		n, err := c.net.Read(buffer)
		c.m.mu.Lock()
		switch {
		case n == 0:
		case c.isReady:
			c.in = append(c.in, chunk{time.Now(), buffer[:n]})
		default:
			if c.rest = append(c.rest, buffer[:n]...); bytes.HasSuffix(c.rest, []byte("PING\r\n")) {
				c.rest, c.isReady = nil, true
				c.get("PONG\r\n")
			}
		}
		if err != nil {
			c.in = append(c.in, chunk{at: time.Now()})
		}
		c.m.mu.Unlock()
		c.m.nudge()
		if err != nil {
			return
		}
	}
}

func (c *conn) write() {
	for {
		select {
		case <-c.ended:
			return
		case <-c.ready:
		}
		c.m.mu.Lock()
		out := c.out
		c.out = nil
		c.m.mu.Unlock()
		if len(out) == 0 {
			continue
		}
		if _, err := c.net.Write(out); err != nil {
			return // read ends the connection
		}
	}
}

// get gives text to the client; the caller holds mu.
func (c *conn) get(text string) {
	c.out = append(c.out, text...)
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// send sends text to the client; the caller holds mu.
func (c *conn) send(parts ...string) {
	if c.line.state != Deaf {
		c.m.out = append(c.m.out, delivery{c.m.moment(), c, strings.Join(parts, "")})
	}
}

// delivery is what a client gets at a time.
type delivery struct {
	at   time.Time
	conn *conn
	text string
}

// moment returns when a client gets what is sent now: after all that was sent before, and alone.
func (m *Model) moment() time.Time {
	at := time.Now()
	if n := len(m.out); n > 0 && m.out[n-1].at.After(at) {
		at = m.out[n-1].at
	}
	return Moment(at.Add(1), 0)
}

// hand gives clients what was sent to them by now. What comes on a frozen line waits.
func (m *Model) hand(now time.Time) {
	for len(m.out) > 0 && !m.out[0].at.After(now) {
		d := m.out[0]
		if m.out = m.out[1:]; d.conn.line.state == Frozen {
			d.conn.held = append(d.conn.held, d.text)
		} else {
			d.conn.get(d.text)
		}
	}
}

// receive does what clients wrote before the step; the caller holds mu.
func (m *Model) receive(now time.Time) {
	var frames []frame
	for _, c := range m.conns {
		if c.line.state == Frozen {
			continue
		}
		for len(c.in) > 0 && !stepAfter(c.in[0].at).After(now) {
			chunk := c.in[0]
			c.in = c.in[1:]
			if chunk.data == nil {
				frames = append(frames, frame{conn: c, at: chunk.at, op: endOfConn})
			}
			c.rest = append(c.rest, chunk.data...)
			for {
				f, n := parse(c.rest)
				if n == 0 {
					break
				}
				c.rest = c.rest[n:]
				f.conn, f.at = c, chunk.at
				frames = append(frames, f)
			}
		}
	}
	slices.SortStableFunc(frames, func(a, b frame) int {
		if order := cmp.Or(a.at.Compare(b.at), cmp.Compare(a.conn.line.id, b.conn.line.id), cmp.Compare(a.conn.id, b.conn.id)); order != 0 {
			return order
		}
		// Different goroutines of one client wrote these.
		return cmp.Or(cmp.Compare(rank(a.op), rank(b.op)), cmp.Compare(a.key, b.key))
	})
	ended := map[string]time.Time{}
	for _, f := range frames {
		// A client that has just connected again both asks for more of a watch and ends it, and only
		// the order of its goroutines says whether it asks first.
		watch, isEnd := strings.CutPrefix(f.subject(), apiPrefix+"CONSUMER.DELETE.")
		asks, isPull := strings.CutPrefix(f.subject(), apiPrefix+"CONSUMER.MSG.NEXT.")
		if isEnd {
			ended[watch] = f.at
		} else if isPull && ended[asks].Equal(f.at) {
			continue
		}
		if f.conn.line.state != Mute || f.op == endOfConn {
			if f.op == "PUB" && m.trace != nil {
				fmt.Fprintf(m.trace, "%s %d: %q\n", now.Format(traceTime), f.conn.line.id, f.key)
			}
			m.do(f)
		}
	}
}

// endOfConn is the operation of a connection that ends.
const endOfConn = "END"

// rank orders what a client wrote at one time.
func rank(op string) int { return slices.Index([]string{"CONNECT", "SUB", "PUB", "UNSUB"}, op) & 7 }

// parse returns the first frame of some bytes, and how many it takes: 0 if it is not complete.
func parse(b []byte) (f frame, n int) {
	line, rest, is := bytes.Cut(b, []byte("\r\n"))
	if !is {
		return f, 0
	}
	op, args, _ := strings.Cut(string(line), " ")
	f.op, f.args = strings.ToUpper(op), strings.Fields(args)
	n = len(line) + 2
	if f.op != "PUB" && f.op != "HPUB" {
		return f, n
	}
	number := func(fromEnd int) int {
		n, err := strconv.Atoi(f.args[len(f.args)-fromEnd])
		if err != nil {
			panic(err)
		}
		return n
	}
	header, total := 0, number(1)
	last := len(f.args) - 1
	if f.op == "HPUB" {
		header = number(2)
		last--
	}
	if len(rest) < total+2 {
		return f, 0
	}
	f.op, f.args = "PUB", f.args[:last]
	f.header, f.data = sorted(rest[:header]), bytes.Clone(rest[header:total])
	f.key = f.args[0]
	if tokens := strings.Split(f.key, "."); strings.HasPrefix(f.key, apiPrefix+"CONSUMER.") && len(tokens) > 5 {
		name := 5 // in CREATE and DELETE; nobody chose it
		if tokens[3] == "MSG" {
			name = 6
		}
		f.key = strings.Join(slices.Delete(tokens, name, name+1), ".")
	}
	f.key += "\n" + string(f.header) + string(f.data)
	return f, n + total + 2
}

const (
	// traceTime is how a trace writes times.
	traceTime = "15:04:05.000000000"
	// inboxPrefix begins the subjects of answers, whose names are random.
	inboxPrefix = "_INBOX."
)

// sorted returns a message's header with its lines in order: the client writes them in a map's.
func sorted(header []byte) []byte {
	if len(header) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(header), "\r\n\r\n"), "\r\n")
	slices.Sort(lines[1:])
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// do does one operation of a client.
func (m *Model) do(f frame) {
	c := f.conn
	switch f.op {
	case "PING":
		c.send("PONG\r\n")
	case "CONNECT", "PONG":
	case endOfConn:
		c.close()
		m.conns = slices.DeleteFunc(m.conns, func(other *conn) bool { return other == c })
	case "SUB":
		c.subs = append(c.subs, subscription{f.args[0], f.args[len(f.args)-1]})
	case "UNSUB":
		c.subs = slices.DeleteFunc(c.subs, func(s subscription) bool { return s.id == f.args[0] })
	case "PUB":
		m.received++
		subject, reply := f.args[0], ""
		if len(f.args) > 1 {
			reply = f.args[1]
		}
		isHeard := m.route(c.server, subject, subject, reply, f.header, f.data)
		if strings.HasPrefix(subject, apiPrefix) {
			isHeard = m.request(c.server, subject, reply, f.data) || isHeard
		} else if s := m.streamFor(subject); s != nil {
			isHeard = m.ingest(c.server, s, f, reply) || isHeard
		}
		if !isHeard && reply != "" {
			m.route(c.server, reply, reply, "", []byte("NATS/1.0 503\r\n\r\n"), nil)
		}
	default:
		panic("clustertest: a client says " + f.op)
	}
}

// route delivers a message from a server to those who subscribed to it; they see another subject.
func (m *Model) route(from int, subject, seen, reply string, header, data []byte) (isHeard bool) {
	if reply != "" {
		reply += " "
	}
	for _, c := range m.conns {
		for _, s := range c.subs {
			if !matches(s.subject, subject) {
				continue
			}
			if isHeard = true; !m.isOpen(from, c.server) {
				continue
			}
			if m.trace != nil {
				what, _, _ := strings.Cut(seen, inboxPrefix)
				fmt.Fprintf(m.trace, "%s n%d to %d: %s, %d bytes\n", time.Now().Format(traceTime), from+1, c.line.id, cmp.Or(what, "answer"), len(data))
			}
			if len(header) == 0 {
				c.send(fmt.Sprintf("MSG %s %s %s%d\r\n", seen, s.id, reply, len(data)), string(data), "\r\n")
			} else {
				c.send(fmt.Sprintf("HMSG %s %s %s%d %d\r\n", seen, s.id, reply, len(header), len(header)+len(data)), string(header), string(data), "\r\n")
			}
		}
	}
	return isHeard
}

// hasInterest reports whether a client has subscribed to a subject.
func (m *Model) hasInterest(subject string) bool {
	return slices.ContainsFunc(m.conns, func(c *conn) bool {
		return slices.ContainsFunc(c.subs, func(s subscription) bool { return matches(s.subject, subject) })
	})
}

// matches reports whether a pattern with * and > matches a subject.
func matches(pattern, subject string) bool {
	for pattern != "" {
		p, more, hasMore := strings.Cut(pattern, ".")
		s, rest, hasRest := strings.Cut(subject, ".")
		switch {
		case p == ">":
			return subject != ""
		case p != "*" && p != s, hasMore != hasRest:
			return false
		}
		pattern, subject = more, rest
	}
	return true
}

// headerOf returns the value of a message's header.
func headerOf(header []byte, name string) string {
	for line := range strings.SplitSeq(string(header), "\r\n") {
		if key, value, is := strings.Cut(line, ":"); is && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// withHeader returns a header with more lines, each of which ends.
func withHeader(header []byte, lines string) []byte {
	if len(header) == 0 {
		header = []byte("NATS/1.0\r\n\r\n")
	}
	return append(bytes.Clone(header[:len(header)-2]), lines+"\r\n"...)
}
