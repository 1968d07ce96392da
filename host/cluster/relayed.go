package cluster

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// relayed is one end of a connection between two hosts. Its memory is bounded: who does
// not read stops the other's writing.
type relayed struct {
	link *link
	name connection
	// settled is closed when a connection is made, or is not.
	settled chan struct{}
	writer  sync.Mutex // held by who writes: frames go out in the order of the writes

	mu      sync.Mutex // guards following
	changed sync.Cond
	// unread is what has come, read how much of all was read, and told what of that the
	// other end knows.
	unread     []byte
	read, told uint64
	// written is how much was sent, credit how much of it the other end has read.
	written, credit uint64
	// ended: nothing more comes. gone: the other end is closed. finished: we say no more.
	made, ended, gone, finished, closed bool
	// err is why the connection ended that nobody has closed.
	err                 error
	readTime, writeTime deadline
}

// deadline is a time, and what wakes those who wait when it has come.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

// creditEvery is after how many bytes the other end hears that they were read.
const creditEvery = relayWindow / 4

// keptBuffer is how large a buffer may be that an idle connection keeps, in bytes.
const keptBuffer = 4 << 10

func newRelayed(l *link, name connection) *relayed {
	c := &relayed{link: l, name: name, settled: make(chan struct{})}
	c.changed.L = &c.mu
	return c
}

// take takes a frame of the other end, and reports whether it kept to the rules.
func (c *relayed) take(kind byte, data []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	switch kind {
	case frameAccept:
		if !c.made && c.err == nil {
			c.made = true
			close(c.settled)
		}
	case frameData:
		if len(c.unread)+len(data) > relayWindow || c.ended {
			return false
		}
		if !c.closed {
			c.unread = append(c.unread, data...)
		}
	case frameCredit:
		if len(data) != 8 || binary.BigEndian.Uint64(data) > c.written {
			return false
		}
		c.credit = max(c.credit, binary.BigEndian.Uint64(data))
	case frameFin:
		c.ended = true
	case frameClose:
		c.ended, c.gone = true, true
	}
	return true
}

// fail ends a connection that nobody has closed.
func (c *relayed) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.gone {
		return // what came before the end is still read
	}
	c.err = why
	if !c.made {
		if why == errGone {
			c.err = errBusy
		}
		close(c.settled)
	}
	c.changed.Broadcast()
}

func (c *relayed) error() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *relayed) Read(b []byte) (n int, err error) {
	c.mu.Lock()
	for {
		switch {
		case c.closed:
			err = net.ErrClosed
		case c.readTime.over():
			err = os.ErrDeadlineExceeded
		case len(c.unread) > 0:
			n = copy(b, c.unread)
			c.unread = c.unread[n:]
		case c.ended:
			err = io.EOF
		case c.err != nil:
			err = c.err
		case len(b) > 0:
			c.changed.Wait()
			continue
		}
		break
	}
	c.read += uint64(n)
	if len(c.unread) == 0 && cap(c.unread) > keptBuffer {
		c.unread = nil
	}
	read := c.read
	tells := read-c.told >= creditEvery && !c.ended && c.err == nil
	if tells {
		c.told = read
	}
	c.mu.Unlock()
	if tells {
		if failed := c.link.send(frameCredit, c.name, binary.BigEndian.AppendUint64(nil, read)); failed != nil {
			c.fail(failed)
		}
	}
	return n, err
}

func (c *relayed) Write(b []byte) (n int, err error) {
	c.writer.Lock()
	defer c.writer.Unlock()
	chunk := int(min(relayChunk, c.link.relay.conn.MaxPayload()-frameHead))
	for {
		some, err := c.mayWrite(min(len(b)-n, chunk))
		if err != nil || n == len(b) {
			return n, err
		}
		if err := c.link.send(frameData, c.name, b[n:n+some]); err != nil {
			c.fail(err)
			return n, err
		}
		n += some
	}
}

// mayWrite waits until the other end has room, and returns for how many of so many bytes.
func (c *relayed) mayWrite(most int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		room := relayWindow - int(c.written-c.credit)
		switch {
		case c.closed, c.finished:
			return 0, net.ErrClosed
		case c.writeTime.over():
			return 0, os.ErrDeadlineExceeded
		case c.err != nil:
			return 0, c.err
		case c.gone:
			return 0, syscall.EPIPE
		case room > 0 || most == 0:
			some := min(most, room)
			c.written += uint64(some)
			return some, nil
		}
		c.changed.Wait()
	}
}

// CloseWrite says that nothing more comes from this end; the other is still read.
func (c *relayed) CloseWrite() error {
	c.writer.Lock()
	defer c.writer.Unlock()
	c.mu.Lock()
	says := !c.finished && !c.closed && c.err == nil
	c.finished = true
	c.mu.Unlock()
	if !says {
		return net.ErrClosed
	}
	return c.link.send(frameFin, c.name, nil)
}

// Close ends the connection. The other end still reads what was written.
func (c *relayed) Close() error {
	c.mu.Lock()
	was, failed := c.closed, c.err != nil || c.gone
	c.closed, c.unread = true, nil
	c.readTime.stop()
	c.writeTime.stop()
	c.changed.Broadcast()
	c.mu.Unlock()
	if was {
		return net.ErrClosed
	}
	c.link.forget(c.name)
	if failed {
		return nil // the other end knows
	}
	c.writer.Lock() // or the end might overtake what is being written
	defer c.writer.Unlock()
	c.link.send(frameClose, c.name, nil) // if that fails all connections end anyway
	return nil
}

func (c *relayed) LocalAddr() net.Addr  { return hostAddr(c.link.relay.node) }
func (c *relayed) RemoteAddr() net.Addr { return hostAddr(c.link.host) }

func (c *relayed) SetDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.readTime, &c.writeTime)
}
func (c *relayed) SetReadDeadline(t time.Time) error  { return c.setDeadlines(t, &c.readTime) }
func (c *relayed) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.writeTime) }

func (c *relayed) setDeadlines(t time.Time, deadlines ...*deadline) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	for _, d := range deadlines {
		d.stop()
		d.at = t
		if wait := time.Until(t); !t.IsZero() && wait > 0 {
			d.timer = time.AfterFunc(wait, c.wake)
		}
	}
	c.changed.Broadcast()
	return nil
}

func (c *relayed) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

func (d *deadline) over() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
