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
