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
	// readLimit holds the list of 200,000 servers; everything else is far smaller.
	readLimit = 4 << 20
	// queueLength is how many messages wait for a slow member before the
	// connection is given up: the member comes back and is told what counts.
	queueLength = 64
	// pingEvery keeps home routers' TCP mappings alive and finds dead peers.
	pingEvery = 10 * time.Second
	// pongWait is two pings missed and a slow line.
	pongWait = 25 * time.Second
	// writeWait is how long one message may take: a full list on a slow up-link.
	writeWait = 20 * time.Second
)

// ErrSlow says that the other side does not read what it is sent.
var ErrSlow = errors.New("wire: the other side is too slow")

// Conn carries messages over a WebSocket. One goroutine reads and one writes;
// Send may be called from any.
type Conn struct {
	ws    *websocket.Conn
	queue chan Frame

	closing  sync.Once
	closed   chan struct{}
	closeErr error // guarded by closing, read after closed
}

// NewConn takes over ws. Run must be called.
func NewConn(ws *websocket.Conn) *Conn {
	ws.SetReadLimit(readLimit)
	return &Conn{ws: ws, queue: make(chan Frame, queueLength), closed: make(chan struct{})}
}

// Send queues a message and never blocks. A queue that is full closes the
// connection with [ErrSlow].
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

// Close ends the connection once what is queued has been sent; Run returns err.
func (c *Conn) Close(err error) {
	c.closing.Do(func() {
		c.closeErr = err
		close(c.closed)
	})
}

// Run reads messages into receive until the connection ends or ctx does, and
// returns why. Both its goroutines have ended when it returns.
func (c *Conn) Run(ctx context.Context, receive func(Message) error) error {
	stop := context.AfterFunc(ctx, func() { c.Close(context.Cause(ctx)) })
	defer stop()
	var reader sync.WaitGroup
	reader.Go(func() { c.Close(c.read(receive)) })
	c.write()
	c.ws.Close()
	reader.Wait()
	return c.closeErr
}

func (c *Conn) read(receive func(Message) error) error {
	c.ws.SetPongHandler(func(string) error { return c.ws.SetReadDeadline(time.Now().Add(pongWait)) })
	for {
		if err := c.ws.SetReadDeadline(time.Now().Add(pongWait)); err != nil {
			return err
		}
		kind, data, err := c.ws.ReadMessage()
		if err != nil {
			return fmt.Errorf("wire: read: %w", err)
		}
		m, err := Unmarshal(Frame{Type: kind, Data: data})
		if err != nil {
			return err
		}
		if err := receive(m); err != nil {
			return err
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

// drain sends what is still queued, such as a refusal, and says good-bye.
func (c *Conn) drain() {
	for {
		select {
		case f := <-c.queue:
			if c.writeFrame(f) != nil {
				return
			}
		default:
			goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			c.ws.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(time.Second)) // best effort: the other side may be gone
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
