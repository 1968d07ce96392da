package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// network carries connections between nodes, in memory. Each direction of a connection has a delay
// of its own, so nothing ever arrives twice in the same nanosecond. Writing never blocks: a lock
// that its writer holds would stop the clock of the bubble.
type network struct {
	mu        sync.Mutex // guards following
	listeners map[string]*listener
	cuts      map[link]int // by how many faults
	halves    []*half
}

// link is the way from a node to another.
type link struct{ from, to string }

func newNetwork() *network {
	return &network{listeners: map[string]*listener{}, cuts: map[link]int{}}
}

// delay returns how long data takes on a connection that is made now. It does not depend on how many
// there are: goroutines of one node may dial at the same time, in any order.
func delay(l link) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, l.from, "/", l.to, "/", time.Now().UnixNano())
	return 3*time.Millisecond + time.Duration(h.Sum64()%17_000_000)
}

// listener takes connections to an address of a node.
type listener struct {
	of       *network
	node     string
	at       *net.TCPAddr
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

// listen listens for a node at HOST:PORT.
func (n *network) listen(node, at string) *listener {
	l := &listener{of: n, node: node, at: addrOf(at), accepted: make(chan net.Conn, 256), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[at] = l
	return l
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.listeners[l.at.String()] == l {
		delete(l.of.listeners, l.at.String())
	}
	l.close()
	return nil
}

func (l *listener) Addr() net.Addr { return l.at }

func addrOf(at string) *net.TCPAddr {
	addr, err := net.ResolveTCPAddr("tcp", at)
	if err != nil {
		panic(err)
	}
	return addr
}

// dial connects a node, whose own address is from, to an address.
func (n *network) dial(ctx context.Context, node, from, to string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) { return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	n.mu.Lock()
	l := n.listeners[to]
	way := link{node, to}
	if l != nil {
		way.to = l.node
	}
	n.mu.Unlock()
	there, back := delay(way), delay(link{way.to, way.from})
	for first := true; first || n.isCut(way) || n.isCut(link{way.to, way.from}); first = false { // SYN, sent again
		timer := time.NewTimer(there + back)
		if !first {
			timer.Reset(time.Second + there)
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return fail(ctx.Err())
		case <-timer.C:
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if l = n.listeners[to]; l == nil {
		return fail(syscall.ECONNREFUSED)
	}
	here := &net.TCPAddr{IP: addrOf(from).IP, Port: 10_000 + len(n.halves)%50_000}
	out := &half{of: n, way: way, delay: there, changed: make(chan struct{})}
	in := &half{of: n, way: link{l.node, node}, delay: back, changed: make(chan struct{})}
	n.halves = append(slices.DeleteFunc(n.halves, (*half).isOver), out, in)
	select {
	case l.accepted <- &conn{in: out, out: in, local: l.at, remote: here}:
	default:
		return fail(syscall.ECONNREFUSED)
	}
	return &conn{in: in, out: out, local: here, remote: l.at}, nil
}

// cut makes a way lose everything, or ends one such fault. What was lost is sent again after it, one
// packet after the other: what comes in one nanosecond is heard in any number of parts.
func (n *network) cut(w link, isCut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if isCut {
		n.cuts[w]++
		return
	}
	if n.cuts[w]--; n.cuts[w] > 0 {
		return
	}
	for _, h := range n.halves {
		if h.way == w {
			h.mu.Lock()
			at := time.Now().Add(h.delay)
			for i := range h.data {
				if h.data[i].at.Before(at) {
					h.data[i].at = at
				}
				at = h.data[i].at.Add(time.Microsecond)
			}
			h.last = at
			h.wake()
			h.mu.Unlock()
		}
	}
}

func (n *network) isCut(w link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cuts[w] > 0
}

// reset ends all of a node's connections and listeners, as the end of a process does.
func (n *network) reset(node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for at, l := range n.listeners {
		if l.node == node {
			delete(n.listeners, at)
			l.close()
		}
	}
	for _, h := range n.halves {
		if h.way.from == node || h.way.to == node {
			h.end(syscall.ECONNRESET)
			if h.way.to == node {
				h.kill()
			}
		}
	}
}

// half is one direction of a connection.
type half struct {
	of    *network
	way   link
	delay time.Duration

	mu       sync.Mutex // guards following
	data     []packet
	last     time.Time // when the newest packet arrives
	why      error     // why nothing comes after the data
	dead     time.Time // when its reader ends; each at a time of its own, whatever ends many at once
	deadline time.Time
	changed  chan struct{}
}

type packet struct {
	at    time.Time
	bytes []byte
}

func (h *half) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// end makes nothing follow what was written.
func (h *half) end(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == nil {
		h.why = why
		h.data = append(h.data, packet{h.arrival(), nil})
		h.wake()
	}
}

// kill makes the reader read nothing more.
func (h *half) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead.IsZero() {
		h.dead, h.data = time.Now().Add(h.delay%time.Microsecond), nil
		h.wake()
	}
}

func (h *half) isOver() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.dead.IsZero() || h.why != nil && len(h.data) == 0
}

func (h *half) arrival() time.Time {
	at := time.Now().Add(h.delay)
	if at.Before(h.last) {
		at = h.last
	}
	h.last = at
	return at
}

func (h *half) read(b []byte) (int, error) {
	for {
		isCut := h.of.isCut(h.way)
		h.mu.Lock()
		now := time.Now()
		var next time.Time
		switch {
		case !h.dead.IsZero() && !now.Before(h.dead):
			h.mu.Unlock()
			return 0, net.ErrClosed
		case !h.deadline.IsZero() && !now.Before(h.deadline):
			h.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case !h.dead.IsZero():
			next = h.dead
		case len(h.data) == 0 || isCut:
		case h.data[0].at.After(now):
			next = h.data[0].at
		case h.data[0].bytes == nil:
			err := h.why
			h.mu.Unlock()
			return 0, err
		default:
			n := copy(b, h.data[0].bytes)
			if h.data[0].bytes = h.data[0].bytes[n:]; len(h.data[0].bytes) == 0 {
				h.data = h.data[1:]
			}
			h.mu.Unlock()
			return n, nil
		}
		if !h.deadline.IsZero() && (next.IsZero() || h.deadline.Before(next)) {
			next = h.deadline
		}
		changed := h.changed
		h.mu.Unlock()
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-changed:
		case <-timer:
		}
	}
}

func (h *half) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != nil {
		return 0, syscall.EPIPE
	}
	if len(b) > 0 && h.dead.IsZero() { // that its reader is gone, a writer learns by reading
		h.data = append(h.data, packet{h.arrival(), slices.Clone(b)})
		h.wake()
	}
	return len(b), nil
}

// conn is an end of a connection.
type conn struct {
	in, out       *half
	local, remote *net.TCPAddr
}

func (c *conn) Read(b []byte) (int, error)  { return c.in.read(b) }
func (c *conn) Write(b []byte) (int, error) { return c.out.write(b) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

func (c *conn) Close() error {
	c.out.end(io.EOF)
	c.in.kill()
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.in.deadline = t
	c.in.wake()
	return nil
}

func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
