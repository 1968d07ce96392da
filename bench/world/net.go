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

	"muster/host/cluster/clustertest"
)

// network carries connections between nodes, in memory. Each direction of a connection has moments of
// its own, so one event happens at a time: the bubble's clock goes on when all goroutines wait. In how
// many parts somebody writes does not matter: what arrives in one moment arrives together. Writing never
// blocks: a lock that its writer holds would stop the clock.
type network struct {
	mu        sync.Mutex // guards following
	listeners map[string]*listener
	cuts      map[link]int // by how many faults
	halves    []*half
	gone      map[string]bool // nodes whose process has ended
}

// link is the way from a node to another.
type link struct{ from, to string }

func newNetwork() *network {
	return &network{listeners: map[string]*listener{}, cuts: map[link]int{}, gone: map[string]bool{}}
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
	if l = n.listeners[to]; l == nil || n.gone[node] {
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

// cut makes a way lose everything, or ends one such fault. What was lost is sent again after it, packet by packet.
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
			h.last = time.Now().Add(h.delay)
			for i := range h.data {
				h.last = h.moment(h.data[i].at, h.last.Add(1))
				h.data[i].at = h.last
			}
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
	n.gone[node] = true
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

// forget lets nobody connect to a node any more.
func (n *network) forget(node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for at, l := range n.listeners {
		if l.node == node {
			delete(n.listeners, at)
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
	heard    time.Time // when its reader last read something
	why      error     // why nothing comes after the data
	dead     time.Time // when its reader ends
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
		h.last = h.moment(time.Now().Add(h.delay), h.last.Add(1)) // its reader hears the data first
		h.data = append(h.data, packet{h.last, nil})
		h.wake()
	}
}

// kill makes the reader read nothing more, but for what it reads in this very moment.
func (h *half) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead.IsZero() {
		h.dead = h.moment(time.Now().Add(1), time.Time{})
		h.wake()
	}
}

func (h *half) isOver() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.dead.IsZero() || h.why != nil && len(h.data) == 0
}

// moment returns the first moment after both times at which only this half is heard.
func (h *half) moment(a, b time.Time) time.Time {
	if a.Before(b) {
		a = b
	}
	return clustertest.Moment(a, int(h.delay))
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
		case len(h.data) == 0 || isCut:
			next = h.dead
		case h.data[0].at.After(now):
			if next = h.data[0].at; !h.dead.IsZero() {
				next = h.dead
			}
		case h.data[0].at.Before(now): // its reader was busy, and so were others who now read on
			next = h.moment(now.Add(1), now)
			h.data[0].at = next
		case h.data[0].bytes == nil:
			err := h.why
			h.mu.Unlock()
			return 0, err
		default:
			h.heard = now
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
		at := h.moment(time.Now().Add(h.delay), h.last)
		if len(h.data) == 0 || at.After(h.last) {
			h.data = append(h.data, packet{at: at})
		}
		h.last = at
		newest := &h.data[len(h.data)-1]
		newest.bytes = append(newest.bytes, b...)
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

// until sets when a read ends without data, and returns when the reader last heard something.
func (h *half) until(t time.Time) (heard time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = t
	h.wake()
	return h.heard
}

// SetReadDeadline lets a reader who was busy since it last heard something read on at a moment of its own.
func (c *conn) SetReadDeadline(t time.Time) error {
	now := time.Now()
	if heard := c.in.until(t); t.After(now) && heard.Before(now) { // an earlier time is to end a read, under a lock
		time.Sleep(time.Until(c.in.moment(now.Add(1), now)))
	}
	return nil
}

func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
