package peer_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
)

// TestDoubt checks that a player goes to a server without being asked only if it is on this round's list, accepts
// players there, has answered this very player, and named the port itself.
func TestDoubt(t *testing.T) {
	servers, _ := list(t.Context(), "")
	theList, of := wire.List{Round: 1, Servers: servers}, wire.Measure{Round: 1, Game: "openarena"}
	asked := func(port uint16, address string) wire.Launch {
		return wire.Launch{Round: 1, Game: "openarena", Address: address, QueryPort: port}
	}
	to := func(address string) wire.Launch { return wire.Launch{Round: 1, Game: "openarena", Address: address} }
	known := wire.Report{Round: 1, Results: []discovery.Result{{Server: 3, State: discovery.Answered, RTT: 1e6}}}
	knows := of
	knows.Known = 1
	for _, tt := range []struct {
		name     string
		messages []wire.Message
		want     sentence.Sentence
	}{
		{"a server that answers, asked just before", []wire.Message{theList, to("192.0.2.5:27960")}, sentence.Sentence{}},
		{"its game port, by its own word", []wire.Message{theList, to("192.0.2.5:28000")}, sentence.Sentence{}},
		{"another port of it", []wire.Message{theList, to("192.0.2.5:22")}, sentence.Of("start.doubt-port")},
		{"asked at its port", []wire.Message{theList, asked(27960, "192.0.2.5:28000")}, sentence.Sentence{}},
		{"asked at another port", []wire.Message{theList, asked(22, "192.0.2.5:28000")}, sentence.Of("start.doubt-port")},
		{"a silent server", []wire.Message{theList, to("192.0.2.3:27960")}, sentence.Of("start.doubt-silent")},
		{"a silent server that the host says answered", []wire.Message{theList, knows, known, to("192.0.2.3:27960")},
			sentence.Of("start.doubt-silent")},
		{"a stranger", []wire.Message{theList, to("198.51.100.1:27960")}, sentence.Of("start.doubt-elsewhere")},
		{"no list", []wire.Message{to("192.0.2.5:27960")}, sentence.Of("start.doubt-unlisted")},
		{"a list of another round", []wire.Message{wire.List{Round: 2, Servers: servers}, to("192.0.2.5:27960")},
			sentence.Of("start.doubt-unlisted")},
		{"another game", []wire.Message{theList, of,
			wire.Launch{Round: 1, Game: "xonotic", Address: "192.0.2.5:27960"}}, sentence.Of("start.doubt-game")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scripted(t, func(ws *websocket.Conn) {
				say(t, ws, wire.Welcome{Version: wire.Version, Name: "ann", Token: "token"})
				say(t, ws, tt.messages...)
				drain(ws)
			})
			s.gamePort = 28000
			doubts := make(chan sentence.Sentence, 1)
			s.options.Launch = func(_ context.Context, _ wire.Launch, doubt sentence.Sentence, _ func(wire.LaunchState, sentence.Sentence)) {
				doubts <- doubt
			}
			leave := s.sit()
			if got := <-doubts; got != tt.want {
				t.Errorf("the doubt is %v, want %v", got, tt.want)
			}
			leave()
			s.done()
		})
	}
}

// TestNoDoubtAfterMeasuring checks that after measuring neither the player nor the servers are asked again.
func TestNoDoubtAfterMeasuring(t *testing.T) {
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	doubts := make(chan sentence.Sentence, 1)
	ann.options.Launch = func(_ context.Context, _ wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		doubts <- doubt
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	defer ann.sit()()
	if doubt := <-doubts; !doubt.IsZero() {
		t.Errorf("the launch is doubted: %v", doubt)
	}
	if err := ann.done(); err != nil {
		t.Error(err)
	}
	ann.askedOnce(listed)
}

// TestLatecomer checks a player who joins when the others are on their way. The program gets the list, asks the server,
// and takes the player there too.
func TestLatecomer(t *testing.T) {
	tb := newTable(t, 2)
	ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
	defer ann.sit()()
	tb.room("ann", func(r wire.Document) bool { return member(r, "ann").Connected })
	tb.host.Go(tb.code)
	if err := ann.done(); err != nil {
		t.Fatal(err)
	}
	room := tb.room("the launch", launching)
	doubts := make(chan sentence.Sentence, 1)
	bob.options.Launch = func(_ context.Context, to wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		if to.Address != room.Connect {
			t.Errorf("bob is taken to %s, ann to %s", to.Address, room.Connect)
		}
		doubts <- doubt
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	defer bob.sit()()
	if doubt := <-doubts; !doubt.IsZero() {
		t.Errorf("the launch is doubted: %v", doubt)
	}
	if err := bob.done(); err != nil {
		t.Error(err)
	}
}

// TestLookWhileAsked checks that the question whether to start the game stays open while the room looks for seats for a
// player left outside.
func TestLookWhileAsked(t *testing.T) {
	servers, _ := list(t.Context(), "")
	asked, looked := make(chan struct{}), make(chan struct{})
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers}, wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.6:27960"})
		<-asked
		say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{6}, Samples: 1})
		if seen := verified(t, ws); seen[6] != discovery.Answered {
			t.Errorf("the player looked and found %v", seen)
		}
		close(looked)
		if got := told[wire.Launched](t, ws); got.State != wire.LaunchStarted {
			t.Errorf("in the end the host is told %+v", got)
		}
		endRoom(t, ws)
	})
	s.options.Launch = func(ctx context.Context, _ wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		close(asked)
		select {
		case <-ctx.Done():
			t.Error("nobody asks the player any more")
			return
		case <-looked:
		}
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	defer s.sit()()
	s.done()
}

// TestAskedElsewhere checks a room that changes its server while a player is asked whether to start the game. The
// player is asked about the new server, and only that answer counts.
func TestAskedElsewhere(t *testing.T) {
	servers, _ := list(t.Context(), "")
	asked := make(chan struct{})
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers}, wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.6:27960"})
		<-asked
		say(t, ws, wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.7:27960", Again: 1000})
		if got := told[wire.Launched](t, ws); got.State != wire.LaunchStarted {
			t.Errorf("the host is told %+v", got)
		}
		endRoom(t, ws)
	})
	s.options.Launch = func(ctx context.Context, to wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		if to.Address == "192.0.2.6:27960" {
			close(asked)
			<-ctx.Done()
			tell(wire.LaunchDeclined, sentence.Sentence{})
			return
		}
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	defer s.sit()()
	s.done()
}

// TestOpensAgain checks that the game opens once a round, and again whenever the player has since asked for it on the
// page. It does not open for a host that repeats itself or asks without end, nor while the player is being asked.
func TestOpensAgain(t *testing.T) {
	var opened atomic.Int32
	hold, held := make(chan struct{}), make(chan struct{})
	s := scripted(t, func(ws *websocket.Conn) {
		launch := wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.1:27960"}
		expect := func(what string, again int64, state wire.LaunchState, want int32) {
			t.Helper()
			launch.Again = again
			say(t, ws, launch)
			if got := told[wire.Launched](t, ws); got.Round != launch.Round || got.State != state || opened.Load() != want {
				t.Errorf("%s: the host is told %+v, and the game was opened %d times, want %d", what, got, opened.Load(), want)
			}
		}
		say(t, ws, letIn)
		expect("the launch", 0, wire.LaunchStarted, 1)
		expect("said twice", 0, wire.LaunchStarted, 1)
		expect("opened again", 1000, wire.LaunchStarted, 2)
		expect("a host that comes back", 1000, wire.LaunchStarted, 2)
		expect("an older word", 999, wire.LaunchStarted, 2)
		for i := range int32(19) {
			expect("pressed often", 1001+int64(i), wire.LaunchStarted, 3+i)
		}
		expect("without end", 5000, wire.LaunchStarted, 21)
		launch.Round = 2
		expect("the next round", 0, wire.LaunchStarted, 22)
		launch.Round, launch.Again = 3, 0
		say(t, ws, launch)
		<-held
		expect("while it asks", 9000, wire.LaunchAsking, 23)
		close(hold)
		if got := told[wire.Launched](t, ws); got.State != wire.LaunchStarted {
			t.Errorf("in the end the host is told %+v", got)
		}
		endRoom(t, ws)
	})
	s.options.Launch = func(_ context.Context, to wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		opened.Add(1)
		if to.Round == 3 {
			close(held)
			<-hold
		}
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	defer s.sit()()
	s.done()
}

// TestAbleTimeAndAgain checks a host that changes the game repeatedly. For one game at a time, the peer finds out
// whether this machine can start it and what its player brings. The newest game comes last.
func TestAbleTimeAndAgain(t *testing.T) {
	room := func(game string) wire.Room {
		return wire.Room{"room": json.RawMessage(`{"code":"BAKODI","game":"` + game + `","stage":"gathering"}`)}
	}
	var begun atomic.Int32
	hold := make(chan struct{})
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn)
		for range 100 {
			say(t, ws, room("openarena"), room("xonotic"))
		}
		say(t, ws, room("tremulous"), wire.List{Round: 1, Servers: []discovery.Server{{Addr: address(1)}}}, wire.Finalists{
			Round:   1,
			Game:    "openarena",
			Attempt: 1,
			Servers: []int{0},
			Samples: 1,
		})
		verified(t, ws) // by now the player's program has handled every message
		if n := begun.Load(); n != 2 {
			t.Errorf("%d questions at a time, want one of each kind", n)
		}
		close(hold)
		if got := told[wire.Able](t, ws); got.Game != "tremulous" {
			t.Errorf("the host is told %+v", got)
		}
		endRoom(t, ws)
	})
	s.options.Able = func(context.Context, string) wire.Able {
		begun.Add(1)
		<-hold
		return wire.Able{}
	}
	s.options.Brings = func(context.Context, string) wire.Bring {
		begun.Add(1)
		<-hold
		return wire.Bring{}
	}
	defer s.sit()()
	s.done()
}

// TestAble checks that a peer reports at once whether this machine can start the room's game, finds it out once a game,
// and repeats it to a host that may not have heard.
func TestAble(t *testing.T) {
	room := func(game string) wire.Room {
		return wire.Room{"room": json.RawMessage(`{"code":"BAKODI","game":"` + game + `","stage":"gathering"}`)}
	}
	tried := map[string]int{}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, room("openarena"), room("openarena"))
		want := wire.Able{Game: "openarena", Why: sentence.Plain("there is no program openarena"), TypesPassword: true}
		if got := told[wire.Able](t, ws); got != want {
			t.Errorf("the host is told %+v, want %+v", got, want)
		}
		say(t, ws, letIn)
		if got := told[wire.Able](t, ws); got != want {
			t.Errorf("the next host is told %+v, want %+v", got, want)
		}
		say(t, ws, room("xonotic"))
		if got := told[wire.Able](t, ws); got != (wire.Able{Game: "xonotic"}) {
			t.Errorf("of another game the host is told %+v", got)
		}
		endRoom(t, ws)
	})
	s.options.Able = func(_ context.Context, game string) wire.Able {
		tried[game]++
		if game == "openarena" {
			return wire.Able{Why: sentence.Plain("there is no program openarena"), TypesPassword: true}
		}
		return wire.Able{}
	}
	defer s.sit()()
	s.done()
	if tried["openarena"] != 1 || tried["xonotic"] != 1 {
		t.Errorf("tried %v times", tried)
	}
}
