// Package conn carries wire messages over a WebSocket.
package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
)

// Side is which end of the conversation one is. A host takes less than a peer:
// anyone may connect to it.
type Side int

// The sides.
const (
	AtHost Side = iota
	AtPeer
)

const (
	// helloLimit holds what a stranger may say: a hello, whose longest texts are a
	// name and a token.
	helloLimit = 4 << 10
	// hostReadLimit holds a chunk of reports or infos several times over.
	hostReadLimit = 1 << 20
	// peerReadLimit holds the list of [discovery.MaxServers], all of them IPv6.
	peerReadLimit = 8 << 20
	// hostTextLimit holds the longest control message of a peer, a second look
	// at the finalists. JSON takes several times its length in memory.
	hostTextLimit = 128 << 10
)

// The limits of a connection, each with its reason.
const (
	// queueLength is how many messages wait for a slow reader before the
	// connection is given up: the peer comes back and is told what counts.
	queueLength = 48
	// pingEvery keeps home routers' TCP mappings alive and finds dead peers.
	pingEvery = 10 * time.Second
	// pongWait is two pings missed and a slow line.
	pongWait = 25 * time.Second
	// writeWait is how long one message may take: a full list on a slow up-link.
	writeWait = 20 * time.Second
	// slowestLine is what a player's line takes at least, in bytes a second, and so by
	// how much longer than writeWait a long message may take there.
	slowestLine = 1 << 10
	// moving is how many bytes of a message show that the line moves.
	moving = 256
	// closeWait is how long a connection that ends may take to send what is
	// queued, such as a refusal, and to see the other side's good-bye.
	closeWait = 2 * time.Second
)

// ErrSlow says that the other side does not read what it is sent.
var ErrSlow = errors.New("conn: the other side is too slow")

// Conn carries messages over a WebSocket. Who calls Run reads; a writer is
// there only while there is something to write, so that an idle connection
// costs one goroutine. Send and Close may be called from any goroutine, before
// Run too.
type Conn struct {
	ws     *websocket.Conn
	side   Side
	began  time.Time
	heard  atomic.Int64 // when the other side was heard last, in ns since began
	moves  func()
	unread *wire.Frame
	writer sync.WaitGroup // of one at most

	mu      sync.Mutex // guards following
	running bool
	writing bool
	queue   []outgoing
	closed  bool
	goodbye bool // was said, or is not worth saying
	err     error
	pings   *time.Timer // while running
	cutOff  *time.Timer // since closed
}

// outgoing is a WebSocket frame to be written: text, binary or control.
type outgoing struct {
	kind int
	data []byte
}

// New takes over the side's end of ws. Run or Close must be called. A host takes
// short messages only, until [Conn.Admit].
func New(ws *websocket.Conn, side Side) *Conn {
	ws.SetReadLimit(peerReadLimit)
	if side == AtHost {
		ws.SetReadLimit(helloLimit)
	}
	return &Conn{ws: ws, side: side, began: time.Now()}
}

// Silence returns for how long nothing has come from the other side, answers to pings
// included. There is a ping every ten seconds.
func (c *Conn) Silence() time.Duration { return time.Since(c.began) - time.Duration(c.heard.Load()) }

// listen notes that the other side was heard, and waits for it for pongWait more.
func (c *Conn) listen() error {
	c.heard.Store(int64(time.Since(c.began)))
	return c.ws.SetReadDeadline(time.Now().Add(pongWait))
}

// OnMoving has something done, before Run, whenever some more of a message has come
// that is not whole yet: a long one takes a slow line longer than silence is put up with.
// Run's goroutine does it.
func (c *Conn) OnMoving(do func()) { c.moves = do }

// Unread has Run take a frame before all others that was read of the WebSocket already.
func (c *Conn) Unread(f wire.Frame) { c.unread = &f }

// Admit has a host take from now on what a member may say. It is for Run's receive
// to call.
func (c *Conn) Admit() { c.ws.SetReadLimit(hostReadLimit) }

// Send queues a message and never blocks. A queue that is full closes the
// connection with [ErrSlow]; after Close, messages are dropped.
func (c *Conn) Send(m wire.Message) {
	f, err := wire.Marshal(m)
	if err != nil {
		c.Close(err)
		return
	}
	c.SendFrame(f)
}

// SendFrame queues a frame that was marshalled before, for all members at once.
func (c *Conn) SendFrame(f wire.Frame) {
	kind := websocket.TextMessage
	if f.Binary {
		kind = websocket.BinaryMessage
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case len(c.queue) == queueLength:
		c.close(ErrSlow)
	default:
		c.queue = append(c.queue, outgoing{kind, f.Data})
		c.wake()
	}
}

// Queued is how many messages wait to be written. Who has much to say, or
// something that can wait, sends it while there are few.
func (c *Conn) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// Close ends the connection once what is queued has been sent, or could not be
// in two seconds; Run returns the err of the first Close.
func (c *Conn) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(err)
}

func (c *Conn) close(err error) {
	if c.closed {
		return
	}
	c.closed, c.err = true, err
	c.cutOff = time.AfterFunc(closeWait, func() { c.ws.NetConn().Close() })
	c.wake()
}

// Run reads messages into receive until the connection ends or ctx does, and
// returns why: receive's error, ctx's, or the connection's own. No goroutine is
// left when it returns.
func (c *Conn) Run(ctx context.Context, receive func(wire.Message) error) error {
	stop := context.AfterFunc(ctx, func() { c.Close(context.Cause(ctx)) })
	defer stop()
	c.mu.Lock()
	c.running = true
	c.pings = time.AfterFunc(pingEvery, c.ping)
	c.wake()
	c.mu.Unlock()
	c.read(receive)
	c.mu.Lock()
	c.running = false // no writer starts any more
	c.pings.Stop()
	c.mu.Unlock()
	c.writer.Wait()
	c.cutOff.Stop()
	c.ws.Close()
	return c.err
}

// read reads until it has called Close.
func (c *Conn) read(receive func(wire.Message) error) {
	c.ws.SetPingHandler(func(data string) error { // the library's own gives up on a machine that is busy for a second
		if err := c.listen(); err != nil {
			return err
		}
		err := c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWait))
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			return nil // a long message is in the way, and says as much
		}
		return err
	})
	c.ws.SetPongHandler(func(string) error { return c.listen() })
	for {
		frame, err := c.readFrame()
		if err != nil {
			c.Close(fmt.Errorf("conn: read: %w", err))
			return
		}
		if err := c.deliver(frame, receive); err != nil {
			c.Close(err)
			break
		}
	}
	// A socket that is closed with bytes unread takes back the refusal on its way
	// out: what comes until the other side has closed is thrown away, however long.
	c.ws.SetReadLimit(0)
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}

// readFrame waits for as long as bytes come.
func (c *Conn) readFrame() (wire.Frame, error) {
	if first := c.unread; first != nil {
		c.unread = nil
		return *first, nil
	}
	err := c.listen()
	if err != nil {
		return wire.Frame{}, err
	}
	kind, r, err := c.ws.NextReader()
	var data []byte
	for told := 0; err == nil; {
		data = slices.Grow(data, moving)
		var n int
		n, err = r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == nil && len(data)-told >= moving {
			told = len(data)
			err = c.listen()
			if c.moves != nil {
				c.moves()
			}
		}
	}
	switch {
	case err == io.EOF:
		err = nil
	case errors.Is(err, websocket.ErrReadLimit):
		err = fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	return wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data}, err
}

// deliver has a goroutine of its own read the frame and take it: JSON and a hello need
// a deep stack, which would stay with the connection, 4 KiB of it. A message of a kind that this version does
// not know is passed over.
func (c *Conn) deliver(f wire.Frame, receive func(wire.Message) error) error {
	var err error
	var reader sync.WaitGroup
	reader.Go(func() {
		var m wire.Message
		if m, err = c.unmarshal(f); err == nil {
			err = receive(m)
		}
	})
	reader.Wait()
	if errors.Is(err, wire.ErrUnknown) {
		return nil
	}
	return err
}

// unmarshal reads a frame that the other side may send. A host inflates
// nothing.
func (c *Conn) unmarshal(f wire.Frame) (wire.Message, error) {
	switch {
	case c.side == AtPeer:
	case !f.Binary && len(f.Data) > hostTextLimit:
		return nil, fmt.Errorf("%w: %d bytes of text", wire.ErrMalformed, len(f.Data))
	case f.IsList():
		return nil, fmt.Errorf("%w: a list from a peer", wire.ErrMalformed)
	}
	return wire.Unmarshal(f)
}

// ping goes before what is queued: a long queue on a slow line is no silence.
func (c *Conn) ping() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !c.running {
		return
	}
	c.pings.Reset(pingEvery)
	if len(c.queue) == 0 || c.queue[0].kind != websocket.PingMessage {
		c.queue = slices.Insert(c.queue, 0, outgoing{kind: websocket.PingMessage})
		c.wake()
	}
}

// wake starts a writer if there is none, and something to write.
func (c *Conn) wake() {
	if c.running && !c.writing && (len(c.queue) > 0 || c.closed) {
		c.writing = true
		c.writer.Go(c.write)
	}
}

func (c *Conn) write() {
	for {
		frame, ok := c.next()
		if !ok {
			return
		}
		if err := c.writeFrame(frame); err != nil {
			c.broken(fmt.Errorf("conn: write: %w", err))
		}
	}
}

// next takes what is to be written next: at the very end a good-bye.
func (c *Conn) next() (outgoing, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.queue) > 0:
		frame := c.queue[0]
		c.queue = c.queue[1:]
		return frame, true
	case c.closed && !c.goodbye:
		c.goodbye = true
		return outgoing{websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")}, true
	}
	c.queue, c.writing = nil, false
	return outgoing{}, false
}

// broken gives up a connection that takes nothing any more.
func (c *Conn) broken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(err)
	c.queue, c.goodbye = nil, true
	c.ws.NetConn().Close()
}

func (c *Conn) writeFrame(f outgoing) error {
	patience := writeWait
	if c.side == AtPeer { // the host is no stranger, and its silence is noticed
		patience += time.Duration(len(f.data)/slowestLine) * time.Second
	}
	deadline := time.Now().Add(patience)
	if f.kind == websocket.PingMessage || f.kind == websocket.CloseMessage {
		return c.ws.WriteControl(f.kind, f.data, deadline)
	}
	if err := c.ws.SetWriteDeadline(deadline); err != nil {
		return err
	}
	return c.ws.WriteMessage(f.kind, f.data)
}
