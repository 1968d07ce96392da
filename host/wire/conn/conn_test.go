package conn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/leak"
)

// start runs a connection in the background; the channel gets its error.
func start(ctx context.Context, c *conn.Conn, receive func(wire.Message) error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, receive) }()
	return ended
}

func ignore(wire.Message) error { return nil }

// TestConversation checks that messages arrive in order, whether they were sent before Run or after
// it, and that both sides end together.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		host, peer := conn.New(hostWS, conn.AtHost), conn.New(peerWS, conn.AtPeer)
		peer.Send(wire.Hello{Version: wire.Version})
		heard := make(chan wire.Message, 9)
		collect := func(m wire.Message) error { heard <- m; return nil }
		hostEnded, peerEnded := start(t.Context(), host, collect), start(t.Context(), peer, collect)
		if m := <-heard; !reflect.DeepEqual(m, wire.Hello{Version: wire.Version}) {
			t.Errorf("the host heard %+v", m)
		}
		for round := range 3 {
			host.Send(wire.Measure{Round: round})
		}
		for round := range 3 {
			if m := <-heard; m != (wire.Measure{Round: round}) {
				t.Errorf("the peer heard %+v, want round %d", m, round)
			}
		}
		over := errors.New("over")
		host.Close(over)
		host.Close(errors.New("the first Close counts"))
		if err := <-hostEnded; err != over {
			t.Errorf("the host's Run returns %v", err)
		}
		if err := <-peerEnded; !websocket.IsCloseError(errors.Unwrap(err), websocket.CloseNormalClosure) {
			t.Errorf("the peer's Run returns %v, want a normal closure", err)
		}
	})
}

// TestUnknownMessages checks that both sides skip a later version's messages.
func TestUnknownMessages(t *testing.T) {
	for _, side := range []conn.Side{conn.AtHost, conn.AtPeer} {
		synctest.Test(t, func(t *testing.T) {
			ws, raw := pair(t)
			heard := make(chan wire.Message, 9)
			ended := start(t.Context(), conn.New(ws, side), func(m wire.Message) error { heard <- m; return io.EOF })
			raw.WriteMessage(websocket.TextMessage, []byte(`{"type":"dance","steps":3}`))
			raw.WriteMessage(websocket.BinaryMessage, []byte{0xee, 1, 2, 3})
			raw.WriteMessage(websocket.TextMessage, []byte(`{"type":"done","round":7,"later":true}`))
			if m := <-heard; m != (wire.Done{Round: 7}) {
				t.Errorf("side %d heard %+v first", side, m)
			}
			go raw.NextReader() // answers the close frame
			if err := <-ended; err != io.EOF {
				t.Errorf("side %d ended with %v", side, err)
			}
			raw.Close()
		})
	}
}

// TestRunEnds checks that Run returns soon with the reason, whatever ends the connection, and
// leaves no goroutine.
func TestRunEnds(t *testing.T) {
	stop := errors.New("stop")
	tests := []struct {
		name string
		// act works on the host's connection and the raw peer.
		act    func(host *conn.Conn, cancel context.CancelCauseFunc, peer *websocket.Conn)
		want   error
		within time.Duration
	}{
		{"the context", func(_ *conn.Conn, cancel context.CancelCauseFunc, _ *websocket.Conn) { cancel(stop) }, stop, 0},
		{"receive's error", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.WriteMessage(websocket.TextMessage, []byte(`{"type":"done"}`))
		}, stop, 0},
		{"a malformed message", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.WriteMessage(websocket.BinaryMessage, []byte{2})
		}, wire.ErrMalformed, 0},
		{"a list to a host", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.WriteMessage(websocket.BinaryMessage, wire.AppendList(nil, wire.List{Round: 1}))
		}, wire.ErrMalformed, 0},
		{"too much text", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.WriteMessage(websocket.TextMessage, []byte(`{"type":"done","round":1`+strings.Repeat(" ", 128<<10)+`}`))
		}, wire.ErrMalformed, 0},
		{"a message over the read limit", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.WriteMessage(websocket.BinaryMessage, make([]byte, 2<<20))
		}, wire.ErrMalformed, 2 * time.Second},
		{"the peer's socket", func(_ *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) { peer.Close() }, nil, 0},
		{"silence after a Close", func(host *conn.Conn, _ context.CancelCauseFunc, peer *websocket.Conn) {
			peer.NetConn().SetReadDeadline(time.Unix(1, 0)) // stops reading, but stays open
			host.Close(stop)
		}, stop, 2 * time.Second},
		{"a message that cannot be sent", func(host *conn.Conn, _ context.CancelCauseFunc, _ *websocket.Conn) {
			host.Send(wire.Room{"log": json.RawMessage("[")})
		}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hostWS, peerWS := pair(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				host := conn.New(hostWS, conn.AtHost)
				host.Admit()
				ended := start(ctx, host, func(wire.Message) error { return stop })
				drained := make(chan struct{})
				go func() { // the peer's reader answers a close frame
					defer close(drained)
					for {
						if _, _, err := peerWS.NextReader(); err != nil {
							return
						}
					}
				}()
				synctest.Wait()
				begun := time.Now()
				tt.act(host, cancel, peerWS)
				err := <-ended
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("Run returns %v, want %v", err, tt.want)
				}
				if took := time.Since(begun); took > tt.within {
					t.Errorf("it took %v, want %v at most", took, tt.within)
				}
				<-drained
				peerWS.Close()
			})
		})
	}
}

// TestExplains checks that a host tells a peer which message it cannot read, and what is wrong with
// it: the author of another program has nothing else to go by.
func TestExplains(t *testing.T) {
	for _, tt := range []struct {
		kind       int
		said, want string
	}{
		{websocket.TextMessage, `{"type":"hello","version":"2"}`, `hello: version: got string, want a whole number in its range`},
		{websocket.TextMessage, `{"type":"verified","servers":[{"rtts_ms":24}]}`, `verified: servers.rtts_ms: got number, want an array`},
		{websocket.TextMessage, `{"type":"done",}`, `it is no JSON from byte 16 on`},
		{websocket.TextMessage, `{"round":1}`, `no type`},
		{websocket.TextMessage, `{"type":"launched","round":1,"state":"started"}`, `launched: state is "started", and must be asking, launched, declined, by-hand or failed`},
		{websocket.BinaryMessage, "\x02\x01\x00\x64\x02\x03\x00\x00\x03\x00", `report: probe 2 of 2: cut off, or a number too large`},
		{websocket.BinaryMessage, "\x02\x01\x00\x64\x01\x03\x00\x00\x00", `report: bytes left over`},
		{websocket.BinaryMessage, "\x03\x01\x01\x0a\x00\x04\x08\x01\x01", `infos: record 1 of 1: text 1 of 0`},
	} {
		synctest.Test(t, func(t *testing.T) {
			hostWS, peerWS := pair(t)
			ended := start(t.Context(), conn.New(hostWS, conn.AtHost), ignore)
			peerWS.WriteMessage(tt.kind, []byte(tt.said))
			_, told, err := peerWS.ReadMessage()
			if want := fmt.Sprintf(`{"type":"refused","reason":"malformed","says":{"key":"plain","with":{"text":%q}},"message":%[1]q}`,
				tt.want); err != nil || string(told) != want {
				t.Errorf("%q is answered with %s, %v\nwant %s", tt.said, told, err, want)
			}
			peerWS.ReadMessage() // answers the close frame
			if err := <-ended; !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("Run returns %v", err)
			}
			peerWS.Close()
		})
	}
}

// TestFarewell checks that the other side reads why a connection ends that no message explains.
func TestFarewell(t *testing.T) {
	for why, want := range map[error]string{
		conn.ErrSlow:                      "too many messages wait unread",
		conn.Farewell("no hello"):         "no hello",
		errors.New("host: a secret"):      "",
		fmt.Errorf("x: %w", conn.ErrSlow): "too many messages wait unread",
	} {
		synctest.Test(t, func(t *testing.T) {
			hostWS, peerWS := pair(t)
			host := conn.New(hostWS, conn.AtHost)
			ended := start(t.Context(), host, ignore)
			host.Close(why)
			_, _, err := peerWS.ReadMessage()
			if closed, is := errors.AsType[*websocket.CloseError](err); !is || closed.Code != websocket.CloseNormalClosure || closed.Text != want {
				t.Errorf("%v: the peer reads %v, want %q", why, err, want)
			}
			<-ended
			peerWS.Close()
		})
	}
}

// TestClosedByPeer checks that a host knows that the peer has closed the connection, even if the host
// had something to say at that very moment.
func TestClosedByPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		defer peerWS.Close()
		host := conn.New(hostWS, conn.AtHost)
		hostWS.SetCloseHandler(func(code int, _ string) error {
			err := hostWS.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
			host.Send(wire.Measure{})
			synctest.Wait()
			return err
		})
		ended := start(t.Context(), host, ignore)
		if err := peerWS.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4000, "bye"), time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		var closed *websocket.CloseError
		if err := <-ended; !errors.As(err, &closed) || closed.Code != 4000 {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// TestPings checks that a peer that answers pings may be silent for hours, and that the host closes
// the connection of one that does not.
func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		host, peer := conn.New(hostWS, conn.AtHost), conn.New(peerWS, conn.AtPeer)
		hostEnded, peerEnded := start(t.Context(), host, ignore), start(t.Context(), peer, ignore)
		select {
		case err := <-hostEnded:
			t.Errorf("the idle connection ended: %v", err)
		case <-time.After(3 * time.Hour):
		}
		host.Close(io.EOF)
		<-hostEnded
		<-peerEnded
	})
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		peerWS.SetPingHandler(func(string) error { return nil })
		begun := time.Now()
		ended := start(t.Context(), conn.New(hostWS, conn.AtHost), ignore)
		go func() {
			for {
				if _, _, err := peerWS.NextReader(); err != nil {
					peerWS.Close()
					return
				}
			}
		}()
		err := <-ended
		if timeout, is := errors.AsType[net.Error](err); !is || !timeout.Timeout() {
			t.Errorf("Run returns %v, want a timeout", err)
		}
		if took := time.Since(begun); took < 25*time.Second || took > 28*time.Second {
			t.Errorf("the deaf peer was given up after %v", took)
		}
	})
}

// TestSlowReader checks that a peer that does not read loses its connection. It delays neither the
// sender nor the end of Run.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		defer peerWS.Close()
		host := conn.New(hostWS, conn.AtHost)
		ended := start(t.Context(), host, ignore)
		begun := time.Now()
		for range 80 {
			host.Send(wire.Done{Round: 1})
			synctest.Wait()
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("sending took %v", took)
		}
		if err := <-ended; !errors.Is(err, conn.ErrSlow) {
			t.Errorf("Run returns %v, want ErrSlow", err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("ending took %v", took)
		}
		host.Send(wire.Done{Round: 1}) // no panic, no block
	})
}

func TestQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		defer peerWS.Close()
		host := conn.New(hostWS, conn.AtHost)
		for range 5 {
			host.Send(wire.Done{Round: 1})
		}
		if n := host.Queued(); n != 5 {
			t.Errorf("%d messages are queued, want 5", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := start(ctx, host, ignore)
		for range 5 {
			peerWS.ReadMessage()
		}
		if n := host.Queued(); n != 5 || host.HasArrived() { // whether its goroutine has been quick must not matter
			t.Errorf("%d messages are queued while no time has passed, or all have arrived", n)
		}
		time.Sleep(time.Nanosecond)
		if n := host.Queued(); n != 0 || !host.HasArrived() {
			t.Errorf("%d messages are queued, want none, or some have not arrived", n)
		}
		cancel()
		go peerWS.NextReader() // answers the close frame
		<-ended
	})
}

// TestUnsent checks that messages for a slow reader wait in a host's queue, where a room counts them,
// and not in the system's buffer. That one takes all of a peer's.
func TestUnsent(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system knows no limit")
	}
	leak.Check(t)
	connected := make(chan *websocket.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		connected <- ws
	}))
	defer server.Close()
	slow := websocket.Dialer{NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	const messages = 40
	sends := func(side conn.Side, messages int) *conn.Conn {
		reader, _, err := slow.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := conn.New(<-connected, side)
		ended := start(t.Context(), c, ignore)
		t.Cleanup(func() { reader.Close(); <-ended })
		for range messages {
			c.SendFrame(wire.Frame{Binary: true, Data: make([]byte, 16<<10)})
		}
		return c
	}
	host, peer := sends(conn.AtHost, messages), sends(conn.AtPeer, messages)
	for peer.Queued() > 0 {
		time.Sleep(time.Millisecond)
	}
	if n := host.Queued(); n < messages/2 {
		t.Errorf("the system took all but %d of %d messages", n, messages)
	}
	if host.HasArrived() {
		t.Error("what nobody has read has arrived")
	}
	slow = *websocket.DefaultDialer
	for quick := sends(conn.AtHost, 1); !quick.HasArrived(); { // until the system has acknowledged it
		time.Sleep(time.Millisecond)
	}
}

// TestRefusalArrives checks that a refusal reaches a peer that sends more than the host reads. It
// uses real sockets, because a pipe has no buffer to lose.
func TestRefusalArrives(t *testing.T) {
	leak.Check(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		c := conn.New(ws, conn.AtHost)
		c.Run(r.Context(), func(wire.Message) error {
			refusal := wire.Refusal{Reason: wire.ReasonFull, Message: "no room"}
			c.Send(refusal)
			return refusal
		})
	}))
	defer server.Close()
	for range 20 {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		peer := conn.New(ws, conn.AtPeer)
		peer.Send(wire.Hello{Version: wire.Version})
		for range 20 {
			peer.Send(wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Info: discovery.Info{Map: strings.Repeat("m", 250)}}}})
		}
		err = peer.Run(t.Context(), func(m wire.Message) error { return m.(wire.Refusal) })
		if refusal := (wire.Refusal{}); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonFull {
			t.Errorf("the peer ended with %v, want the refusal", err)
		}
	}
}

// TestLastWord checks that after a refusal the socket stays open until the peer has read it, or for
// two seconds. Systems drop what a closed socket still holds.
func TestLastWord(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			hostWS, peerWS := pair(t)
			defer peerWS.Close()
			host := conn.New(hostWS, conn.AtHost)
			ended := start(t.Context(), host, func(wire.Message) error {
				host.Send(wire.Refusal{Reason: wire.ReasonFull})
				return errors.New("full")
			})
			begun := time.Now()
			for range 5 {
				peerWS.WriteMessage(websocket.TextMessage, []byte(`{"type":"done"}`))
			}
			synctest.Wait()
			peerWS.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Minute)) // the host has said its last word
			reads := time.AfterFunc(patience, func() {
				for {
					if _, _, err := peerWS.NextReader(); err != nil {
						return
					}
				}
			})
			<-ended
			if took, want := time.Since(begun), min(patience, 2*time.Second); took != want {
				t.Errorf("a peer that reads after %v had %v", patience, took)
			}
			reads.Stop()
		})
	}
}

// TestRoundTrip checks that a connection knows the lowest round trip of its pings. Answers to no ping
// tell nothing.
func TestRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		host := conn.New(hostWS, conn.AtHost)
		delays := []time.Duration{60, 30, 45, 50, 50, 50}
		peerWS.SetPingHandler(func(data string) error {
			for _, forged := range []string{"", "soon", "-5", "99999999999999999999", "9000000000000000000"} {
				peerWS.WriteControl(websocket.PongMessage, []byte(forged), time.Time{})
			}
			time.Sleep(delays[0] * time.Millisecond)
			delays = delays[1:]
			return peerWS.WriteControl(websocket.PongMessage, []byte(data), time.Time{})
		})
		ended := start(t.Context(), host, ignore)
		go func() {
			for {
				if _, _, err := peerWS.NextReader(); err != nil {
					peerWS.Close()
					return
				}
			}
		}()
		for _, want := range []time.Duration{0, 60, 30, 30} {
			if got := host.RoundTrip(); got != want*time.Millisecond {
				t.Errorf("%v, want %d ms", got, want)
			}
			time.Sleep(10 * time.Second)
		}
		host.Close(io.EOF)
		<-ended
	})
}
