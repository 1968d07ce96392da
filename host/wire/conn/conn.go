// Package conn carries wire messages over a WebSocket.
package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
)

// Side is an end of the conversation. A host accepts less than a peer does, because anyone may
// connect to it.
type Side int

// These are the sides.
const (
	AtHost Side = iota
	AtPeer
)

const (
	// helloLimit is enough for a stranger's message: a hello, whose longest texts are a name and a
	// token.
	helloLimit = 4 << 10
	// hostReadLimit is several times the size of a chunk of reports or infos.
	hostReadLimit = 1 << 20
	// peerReadLimit is enough for the list of [discovery.MaxServers], all of them IPv6.
	peerReadLimit = 8 << 20
	// hostTextLimit is enough for a peer's longest control message, a second look at the finalists.
	// JSON takes several times its length in memory.
	hostTextLimit = 128 << 10
)

// These are the limits of a connection, each with its reason.
const (
	// queueLength is how many messages may wait for a slow reader. Then the connection is closed;
	// the peer comes back and gets the current state.
	queueLength = 48
	// pingEvery keeps home routers' TCP mappings alive, and finds dead peers.
	// The first one comes after firstPing: what it takes tells a room of the line.
	pingEvery, firstPing = 10 * time.Second, time.Second
	// pongWait allows for two missed pings and a slow line.
	pongWait = 25 * time.Second
	// writeWait is how long one message may take: a full list on a slow up-link.
	writeWait = 20 * time.Second
	// slowestLine is the lowest rate of a player's line, in bytes a second. A long message may take
	// accordingly longer than writeWait. A host waits less, because it keeps the message for so long.
	slowestLine     = 1 << 10
	slowestReceiver = 4 << 10
	// moving is how many bytes of a message show that the line works.
	moving = 256
	// maxUnsent is how many bytes of a host's messages may wait in the system's buffer.
	maxUnsent = 4096
	// closeWait is how long a closing connection may take to send its queue, such as a refusal, and
	// to receive the other side's close frame.
	closeWait = 2 * time.Second
)

// Farewell is why a connection ends, in words that the other side reads in the close frame. It is for
// ends that no message explains, and must fit a control frame.
type Farewell string

// Error returns the words.
func (f Farewell) Error() string { return "conn: " + string(f) }

// ErrSlow says that the other side does not read its messages.
const ErrSlow = Farewell("too many messages wait unread")

// Conn carries messages over a WebSocket. The caller of Run reads. A writer exists only while there
// is something to write, so that an idle connection costs one goroutine. Any goroutine may call
// Send and Close, even before Run.
type Conn struct {
	ws       *websocket.Conn
	side     Side
	began    time.Time
	heard    atomic.Int64 // when the other side last sent something, in ns since began
	trip     atomic.Int64 // the lowest round trip of a ping, in ns, 0 before the first answer
	onMoving func()
	unread   *wire.Frame
	socket   syscall.RawConn // a host's, nil where there is none
	writer   sync.WaitGroup  // at most one

	mu      sync.Mutex // guards following
	running bool
	writing bool
	queue   []outgoing
	// sent is when a message was last queued, and newest counts those that were queued then. They count as
	// waiting as long as no time has passed: otherwise the order of goroutines would say whether they do.
	sent    time.Time
	newest  int
	closed  bool
	goodbye bool // a close frame was sent, or is not worth sending
	err     error
	pings   *time.Timer // while running
	cutOff  *time.Timer // set once closed
}

// outgoing is a WebSocket frame that waits to be written: text, binary or control.
type outgoing struct {
	kind int
	data []byte
}

// New takes over the side's end of ws. The caller must call Run or Close. A host accepts only short
// messages until [Conn.Admit].
func New(ws *websocket.Conn, side Side) *Conn {
	c := &Conn{ws: ws, side: side, began: time.Now()}
	ws.SetReadLimit(peerReadLimit)
	if side == AtHost {
		ws.SetReadLimit(helloLimit)
		c.keepFresh()
	}
	return c
}

// keepFresh keeps what a host says from growing old in the system's buffer. On a slow line that
// buffer takes a minute's worth of states that are out of date, and each question waits behind them.
// With little in it the connection's own queue grows instead, which [Conn.Queued] tells.
func (c *Conn) keepFresh() {
	socket := c.ws.NetConn()
	if encrypted, is := socket.(*tls.Conn); is {
		socket = encrypted.NetConn()
	}
	if open, is := socket.(syscall.Conn); is { // and no connection between hosts
		c.socket, _ = open.SyscallConn() // without it all works as on other systems
	}
	if c.socket != nil {
		c.socket.Control(func(fd uintptr) { limitUnsent(fd) })
	}
}

// Silence returns how long the other side has sent nothing, not even an answer to a ping. There is
// a ping every ten seconds.
func (c *Conn) Silence() time.Duration { return time.Since(c.began) - time.Duration(c.heard.Load()) }

// RoundTrip returns the lowest round trip of a ping so far, 0 before the first answer.
func (c *Conn) RoundTrip() time.Duration { return time.Duration(c.trip.Load()) }

// answered takes the answer to a ping, which repeats when the ping was written, in ns since began. An
// answer that says anything else tells nothing.
func (c *Conn) answered(said string) {
	now := int64(time.Since(c.began))
	at, err := strconv.ParseInt(said, 10, 64)
	if trip := now - at; err == nil && at > 0 && trip > 0 && (c.trip.Load() == 0 || trip < c.trip.Load()) {
		c.trip.Store(trip)
	}
}

// listen notes that the other side has sent something, and waits another pongWait for more.
func (c *Conn) listen() error {
	c.heard.Store(int64(time.Since(c.began)))
	return c.ws.SetReadDeadline(time.Now().Add(pongWait))
}

// OnMoving sets a function that Run's goroutine calls whenever another part of an incomplete
// message has arrived. On a slow line a long message takes longer than the permitted silence. Call
// OnMoving before Run.
func (c *Conn) OnMoving(do func()) { c.onMoving = do }

// Unread makes Run deliver a frame first that was already read from the WebSocket.
func (c *Conn) Unread(f wire.Frame) { c.unread = &f }

// Admit makes a host accept everything that a member may send. Run's receive calls it.
func (c *Conn) Admit() { c.ws.SetReadLimit(hostReadLimit) }

// Send queues a message and never blocks. A full queue closes the connection with [ErrSlow]. After
// Close, Send drops messages.
func (c *Conn) Send(m wire.Message) {
	f, err := wire.Marshal(m)
	if err != nil {
		c.Close(err)
		return
	}
	c.SendFrame(f)
}

// SendFrame queues a frame that was marshalled once for all members.
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
		if now := time.Now(); now.After(c.sent) {
			c.sent, c.newest = now, 0
		}
		c.newest++
		c.wake()
	}
}

// Queued returns how many messages wait to be written. A caller with much to send, or with messages
// that can wait, sends them while there are few.
func (c *Conn) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().After(c.sent) {
		return len(c.queue)
	}
	return max(len(c.queue), c.newest)
}

// HasArrived reports whether the other side's system has everything that was sent. States that are
// sent one by one, each when the last has arrived, cannot fill a slow line: TCP's own losses on a
// full one hold everything up for seconds. Where the system does not tell, HasArrived reports
// whether nothing waits in the queue.
func (c *Conn) HasArrived() bool {
	c.mu.Lock()
	isDone := len(c.queue) == 0 && !c.writing && time.Now().After(c.sent)
	c.mu.Unlock()
	if isDone && c.socket != nil {
		c.socket.Control(func(fd uintptr) { isDone = unacknowledged(fd) == 0 })
	}
	return isDone
}

// Close closes the connection once the queue has been sent, or after two seconds. Run returns the
// err of the first Close.
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

// Run reads messages into receive until the connection or ctx ends. It returns the reason:
// receive's error, ctx's, or the connection's own. No goroutine is left when it returns.
func (c *Conn) Run(ctx context.Context, receive func(wire.Message) error) error {
	stop := context.AfterFunc(ctx, func() { c.Close(context.Cause(ctx)) })
	defer stop()
	c.mu.Lock()
	c.running = true
	c.pings = time.AfterFunc(firstPing, c.ping)
	c.wake()
	c.mu.Unlock()
	c.read(receive)
	c.mu.Lock()
	c.running = false // from now on no writer starts
	c.pings.Stop()
	c.mu.Unlock()
	c.writer.Wait()
	c.cutOff.Stop()
	c.ws.Close()
	return c.err
}

// read reads until it has called Close.
func (c *Conn) read(receive func(wire.Message) error) {
	c.ws.SetPingHandler(func(data string) error { // the library's own handler gives up if the machine is busy for a second
		if err := c.listen(); err != nil {
			return err
		}
		err := c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWait))
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, websocket.ErrCloseSent) {
			return nil // a long message is being sent, and proves that we live; or we have said our last word
		}
		return err
	})
	c.ws.SetPongHandler(func(said string) error {
		c.answered(said)
		return c.listen()
	})
	for {
		frame, err := c.readFrame()
		if err != nil {
			c.Close(fmt.Errorf("conn: read: %w", err))
			return
		}
		if err := c.deliver(frame, receive); err != nil {
			c.explain(err)
			c.Close(err)
			break
		}
	}
	// Closing a socket with unread bytes would destroy the refusal on its way out. So everything is
	// read and dropped, however long, until the other side has closed.
	c.ws.SetReadLimit(0)
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}

// explain tells a peer which of its messages cannot be read, and why. Authors of other programs
// have no other hint.
func (c *Conn) explain(err error) {
	if c.side == AtHost && errors.Is(err, wire.ErrMalformed) {
		why := strings.TrimPrefix(err.Error(), wire.ErrMalformed.Error()+": ")
		c.Send(wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(discovery.CleanText(why))})
	}
}

// readFrame reads a frame, and waits as long as bytes come.
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
			if c.onMoving != nil {
				c.onMoving()
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

// deliver reads and handles the frame in a goroutine of its own. JSON and a hello need a deep
// stack, 4 KiB of which would otherwise stay with the connection. It skips messages of unknown
// kinds.
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

// unmarshal reads a frame that the other side may send. A host inflates nothing.
func (c *Conn) unmarshal(f wire.Frame) (wire.Message, error) {
	switch {
	case c.side == AtPeer:
	case !f.Binary && len(f.Data) > hostTextLimit:
		return nil, fmt.Errorf("%w: %d bytes of text", wire.ErrMalformed, len(f.Data))
	case f.IsDeflated():
		return nil, fmt.Errorf("%w: deflated data from a peer", wire.ErrMalformed)
	}
	return wire.Unmarshal(f)
}

// ping jumps the queue, because a long queue on a slow line is no silence.
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
		// After the other side's close frame the reader says why the connection ends.
		if err := c.writeFrame(frame); err != nil && !errors.Is(err, websocket.ErrCloseSent) {
			c.broken(fmt.Errorf("conn: write: %w", err))
		}
	}
}

// next returns the next frame to write: at the very end a close frame.
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
		var why Farewell
		errors.As(c.err, &why)
		return outgoing{websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, string(why))}, true
	}
	c.queue, c.writing = nil, false
	return outgoing{}, false
}

// broken gives up a connection that accepts no more data.
func (c *Conn) broken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(err)
	c.queue, c.goodbye = nil, true
	c.ws.NetConn().Close()
}

func (c *Conn) writeFrame(f outgoing) error {
	slowest := slowestReceiver
	if c.side == AtPeer { // peers know their host, and notice its silence
		slowest = slowestLine
	}
	patience := writeWait + time.Duration(len(f.data)/slowest)*time.Second
	deadline := time.Now().Add(patience)
	if f.kind == websocket.PingMessage {
		f.data = strconv.AppendInt(nil, int64(time.Since(c.began)), 10)
	}
	if f.kind == websocket.PingMessage || f.kind == websocket.CloseMessage {
		return c.ws.WriteControl(f.kind, f.data, deadline)
	}
	if err := c.ws.SetWriteDeadline(deadline); err != nil {
		return err
	}
	return c.ws.WriteMessage(f.kind, f.data)
}
