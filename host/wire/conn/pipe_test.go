package conn_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// pair connects two WebSockets over memory, so that a synctest bubble sees everything that happens.
// [synctest.Test] fails if a goroutine is left over.
func pair(t *testing.T) (atHost, atPeer *websocket.Conn) {
	t.Helper()
	near, far := net.Pipe()
	upgraded := make(chan *websocket.Conn, 1)
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		upgraded <- ws
	})}
	listener := &single{conn: buffered(near), closed: make(chan struct{})}
	go server.Serve(listener)
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return buffered(far), nil }}
	atPeer, _, err := dialer.Dial("ws://host/peer", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return <-upgraded, atPeer
}

// single is a listener for one connection.
type single struct {
	conn   net.Conn
	closed chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *single) Close() error   { close(l.closed); return nil }
func (l *single) Addr() net.Addr { return &net.TCPAddr{} }

// bufferedConn buffers a few writes, as a socket does, so that two sides that write at once do not
// wait for each other.
type bufferedConn struct {
	net.Conn
	queue   chan []byte
	closing sync.Once
	closed  chan struct{}

	mu       sync.Mutex // guards following
	deadline time.Time
}

func buffered(conn net.Conn) net.Conn {
	b := &bufferedConn{Conn: conn, queue: make(chan []byte, 16), closed: make(chan struct{})}
	go b.pump()
	return b
}

func (b *bufferedConn) pump() {
	for {
		select {
		case data := <-b.queue:
			if _, err := b.Conn.Write(data); err != nil {
				b.Close()
				return
			}
		case <-b.closed:
			return
		}
	}
}

func (b *bufferedConn) Write(data []byte) (int, error) {
	b.mu.Lock()
	patience := time.Until(b.deadline)
	if b.deadline.IsZero() {
		patience = time.Hour
	}
	b.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case b.queue <- append([]byte(nil), data...):
		return len(data), nil
	case <-b.closed:
		return 0, net.ErrClosed
	case <-late.C:
		return 0, os.ErrDeadlineExceeded
	}
}

func (b *bufferedConn) SetWriteDeadline(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	return nil
}

func (b *bufferedConn) SetDeadline(t time.Time) error {
	b.SetWriteDeadline(t)
	return b.Conn.SetReadDeadline(t)
}

func (b *bufferedConn) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return b.Conn.Close()
}
