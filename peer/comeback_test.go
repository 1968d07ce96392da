package peer_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/leak"
	"muster/peer"
)

// TestLostConnection checks a cut of all connections while bob measures. He returns, nothing is asked twice, and
// nothing is lost.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 2)
	ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
	g := newGate(120)
	bob.hold = g.hold
	defer ann.sit()()
	defer bob.sit()()
	<-g.reached
	tb.room("part of bob's report", func(r wire.Document) bool { return member(r, "bob").Probed == 120 })
	tb.listener.cut()
	tb.room("everyone's return", func(r wire.Document) bool {
		return ann.joins() == 2 && bob.joins() == 2 && member(r, "bob").Connected
	})
	close(g.open)
	room := finishes(tb, ann, bob)
	ann.askedOnce(listed)
	bob.askedOnce(listed)
	if m := member(room, "bob"); m.Probed != listed {
		t.Errorf("the room has %d results of bob", m.Probed)
	}
}

// TestUnsteadyConnection checks that connections which break repeatedly lose no results.
func TestUnsteadyConnection(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	ann.options.Once = false
	joined, show := make(chan struct{}, listed), ann.options.Events
	ann.options.Events = func(e peer.Event) {
		show(e)
		if _, is := e.(peer.Joined); is {
			joined <- struct{}{}
		}
	}
	ann.hold = func(ctx context.Context, n int) {
		if n == 0 {
			<-joined
		}
		switch n % 10 {
		case 0:
			tb.listener.cut()
		case 9: // measure on only once ann is back, so that each cut meets a connection with results on it
			select {
			case <-joined:
			case <-ctx.Done():
			}
		}
	}
	leave := ann.sit()
	room := tb.room("the launch", func(r wire.Document) bool { return launching(r) && member(r, "ann").Launch == wire.LaunchStarted })
	leave()
	if err := ann.done(); err != nil {
		t.Errorf("ann ends with %v", err)
	}
	ann.askedOnce(listed)
	if m := member(room, "ann"); m.Probed != listed || m.Answered != listed-29 {
		t.Errorf("the room says of ann: %+v", m)
	}
}

// TestKilledPeer checks that bob's program, started again with its saved token, does not repeat reported measurements.
func TestKilledPeer(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 2)
	ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
	g := newGate(120)
	bob.hold = g.hold
	defer ann.sit()()
	leave := bob.sit()
	<-g.reached
	tb.room("part of bob's report", func(r wire.Document) bool { return member(r, "bob").Probed == 120 })
	leave()
	if err := bob.done(); err != nil {
		t.Errorf("bob was told to leave and ends with %v", err)
	}
	stranger := newSeat(tb, "bob")
	defer stranger.sit()()
	if err, refusal := stranger.done(), (wire.Refusal{}); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonNameTaken {
		t.Errorf("another bob, without the token, ends with %v", err)
	}
	again := newSeat(tb, "bob")
	again.token = bob.token
	defer again.sit()()
	finishes(tb, ann, again)
	bob.askedOnce(120)
	again.askedOnce(listed - 120)
	for addr := range again.asked {
		if bob.asked[addr] > 0 {
			t.Errorf("%s was asked before and after", addr)
		}
	}
}

// TestRestartedHost checks that a round survives a host that stops in the middle and starts again.
func TestRestartedHost(t *testing.T) {
	t.Parallel()
	t.Run("while everyone measures", func(t *testing.T) {
		tb := newTable(t, 2)
		ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
		g := newGate(120)
		bob.hold = g.hold
		defer ann.sit()()
		defer bob.sit()()
		<-g.reached
		tb.room("part of bob's report", func(r wire.Document) bool { return member(r, "bob").Probed == 120 })
		tb.restart()
		if room := tb.room("a view", func(wire.Document) bool { return true }); member(room, "bob").Probed != 120 || room.Listed != listed {
			t.Errorf("the new host has the room %+v", room)
		}
		tb.room("bob's return", func(r wire.Document) bool { return member(r, "bob").Connected })
		close(g.open)
		finishes(tb, ann, bob)
		ann.askedOnce(listed)
		bob.askedOnce(listed)
	})
	t.Run("while the finalists are looked at", func(t *testing.T) {
		tb := newTable(t, 2)
		ann, bob := newSeat(tb, "ann"), newSeat(tb, "bob")
		looking, look := make(chan struct{}), make(chan struct{})
		bob.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) {
			return &slowLook{seat: bob, looking: looking, look: look}, nil
		}
		defer ann.sit()()
		defer bob.sit()()
		<-looking
		tb.restart()
		tb.room("everyone's return", func(r wire.Document) bool {
			return r.Stage == wire.Chosen && member(r, "ann").Connected && member(r, "bob").Connected
		})
		close(look)
		finishes(tb, ann, bob)
		ann.askedOnce(listed)
		bob.askedOnce(listed)
	})
	t.Run("while players are asked", func(t *testing.T) {
		tb := newTable(t, 1)
		ann := newSeat(tb, "ann")
		asked, answer := make(chan struct{}), make(chan struct{})
		var once sync.Once
		ann.options.Launch = func(ctx context.Context, _ wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
			tell(wire.LaunchAsking, sentence.Sentence{})
			once.Do(func() { close(asked) })
			<-answer
			tell(wire.LaunchByHand, sentence.Sentence{})
		}
		defer ann.sit()()
		<-asked
		tb.room("the question", func(r wire.Document) bool { return member(r, "ann").Launch == wire.LaunchAsking })
		tb.restart()
		tb.room("ann's return", func(r wire.Document) bool { return member(r, "ann").Connected })
		close(answer)
		if err := ann.done(); err != nil {
			t.Errorf("ann ends with %v", err)
		}
		tb.room("ann's answer", func(r wire.Document) bool { return member(r, "ann").Launch == wire.LaunchByHand })
	})
}

// slowLook is a seat's prober that holds the look at the finalists.
type slowLook struct {
	*seat
	looking, look chan struct{}
	once          sync.Once
}

func (s *slowLook) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if len(servers) != listed {
		s.once.Do(func() { close(s.looking) })
		select {
		case <-s.look:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.seat.Run(ctx, servers, plan, seen)
}

// TestLookedOnce checks that a second look survives a broken connection and does not start again.
func TestLookedOnce(t *testing.T) {
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	looking, look := make(chan struct{}), make(chan struct{})
	prober := &countingLook{slowLook: slowLook{seat: ann, looking: looking, look: look}}
	ann.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return prober, nil }
	defer ann.sit()()
	<-looking
	tb.listener.cut()
	tb.room("ann's return", func(wire.Document) bool { return ann.joins() == 2 })
	close(look)
	if err := ann.done(); err != nil {
		t.Error(err)
	}
	if prober.looks != 3 {
		t.Errorf("the finalists were sampled %d times, want 3", prober.looks)
	}
}

type countingLook struct {
	slowLook
	looks int
}

func (c *countingLook) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if len(servers) != listed {
		c.looks++
	}
	return c.slowLook.Run(ctx, servers, plan, seen)
}

// TestTwice checks that the same player on two machines does not fight for the place.
func TestTwice(t *testing.T) {
	tb := newTable(t, 2)
	first := newSeat(tb, "ann")
	defer first.sit()()
	tb.room("ann", func(r wire.Document) bool { return len(r.Members) == 1 })
	second := newSeat(tb, "ann")
	first.locked(func() { second.token = first.token })
	defer second.sit()()
	if err, refusal := first.done(), (wire.Refusal{}); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonReplaced {
		t.Errorf("the first ends with %v", err)
	}
	bob := newSeat(tb, "bob")
	defer bob.sit()()
	for _, s := range []*seat{second, bob} {
		if err := s.done(); err != nil {
			t.Error(err)
		}
	}
}

// TestLimited checks that a peer retries a host that temporarily accepts no codes from its address.
func TestLimited(t *testing.T) {
	leak.Check(t)
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	limited := 0
	limiter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		var hello wire.Hello
		ws.ReadJSON(&hello)
		answer := wire.Message(wire.Refusal{Reason: wire.ReasonLimited, Message: "too many wrong codes were tried"})
		if limited++; limited > 3 {
			answer = wire.Refusal{Reason: wire.ReasonCode, Message: "no room has the code"}
		}
		frame, _ := wire.Marshal(answer)
		ws.WriteMessage(kindOf(frame), frame.Data)
	}))
	defer limiter.Close()
	ann.options.URL = "ws" + strings.TrimPrefix(limiter.URL, "http")
	defer ann.sit()()
	if err, refusal := ann.done(), (wire.Refusal{}); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonCode || limited != 4 {
		t.Errorf("after %d tries ann ends with %v", limited, err)
	}
}

// TestLostWelcome checks a player whom the host has let in but who never got the answer. The player
// returns with the same token, because the program saved it before the host saw it.
func TestLostWelcome(t *testing.T) {
	var shown []string
	var s *seat
	script := func(ws *websocket.Conn) {
		var hello wire.Hello
		if err := ws.ReadJSON(&hello); err != nil {
			t.Error(err)
		}
		s.locked(func() {
			shown = append(shown, hello.Token)
			if s.token != hello.Token {
				t.Errorf("the host is shown %q, kept is %q", hello.Token, s.token)
			}
		})
	}
	s = scripted(t, script)
	leave := s.sit()
	s.done()
	leave()
	s.options.Token = s.token
	defer s.sit()()
	s.done()
	s.locked(func() {
		if len(shown) != 2 || shown[0] != shown[1] || len(shown[0]) < 26 {
			t.Errorf("the host is shown %q, want one token twice", shown)
		}
	})
}

// TestOutdatedHost checks that the peer disobeys a host whose epoch shows that it has lost the room, both when it lets
// the player in and when it launches. A peer that hears of the move reconnects.
func TestOutdatedHost(t *testing.T) {
	moved := wire.Refusal{Reason: wire.ReasonMoved, Message: "the room goes on at another host"}
	welcome := func(epoch uint64) wire.Welcome {
		return wire.Welcome{Version: wire.Version, Name: "ann", Token: "token", Epoch: epoch}
	}
	launch := func(epoch uint64) wire.Launch {
		return wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.1:27960", Epoch: epoch}
	}
	says := [][]wire.Message{ // one entry a connection
		{welcome(2), moved},
		{welcome(1), launch(1)},
		{welcome(2), launch(1)},
		{welcome(3), moved},
		{welcome(2), launch(9)},
		{welcome(3), launch(3)},
	}
	connections, joined := 0, 0
	var launches []uint64
	var s *seat
	s = scripted(t, func(ws *websocket.Conn) {
		var hello wire.Hello
		if ws.ReadJSON(&hello) != nil {
			return
		}
		var messages []wire.Message
		s.locked(func() {
			messages = says[min(connections, len(says)-1)]
			connections++
		})
		say(t, ws, messages...)
		drain(ws)
	})
	s.options.Once = true
	s.options.Launch = func(_ context.Context, l wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
		launches = append(launches, l.Epoch)
		tell(wire.LaunchStarted, sentence.Sentence{})
	}
	s.options.Events = func(e peer.Event) {
		if _, is := e.(peer.Joined); is {
			joined++
		}
	}
	defer s.sit()()
	if err := s.done(); err != nil {
		t.Error(err)
	}
	if connections != len(says) || joined != 4 || len(launches) != 1 || launches[0] != 3 {
		t.Errorf("in %d connections ann is let in %d times, and launches by %v", connections, joined, launches)
	}
}
