package peer_test

import (
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
)

// TestDiscreetPlayer checks the player's own bound on the servers that see their address. Plan,
// requests and finalists together stay within the bound. The host learns which servers were not
// asked, and nobody waits.
func TestDiscreetPlayer(t *testing.T) {
	const most = 16
	servers, _ := list(t.Context(), "")
	for _, strategy := range []string{"conventional", wire.Coordinated} {
		t.Run(strategy, func(t *testing.T) {
			var looked map[int]discovery.State
			s := scripted(t, func(ws *websocket.Conn) {
				say(t, ws, letIn, wire.List{Round: 1, Servers: servers},
					wire.Measure{Round: 1, Game: "openarena", Strategy: strategy},
					wire.Ask{Round: 1, Servers: []int{6}, Own: listed})
				asked, unasked, beyond := 0, 0, -1
				for server, state := range reportedOf(t, ws, len(servers)) {
					if state == discovery.Forbidden {
						unasked, beyond = unasked+1, server
					} else {
						asked++
					}
				}
				if asked != most || unasked != len(servers)-most {
					t.Errorf("%d servers asked, %d not, of %d", asked, unasked, len(servers))
				}
				say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{6, beyond}, Samples: 1})
				looked = verified(t, ws)
				if looked[beyond] != discovery.Forbidden {
					t.Errorf("finalist %d is %v, want forbidden", beyond, looked[beyond])
				}
				endRoom(t, ws)
			})
			s.options.Discreet = most
			defer s.sit()()
			s.done()
			if len(s.asked) != most {
				t.Errorf("%d servers saw the address, want %d", len(s.asked), most)
			}
			if len(looked) != 2 {
				t.Errorf("the second look found %v", looked)
			}
		})
	}
}
