package host_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/room"
	"muster/host/wire"
)

// TestManyRooms checks that rooms know nothing of each other, and that each gets one list.
func TestManyRooms(t *testing.T) {
	var lists atomic.Int32
	h, server := serve(t, host.Config{List: func(ctx context.Context, game string) ([]discovery.Server, error) {
		lists.Add(1)
		return listOf(3)(ctx, game)
	}})
	const rooms = 20
	var players []*player
	for i := range rooms {
		code, _, _ := h.Open(friday(2))
		players = append(players, join(t, server, code, fmt.Sprint("ann", i)), join(t, server, strings.ToLower(code), fmt.Sprint("bob", i)))
	}
	for _, p := range players {
		p.measures(10)
	}
	for _, p := range players {
		p.looks()
	}
	for _, p := range players {
		p.Conn.Send(wire.Launched{Round: expect[wire.Launch](p).Round, State: wire.LaunchStarted})
	}
	for i, code := range h.Rooms() {
		for room := range h.Watch(t.Context(), code) {
			if room.Room.Stage == wire.Launching && room.People[0].Launch == wire.LaunchStarted && room.People[1].Launch == wire.LaunchStarted {
				if a, b := room.People[0].Name, room.People[1].Name; len(room.People) != 2 ||
					strings.TrimPrefix(a, "ann") != strings.TrimPrefix(b, "bob") {
					t.Errorf("room %d has the members %q and %q", i, a, b)
				}
				break
			}
		}
	}
	if len(h.Rooms()) != rooms || lists.Load() != rooms {
		t.Errorf("%d rooms, %d lists, want %d", len(h.Rooms()), lists.Load(), rooms)
	}
	if _, there := h.Room("NOSUCH"); there || h.Go("NOSUCH") {
		t.Error("there is a room that nobody opened")
	}
	for range h.Watch(t.Context(), "NOSUCH") {
		t.Error("a room that nobody opened has a state")
	}
}

func TestTurnedAway(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1)})
	code, _, _ := h.Open(friday(2))
	join(t, server, code, "ann")
	tests := []struct {
		name  string
		hello wire.Message
		want  wire.Refusal
	}{
		{"another version", wire.Hello{Version: 7, Code: code, Name: "bob"}, wire.Refusal{Reason: wire.ReasonVersion,
			Message: "the host uses version 2, this player’s Muster version 7", Hint: "use the same release of Muster on both sides"}},
		{"no room", wire.Hello{Version: wire.Version, Code: "no-such", Name: "bob"}, wire.Refusal{Reason: wire.ReasonCode,
			Message: `no room has the code "NOSUCH"`, Hint: "ask the organiser for the code; letter case does not matter"}},
		{"the name is taken", wire.Hello{Version: wire.Version, Code: code, Name: "Ann"}, wire.Refusal{Reason: wire.ReasonNameTaken,
			Message: `the room already has a player "ann"`, Hint: "pick another name with --name NAME"}},
		{"no name", wire.Hello{Version: wire.Version, Code: code}, wire.Refusal{
			Reason:  wire.ReasonName,
			Message: "a player needs a name with a letter or a digit",
			Hint:    "add --name NAME",
		}},
		{"no hello", wire.Done{Round: 1}, wire.Refusal{Reason: wire.ReasonMalformed, Message: "the first message must be hello"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, server)
			p.Conn.Send(tt.hello)
			if got := inEnglish(expect[wire.Refusal](p)); got != tt.want {
				t.Errorf("refused with %+v, want %+v", got, tt.want)
			}
			if err := <-p.Ended; !websocket.IsCloseError(errors.Unwrap(err), websocket.CloseNormalClosure) {
				t.Errorf("the connection ended with %v", err)
			}
		})
	}
	t.Run("nonsense from a member", func(t *testing.T) {
		code, _, _ := h.Open(friday(1))
		p := join(t, server, code, "eve")
		expect[wire.Measure](p)
		p.Conn.Send(wire.Report{Round: 1, Results: []discovery.Result{{Server: 1, State: discovery.Lost}}})
		if got := expect[wire.Refusal](p); got.Reason != wire.ReasonMalformed || got.Message != "room: a report of server 1 of 1" {
			t.Errorf("refused with %+v", got)
		}
		<-p.Ended
	})
	metrics := get(t, server, "/metrics")
	for _, line := range []string{
		`muster_refusals_total{reason="version"} 1`, `muster_refusals_total{reason="code"} 1`, `muster_refusals_total{reason="name-taken"} 1`,
		`muster_refusals_total{reason="name"} 1`, `muster_refusals_total{reason="malformed"} 1`, "muster_rooms 2",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

// TestReplaced checks that a player who reconnects is told so on the older connection. Otherwise
// the two would replace each other for ever.
func TestReplaced(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(2)})
	code, _, _ := h.Open(friday(2))
	first := join(t, server, code, "ann")
	second := says(t, server, "", wire.Hello{Code: code, Name: "ann", Token: first.token})
	if welcome := expect[wire.Welcome](second); welcome.Token != first.token {
		t.Errorf("the token changed to %q", welcome.Token)
	}
	if got := expect[wire.Refusal](first); got.Reason != wire.ReasonReplaced {
		t.Errorf("the first connection is told %+v", got)
	}
	<-first.Ended
	bob := join(t, server, code, "bob")
	second.measures(10)
	bob.measures(10)
	bob.looks()
	second.finishes()
	for room := range h.Watch(t.Context(), code) {
		if room.Room.Stage != wire.Launching {
			continue
		}
		if !room.People[0].Connected {
			t.Error("the end of the first connection counts for the second")
		}
		break
	}
}

// TestSlowMember checks that a member who reads nothing delays nobody.
func TestSlowMember(t *testing.T) {
	t.Parallel()
	h, server := serve(t, host.Config{List: listOf(30_000)})
	code, _, _ := h.Open(friday(3))
	slow := socket(t, server, "/peer", nil)
	slow.WriteJSON(map[string]any{"type": "hello", "version": wire.Version, "code": code, "name": "slow"})
	(&night{t, h, nil, code}).await(func(room wire.Snapshot) bool { return len(room.People) == 1 })
	ann, bob := join(t, server, code, "ann"), join(t, server, code, "bob")
	ann.measures(10)
	bob.measures(20)
	(&night{t, h, nil, code}).await(func(room wire.Snapshot) bool {
		return len(room.People) == 3 && room.People[1].Done && room.People[2].Done
	})
	h.Go(code)
	bob.looks()
	if launch := ann.finishes(); launch.Address != "10.0.0.0:27960" {
		t.Errorf("everyone goes to %s", launch.Address)
	}
	expect[wire.Launch](bob)
}

// TestLastWord checks that everyone knows why a room has failed when the host then ends.
func TestLastWord(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			h, server := serve(t, host.Config{List: listOf(0)})
			code, _, _ := h.Open(friday(1))
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				for room := range h.Watch(context.Background(), code) {
					if room.Room.Stage == wire.Failed {
						h.Close()
					}
				}
			}()
			ann := join(t, server, code, "ann")
			for told := (wire.Snapshot{}); told.Room.Stage != wire.Failed; { // otherwise the connection would end too early
				if err := told.Merge(expect[wire.Room](ann)); err != nil {
					t.Fatal(err)
				}
			}
			<-closed
		})
	}
}

// TestPackedStates checks that a program gets long states packed if it says that it inflates them, and
// as text otherwise.
func TestPackedStates(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(5), Games: many(50)})
	code, _, _ := h.Open(friday(3))
	for name, inflates := range map[string]bool{"ann": true, "bob": false} {
		ws := socket(t, server, "/peer", nil)
		hello, _ := wire.Marshal(wire.Hello{Version: wire.Version, Code: code, Name: name, Inflates: inflates})
		if err := ws.WriteMessage(websocket.TextMessage, hello.Data); err != nil {
			t.Fatal(err)
		}
		for {
			kind, data, err := ws.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			frame := wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data}
			message, err := wire.Unmarshal(frame)
			if news, is := message.(wire.Room); err != nil || is && news["games"] != nil {
				if err != nil || frame.Binary != inflates {
					t.Errorf("%s gets %d bytes, binary %v, %v", name, len(data), frame.Binary, err)
				}
				break
			}
		}
	}
}

// many returns so many games that their names make a long state.
func many(n int) (games []wire.Game) {
	for i := range n {
		games = append(games, wire.Game{ID: fmt.Sprintf("game%d", i), Name: fmt.Sprintf("The game with the number %d", i)})
	}
	return games
}

func TestClose(t *testing.T) {
	asked := make(chan struct{})
	h, server := serve(t, host.Config{List: func(ctx context.Context, _ string) ([]discovery.Server, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	code, _, _ := h.Open(friday(1))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for range h.Watch(context.Background(), code) {
		}
	}()
	ann := join(t, server, code, "ann")
	stranger := dial(t, server)
	<-asked
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	<-ann.Ended
	<-stranger.Ended
	<-watched
	if h.Go(code) {
		t.Error("a closed host takes a go")
	}
	h.Open(friday(1))
	for _, path := range []string{"/peer", "/live"} { // who comes back too early is turned away before an upgrade
		_, answer, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+path, nil)
		if err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable || !answer.Close {
			t.Errorf("%s is answered %+v, %v", path, answer, err)
		}
	}
}

// TestNewsFirst checks that a player learns why a server was chosen before being sent there.
func TestNewsFirst(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(3)})
	code, _, _ := h.Open(friday(1))
	ann := join(t, server, code, "ann")
	ann.measures(20)
	ann.looks()
	var newest wire.Snapshot
	for m := range ann.Heard {
		switch m := m.(type) {
		case wire.Room:
			if err := newest.Merge(m); err != nil {
				t.Fatal(err)
			}
		case wire.Launch:
			if newest.Room.Stage != wire.Launching || newest.Choice == nil {
				t.Errorf("sent to %s when the room is %s to the player", m.Address, newest.Room.Stage)
			}
			return
		}
	}
	t.Error("no launch")
}

// TestOrder checks that a host's own program steers its rooms as their organiser does, and learns
// why a room refuses.
func TestOrder(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(3)})
	code, _, err := h.Open(friday(2))
	if err != nil {
		t.Fatal(err)
	}
	join(t, server, code, "ann")
	for _, tt := range []struct {
		name, code string
		action     room.Action
		refused    string
	}{
		{"no such room", "NOSUCH", room.Hide{}, "the room is over"},
		{"what makes no sense", code, room.Hide{}, "which server is to be hidden is missing"},
		{"too early", code, room.AwaitSeats{}, "no choice right now"},
		{"what only the organiser may", code, room.Go{Stage: wire.Gathering}, ""},
	} {
		err := h.Order(tt.code, tt.action)
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.refused)
		}
	}
	(&night{t, h, nil, code}).await(func(state wire.Snapshot) bool { return state.Room.Stage != wire.Gathering })
}

// TestSaid checks that a room knows what its list says about servers.
func TestSaid(t *testing.T) {
	list := listOf(2)
	servers, _ := list(t.Context(), "")
	h, server := serve(t, host.Config{List: list, Said: func(game string) discovery.Said {
		if game != "openarena" {
			t.Errorf("asked for the list of %q", game)
		}
		return discovery.Said{
			At:    time.Now(),
			Infos: map[netip.AddrPort]*discovery.Info{servers[0].Addr: {Name: "Den", Mode: "ctf", AsListed: true}},
		}
	}})
	code, _, _ := h.Open(friday(1))
	if launch := join(t, server, code, "ann").plays(5); !strings.HasPrefix(launch.Name, "Den (") {
		t.Errorf("everyone is sent to %q", launch.Name)
	}
}
