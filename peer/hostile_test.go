package peer_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/leak"
	"muster/peer"
)

// TestHostileHost checks that a host that sends nonsense ends the peer with a reason. The peer neither crashes nor
// reconnects.
func TestHostileHost(t *testing.T) {
	welcome := wire.Welcome{Version: wire.Version, Name: "ann", Token: "token"}
	servers, _ := list(t.Context(), "")
	theList := wire.List{Round: 1, Servers: servers}
	launch := wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.1:27960"}
	tests := []struct {
		name     string
		messages []wire.Message
		want     string // what the error contains
	}{
		{"finalists without a list", []wire.Message{welcome, wire.Finalists{Round: 1, Servers: []int{1}, Samples: 3}},
			"finalists of round 1 without its list"},
		{"finalists of another round",
			[]wire.Message{welcome, theList, wire.Finalists{Round: 2, Servers: []int{1}, Samples: 3}}, "finalists of round 2 without its list"},
		{"a finalist beyond the list",
			[]wire.Message{welcome, theList, wire.Finalists{Round: 1, Servers: []int{listed}, Samples: 3}}, "finalist 200 of 200 servers"},
		{"a negative finalist", []wire.Message{welcome, theList,
			wire.Finalists{Round: 1, Servers: []int{-1}, Samples: 3}}, "finalist -1 of 200 servers"},
		{"a million samples", []wire.Message{welcome, theList,
			wire.Finalists{Round: 1, Servers: []int{1}, Samples: 1_000_000}}, "1000000 samples"},
		{"measure without a list", []wire.Message{welcome, wire.Measure{Round: 1, Game: "openarena"}},
			"asked to measure round 1 without its list"},
		{"measure another round", []wire.Message{welcome, theList, wire.Measure{Round: 2, Game: "openarena"}},
			"asked to measure round 2 without its list"},
		{"an unknown game", []wire.Message{welcome, theList, wire.Measure{Round: 1, Game: "rm -rf"}}, `unknown game "rm -rf"`},
		{"results beyond the list", []wire.Message{welcome, theList, wire.Measure{Round: 1, Game: "openarena", Known: 1},
			wire.Report{Round: 1, Results: []discovery.Result{{Server: listed, State: discovery.Lost}}}}, "the host knows server 200 of 200"},
		{"a peer's message", []wire.Message{welcome, wire.Hello{Version: wire.Version}}, "a wire.Hello from the host"},
		{"an option for an address", []wire.Message{welcome, wire.Launch{Round: 1, Address: "+quit"}}, "malformed"},
		{"a list of megabytes", []wire.Message{welcome, nil}, "read limit exceeded"},
		{"launch upon launch", []wire.Message{welcome, launch, launch, launch, wire.Hello{}}, "a wire.Hello from the host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var connections atomic.Int32
			s := scripted(t, func(ws *websocket.Conn) {
				connections.Add(1)
				for _, m := range tt.messages {
					frame := wire.BinaryFrame(make([]byte, 9<<20))
					if m != nil {
						frame, _ = wire.Marshal(m)
					}
					ws.WriteMessage(kindOf(frame), frame.Data)
				}
				drain(ws)
			})
			defer s.sit()()
			if err := s.done(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run returns %v, want something of %q", err, tt.want)
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("the peer came %d times", n)
			}
		})
	}
}

// scripted is a host that follows a script for one connection.
func scripted(t *testing.T, script func(ws *websocket.Conn)) *seat {
	t.Helper()
	leak.Check(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		script(ws)
	}))
	t.Cleanup(server.Close)
	s := newSeat(&table{T: t, listener: &cutListener{Listener: server.Listener}}, "ann")
	s.options.Once = false
	peer.Hurry(&s.options, time.Second)
	s.options.URL = "ws" + strings.TrimPrefix(server.URL, "http")
	return s
}

func say(t *testing.T, ws *websocket.Conn, messages ...wire.Message) {
	t.Helper()
	for _, m := range messages {
		frame, err := wire.Marshal(m)
		if err == nil {
			err = ws.WriteMessage(kindOf(frame), frame.Data)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// drain takes what the peer says until it is gone.
func drain(ws *websocket.Conn) {
	for {
		if _, _, err := ws.NextReader(); err != nil {
			return
		}
	}
}

func endRoom(t *testing.T, ws *websocket.Conn) {
	t.Helper()
	say(t, ws, wire.Refusal{Reason: wire.ReasonClosed})
	ws.NextReader()
}

// kindOf returns a frame's WebSocket type.
func kindOf(f wire.Frame) int {
	if f.Binary {
		return websocket.BinaryMessage
	}
	return websocket.TextMessage
}

// reported reads reports until done, and returns the servers in them.
func reported(t *testing.T, ws *websocket.Conn) map[int]discovery.State {
	t.Helper()
	return reportedOf(t, ws, 0)
}

// reportedOf reads until want servers are reported, done or not. A peer that the host restricts may be done briefly,
// before the host has asked for anything. Without a number, reportedOf reads until the player is done.
func reportedOf(t *testing.T, ws *websocket.Conn, want int) map[int]discovery.State {
	t.Helper()
	servers := map[int]discovery.State{}
	for isDone := false; want == 0 && !isDone || len(servers) < want; {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			t.Error(err)
			return servers
		}
		m, err := wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data})
		if err != nil {
			t.Error(err)
		}
		switch m := m.(type) {
		case wire.Report:
			for _, result := range m.Results {
				servers[result.Server] = result.State
			}
		case wire.Done:
			isDone = true
		}
	}
	return servers
}

var letIn = wire.Welcome{Version: wire.Version, Name: "ann", Token: "token"}

// TestAnotherList checks a host that was killed and returns with another list under the same number. Results for the
// old list must be discarded.
func TestAnotherList(t *testing.T) {
	servers, _ := list(t.Context(), "")
	others := make([]discovery.Server, len(servers))
	for i := range others {
		others[i] = discovery.Server{Addr: netip.AddrPortFrom(servers[i].Addr.Addr(), 1)}
	}
	measure := wire.Measure{Round: 1, Game: "openarena"}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers}, measure)
		reported(t, ws)
		say(t, ws, wire.List{Round: 1, Servers: servers}, measure, wire.List{Round: 1, Servers: others}, measure)
		reported(t, ws)
		endRoom(t, ws)
	})
	defer s.sit()()
	s.done()
	s.askedOnce(2 * listed)
}

// TestManyResults checks that a list far longer than the queue is reported in full, even if the host does not read
// until all is measured.
func TestManyResults(t *testing.T) {
	t.Parallel()
	many := make([]discovery.Server, 100_000)
	for i := range many {
		many[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 27960)
	}
	measured := make(chan struct{})
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: many}, wire.Measure{Round: 1, Game: "openarena"})
		<-measured
		if got := len(reported(t, ws)); got != len(many) {
			t.Errorf("%d of %d servers are reported", got, len(many))
		}
		endRoom(t, ws)
	})
	s.options.NewPlan = func(_ wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
		return announced{discovery.NewConventional(len(servers)), sync.OnceFunc(func() { close(measured) })}, nil
	}
	defer s.sit()()
	s.done()
}

// announced is a plan that announces its end.
type announced struct {
	discovery.Plan
	ended func()
}

func (a announced) Next() (discovery.Probe, discovery.Verdict) {
	probe, verdict := a.Plan.Next()
	if verdict != discovery.Go {
		a.ended()
	}
	return probe, verdict
}
