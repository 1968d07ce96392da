package peer_test

import (
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
)

// TestLookGoesFirst checks that a host may choose while its questions are unanswered. The remaining questions do not
// delay the look at the finalists.
func TestLookGoesFirst(t *testing.T) {
	servers, _ := list(t.Context(), "")
	asking := newGate(0)
	var looked map[int]discovery.State
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers},
			wire.Measure{Round: 1, Game: "openarena", Strategy: wire.Coordinated},
			wire.Ask{Round: 1, Servers: []int{20, 21, 22}})
		<-asking.reached
		say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{6}, Samples: 1})
		looked = verified(t, ws)
		endRoom(t, ws)
	})
	s.hold = asking.hold
	defer s.sit()()
	s.done()
	if looked[6] != discovery.Answered {
		t.Errorf("the player looked again and found %v", looked)
	}
}
