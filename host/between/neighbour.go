package between

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"
)

// neighbour is another host. It exists while the host lives or this host has connections to it.
type neighbour struct {
	node, door string
	conns      map[*outgoing]bool
	// beat is the connection for beats; only its own goroutine uses it.
	beat *tls.Conn
	// unreached is set while the host has a lease and does not answer.
	unreached bool
}

// outgoing is a connection that this host has made.
type outgoing struct {
	net.Conn
	mesh *Mesh
	to   *neighbour
}

// Close closes the connection without TLS's closing message, which would wait for a reader.
func (c *outgoing) Close() error {
	c.mesh.mu.Lock()
	delete(c.to.conns, c)
	c.mesh.mu.Unlock()
	return c.Conn.(*tls.Conn).NetConn().Close()
}

// keep notes a connection to a host, so that it can be closed when the host is gone.
func (m *Mesh) keep(node, door string, conn *tls.Conn) net.Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &outgoing{conn, m, m.neighbour(node, door)}
	if c.to.conns[c] = true; m.ctx.Err() != nil {
		conn.NetConn().Close()
	}
	return c
}

// neighbour returns the neighbour with a name, and watches it from now on; the caller holds mu.
func (m *Mesh) neighbour(node, door string) *neighbour {
	n := m.neighbours[node]
	if n == nil {
		n = &neighbour{node: node, conns: map[*outgoing]bool{}}
		m.neighbours[node] = n
		if node != m.node && m.ctx.Err() == nil {
			m.work.Go(func() { m.watch(n) })
		}
	}
	n.door = door
	return n
}

// end closes all connections to a host; the caller holds the mesh's mutex.
func (n *neighbour) end() {
	for c := range n.conns {
		c.Conn.(*tls.Conn).NetConn().Close()
	}
	clear(n.conns)
}

// look looks for other hosts again and again.
func (m *Mesh) look() {
	for ok := true; ok; ok = pause(m.ctx, beatEvery) {
		doors := m.listed()
		m.mu.Lock()
		for node, door := range doors {
			if node != m.node && door != "" && m.ctx.Err() == nil {
				m.neighbour(node, door)
			}
		}
		m.mu.Unlock()
	}
}

// watch sends beats to a host until nobody needs to know whether it lives.
func (m *Mesh) watch(n *neighbour) {
	defer func() {
		if n.beat != nil {
			n.beat.NetConn().Close()
		}
	}()
	failed, told, reached := 0, false, false
	for ok := true; ok; ok = pause(m.ctx, beatEvery) {
		lives := m.listed()[n.node] != ""
		m.mu.Lock()
		door := n.door
		if !lives && len(n.conns) == 0 {
			delete(m.neighbours, n.node)
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		err := m.ask(n, door)
		switch {
		case m.ctx.Err() != nil:
			return
		case err == nil:
			if !told || !reached {
				m.log.Info("this host reaches another", "host", n.node)
			}
			failed, told, reached = 0, true, true
			m.note(n, false)
			continue
		}
		m.mu.Lock()
		n.end()
		m.mu.Unlock()
		// A host that has just started may not know this one yet, and this one may not know yet
		// that another has just ended.
		m.note(n, lives && failed+1 >= failuresTold)
		if failed++; lives && failed >= failuresTold && (!told || reached) {
			m.log.Warn("this host does not reach another: who comes here for that one's rooms waits", "host", n.node, "error", err,
				"hint", "hosts connect to each other's --cluster-listen: open that port between them (docs/serve/run.md, Many hosts)")
			told, reached = true, false
		}
	}
}

// note notes whether a host with a lease does not answer.
func (m *Mesh) note(n *neighbour, unreached bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n.unreached = unreached
}

// Unreached returns how many hosts with a lease this one does not reach.
func (m *Mesh) Unreached() (hosts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.neighbours {
		if n.unreached {
			hosts++
		}
	}
	return hosts
}

// failuresTold is how many beats in a row fail before the log says so.
const failuresTold = 3

// ask returns nil if a host lives: it answers a beat, or else one on a new connection.
func (m *Mesh) ask(n *neighbour, door string) error {
	if n.beat != nil {
		if exchange(n.beat) == nil {
			return nil
		}
		n.beat.NetConn().Close()
		n.beat = nil
	}
	ctx, cancel := context.WithTimeout(m.ctx, answerTime)
	defer cancel()
	conn, err := m.dial(ctx, n.node, door, beats)
	if err == nil {
		n.beat = conn
	}
	return err
}

// exchange sends a byte, and returns nil once it has come back.
func exchange(conn *tls.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	b := []byte{'?'}
	if _, err := conn.Write(b); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, b)
	return err
}

// answer answers another host's beats until they stop.
func (m *Mesh) answer(conn *tls.Conn) {
	defer context.AfterFunc(m.ctx, func() { conn.NetConn().Close() })()
	defer conn.NetConn().Close()
	for echo(conn, time.Now().Add(silence)) == nil {
	}
}

// silence is how long a connection for beats may be silent before it is closed.
const silence = 10 * beatEvery

// echo returns one byte to its sender. The byte must arrive before until.
func echo(conn *tls.Conn, until time.Time) error {
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	b := make([]byte, 1)
	if _, err := io.ReadFull(conn, b); err != nil {
		return err
	}
	_, err := conn.Write(b)
	return err
}
