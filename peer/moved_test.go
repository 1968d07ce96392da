package peer_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/wire"
	"muster/peer"
)

// moves stops the host and starts it again at another address.
func (tb *table) moves() {
	tb.Helper()
	old := tb.listener.Addr().String()
	tb.stop()
	for { // the system may hand out the same port again
		tb.start("127.0.0.1:0")
		if tb.listener.Addr().String() != old {
			return
		}
		tb.stop()
	}
}

func (tb *table) place() peer.Place {
	return peer.Place{URL: "ws://" + tb.listener.Addr().String() + "/peer"}
}

// TestHostMoves checks that players find a host at its new address, by a search or by the addresses that it announced,
// and that the session goes on.
func TestHostMoves(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		tb := newTable(t, 2)
		next, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		later := netip.MustParseAddrPort(next.Addr().String())
		next.Close()
		if told {
			tb.addresses = []netip.AddrPort{later}
		}
		ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
		g := newGate(120)
		bob.hold = g.hold
		moved := make(chan peer.Place, 1)
		for _, s := range []*seat{ann, bob} {
			if !told {
				s.options.Seek = func(ctx context.Context) []peer.Place {
					select {
					case p := <-moved:
						moved <- p
						return []peer.Place{{URL: "ws://127.0.0.1:1/peer"}, p}
					case <-ctx.Done():
						return nil
					}
				}
			}
			defer s.sit()()
		}
		<-g.reached
		tb.room("part of bob's report", func(r wire.Document) bool { return member(r, "bob").Probed == 120 })
		tb.stop()
		tb.start(later.String())
		moved <- tb.place()
		tb.room("their return", func(r wire.Document) bool { return member(r, "ann").Connected && member(r, "bob").Connected })
		close(g.open)
		finishes(tb, ann, bob)
		bob.askedOnce(listed)
		ann.askedOnce(listed)
	}
}

// impostor took the host's address, or announces one. It records everything it is told.
type impostor struct {
	*httptest.Server
	answer func(nonce string) wire.Message

	mu    sync.Mutex // guards the fields below
	heard []byte
	came  int
}

func newImpostor(t *testing.T, answer func(nonce string) wire.Message) *impostor {
	i := &impostor{answer: answer}
	var upgrader websocket.Upgrader
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for {
			_, data, err := ws.ReadMessage()
			if err != nil {
				return
			}
			i.mu.Lock()
			i.heard = append(i.heard, data...)
			i.came++
			i.mu.Unlock()
			nonce := ""
			if m, err := wire.Unmarshal(wire.Frame{Data: data}); err == nil {
				if s, is := m.(wire.Seek); is {
					nonce = s.Nonce
				}
			}
			frame, err := wire.Marshal(i.answer(nonce))
			if err != nil || ws.WriteMessage(websocket.TextMessage, frame.Data) != nil {
				return
			}
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// TestImpostors checks that an impostor at an address of the host learns neither code nor token, whatever it answers.
// It neither ends a peer nor keeps it from its host.
func TestImpostors(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 2)
	ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
	g := newGate(120)
	ann.hold = g.hold
	var impostors []*impostor
	for _, answer := range []wire.Message{
		wire.Found{Proof: access.Proof("a guess", "a nonce")}, wire.Found{}, wire.Welcome{Version: wire.Version, Name: "ann", Token: "mine"},
		wire.Refusal{Reason: wire.ReasonRemoved, Message: "go away"}, wire.Launch{Round: 1, Address: "192.0.2.1:22"}, wire.Done{},
	} {
		impostors = append(impostors, newImpostor(t, func(string) wire.Message { return answer }))
	}
	impostors = append(impostors, newImpostor(t, func(nonce string) wire.Message { return wire.Found{Proof: nonce} }))
	places := make(chan []peer.Place, 1)
	for _, s := range []*seat{ann, bob} {
		s.options.Seek = func(ctx context.Context) []peer.Place {
			select {
			case all := <-places:
				places <- all
				return all
			case <-ctx.Done():
				return nil
			}
		}
		defer s.sit()()
	}
	<-g.reached
	tb.room("part of ann's report", func(r wire.Document) bool { return member(r, "ann").Probed == 120 })
	tb.moves()
	var all []peer.Place
	for _, i := range impostors {
		all = append(all, peer.Place{URL: "ws" + strings.TrimPrefix(i.URL, "http") + "/peer"})
	}
	places <- append(all, tb.place())
	tb.room("ann's return", func(r wire.Document) bool { return member(r, "ann").Connected })
	close(g.open)
	finishes(tb, ann, bob)
	for n, i := range impostors {
		i.mu.Lock()
		if i.came != 2 || bytes.Contains(i.heard, []byte(tb.code)) || bytes.Contains(i.heard, []byte(ann.token)) ||
			bytes.Contains(i.heard, []byte("hello")) {
			t.Errorf("impostor %d heard %d messages: %s", n, i.came, i.heard)
		}
		i.mu.Unlock()
	}
}

// TestSeek checks that a host proves its identity to players who have a place, and to nobody else.
func TestSeek(t *testing.T) {
	tb := newTable(t, 2)
	ann := newSeat(tb, "ann")
	defer ann.sit()()
	tb.room("ann", func(r wire.Document) bool { return member(r, "ann").Connected })
	var token string
	ann.locked(func() { token = ann.token })
	seek := func(messages ...wire.Message) (answers string) {
		ws, _, err := websocket.DefaultDialer.Dial(tb.place().URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		for _, m := range messages {
			frame, _ := wire.Marshal(m)
			ws.WriteMessage(websocket.TextMessage, frame.Data)
			_, data, err := ws.ReadMessage()
			if err != nil {
				return answers + " end"
			}
			if m, _ := wire.Unmarshal(wire.Frame{Data: data}); m != nil {
				switch m := m.(type) {
				case wire.Found:
					answers += " " + m.Proof
				case wire.Refusal:
					answers += " " + m.Reason
				}
			}
		}
		return answers
	}
	at := wire.Seek{Version: wire.Version, Place: access.Place(token), Nonce: "n"}
	foreign, old, blank := at, at, at
	foreign.Place, old.Version, blank.Nonce = access.Place("a guess"), 1, ""
	for _, tt := range []struct {
		messages []wire.Message
		want     string
	}{
		{[]wire.Message{at}, " " + access.Proof(token, "n")},
		{[]wire.Message{at, at}, " " + access.Proof(token, "n") + " code"},
		{[]wire.Message{foreign}, " code"},
		{[]wire.Message{old}, " code"},
		{[]wire.Message{blank}, " code"},
	} {
		if got := seek(tt.messages...); got != tt.want {
			t.Errorf("%+v is answered%s, want%s", tt.messages, got, tt.want)
		}
	}
}
