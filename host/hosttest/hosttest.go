// Package hosttest helps tests and measurements of hosts that say themselves what players' programs
// say: it connects such a program over a real socket, and has a made-up world of servers with the
// RTTs that players would measure there.
package hosttest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"muster/host/wire"
	"muster/host/wire/conn"
)

// Dial connects a program to the host at a URL, with a header or none, until the test's end. Then
// hear gets each message, and ended, unless it is nil, what ended the connection.
func Dial(t testing.TB, url string, header http.Header, hear func(c *conn.Conn, m wire.Message), ended func(error)) *conn.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/peer", header)
	if err != nil {
		t.Fatal(err)
	}
	c, done := conn.New(ws, conn.AtPeer), make(chan struct{})
	go func() {
		defer close(done)
		err := c.Run(context.Background(), func(m wire.Message) error { hear(c, m); return nil })
		if ended != nil {
			ended(err)
		}
	}()
	t.Cleanup(func() { c.Close(nil); <-done })
	return c
}
