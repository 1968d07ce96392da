package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
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
	// closeWait is how long a connection that ends may take to send what is
	// queued, such as a refusal, and to see the other side's good-bye.
	closeWait = 2 * time.Second
)

// ErrSlow says that the other side does not read what it is sent.
var ErrSlow = errors.New("wire: the other side is too slow")

// Conn carries messages over a WebSocket. One goroutine reads and one writes;
// Send and Close may be called from any, before Run too.
type Conn struct {
	ws    *websocket.Conn
	side  Side
	queue chan Frame

	closing  sync.Once
	closed   chan struct{}
	closeErr error       // set by closing, read after closed
	cutOff   *time.Timer // as closeErr
}

// NewConn takes over the side's end of ws. Run or Close must be called.
func NewConn(ws *websocket.Conn, side Side) *Conn {
	ws.SetReadLimit(side.readLimit())
	return &Conn{ws: ws, side: side, queue: make(chan Frame, queueLength), closed: make(chan struct{})}
}

// Send queues a message and never blocks. A queue that is full closes the
// connection with [ErrSlow]; after Close, messages are dropped.
func (c *Conn) Send(m Message) {
	f, err := Marshal(m)
	if err != nil {
		c.Close(err)
		return
	}
	c.SendFrame(f)
}

// SendFrame queues a frame that was marshalled before, for all members at once.
func (c *Conn) SendFrame(f Frame) {
	select {
	case c.queue <- f:
	default:
		c.Close(ErrSlow)
	}
}

// Queued is how many messages wait to be written. Who has much to say, or
// something that can wait, sends it while there are few.
func (c *Conn) Queued() int { return len(c.queue) }

// Close ends the connection once what is queued has been sent, or could not be
// in two seconds; Run returns the err of the first Close.
func (c *Conn) Close(err error) {
	c.closing.Do(func() {
		c.closeErr = err
		c.cutOff = time.AfterFunc(closeWait, func() { c.ws.NetConn().Close() })
		close(c.closed)
	})
}

// Run reads messages into receive until the connection ends or ctx does, and
// returns why: receive's error, ctx's, or the connection's own. Both its
// goroutines have ended when it returns.
func (c *Conn) Run(ctx context.Context, receive func(Message) error) error {
	stop := context.AfterFunc(ctx, func() { c.Close(context.Cause(ctx)) })
	defer stop()
	var reader sync.WaitGroup
	reader.Go(func() { c.read(receive) })
	c.write()
	reader.Wait()
	c.cutOff.Stop()
	c.ws.Close()
	return c.closeErr
}

func (c *Conn) read(receive func(Message) error) {
	c.ws.SetPongHandler(func(string) error { return c.ws.SetReadDeadline(time.Now().Add(pongWait)) })
	for {
		frame, err := c.readFrame()
		if err != nil {
			c.Close(fmt.Errorf("wire: read: %w", err))
			return
		}
		if err := c.deliver(frame, receive); err != nil {
			c.Close(err)
			c.linger()
			return
		}
	}
}

func (c *Conn) readFrame() (Frame, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(pongWait)); err != nil {
		return Frame{}, err
	}
	kind, data, err := c.ws.ReadMessage()
	if errors.Is(err, websocket.ErrReadLimit) {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return Frame{Type: kind, Data: data}, err
}

func (c *Conn) deliver(f Frame, receive func(Message) error) error {
	m, err := c.side.unmarshal(f)
	if err != nil {
		return err
	}
	return receive(m)
}

// linger reads on, and throws away, until the other side has closed: a socket
// that is closed with bytes unread takes back the refusal on its way out.
func (c *Conn) linger() {
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}

// write sends what is queued, and pings, until the connection is closed.
func (c *Conn) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case f := <-c.queue:
			if err := c.writeFrame(f); err != nil {
				c.Close(fmt.Errorf("wire: write: %w", err))
			}
		case <-ping.C:
			if err := c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)); err != nil {
				c.Close(fmt.Errorf("wire: ping: %w", err))
			}
		case <-c.closed:
			c.drain()
			return
		}
	}
}

// drain sends what is still queued and says good-bye.
func (c *Conn) drain() {
	for {
		select {
		case f := <-c.queue:
			if c.writeFrame(f) != nil {
				return
			}
		default:
			goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			c.ws.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(closeWait)) // best effort: the other side may be gone
			return
		}
	}
}

func (c *Conn) writeFrame(f Frame) error {
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(f.Type, f.Data)
}
