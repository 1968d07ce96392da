package peer_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gorilla/websocket"

	"muster/host/wire"
)

// TestAble: a peer tells at once whether this machine can start the room's game, finds
// it out once a game, and says it again to a host that may not have heard.
func TestAble(t *testing.T) {
	room := func(game string) wire.Room {
		return wire.Room{"room": json.RawMessage(`{"code":"BAKODI","game":"` + game + `","stage":"gathering"}`)}
	}
	tried := map[string]int{}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, room("openarena"), room("openarena"))
		want := wire.Able{Game: "openarena", Why: "there is no program openarena"}
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
		say(t, ws, wire.Refusal{Reason: wire.ReasonClosed})
		ws.NextReader()
	})
	s.options.Able = func(_ context.Context, game string) string {
		tried[game]++
		if game == "openarena" {
			return "there is no program openarena"
		}
		return ""
	}
	defer s.sit()()
	s.done()
	if tried["openarena"] != 1 || tried["xonotic"] != 1 {
		t.Errorf("tried %v times", tried)
	}
}
