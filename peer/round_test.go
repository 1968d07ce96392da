package peer_test

import (
	"net/netip"
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/peer"
)

// TestStrangersListOurNetwork checks that a host on the internet cannot make a player's program probe the player's own
// network, whether by a list, a request or finalists. The host learns that these servers must not be asked, and nobody
// waits.
func TestStrangersListOurNetwork(t *testing.T) {
	servers, _ := list(t.Context(), "")
	ours := map[int]bool{3: true, 4: true, 5: true}
	servers[3].Addr = netip.MustParseAddrPort("192.168.1.1:53")
	servers[4].Addr = netip.MustParseAddrPort("127.0.0.1:27960")
	servers[5].Addr = netip.MustParseAddrPort("[fd00::1]:27960")
	for _, strategy := range []string{"conventional", wire.Coordinated} {
		t.Run(strategy, func(t *testing.T) {
			var looked map[int]discovery.State
			s := scripted(t, func(ws *websocket.Conn) {
				say(t, ws, letIn, wire.List{Round: 1, Servers: servers},
					wire.Measure{Round: 1, Game: "openarena", Strategy: strategy},
					wire.Ask{Round: 1, Servers: []int{3, 4, 5, 6}, Own: listed})
				told := reportedOf(t, ws, listed)
				for server := range ours {
					if told[server] != discovery.Forbidden {
						t.Errorf("server %d is %v, want forbidden", server, told[server])
					}
				}
				say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{3, 6}, Samples: 1})
				looked = verified(t, ws)
				endRoom(t, ws)
			})
			peer.HostAt(&s.options, netip.MustParseAddr("203.0.113.1"))
			defer s.sit()()
			s.done()
			for server := range ours {
				if s.asked[servers[server].Addr] > 0 {
					t.Errorf("%v was asked", servers[server].Addr)
				}
			}
			s.askedOnce(listed - len(ours))
			if len(looked) != 2 || looked[6] != discovery.Answered || looked[3] != discovery.Forbidden {
				t.Errorf("the player looked again and found %v, want 6 answered and 3 forbidden", looked)
			}
		})
	}
}

// verified reads until the result of the second look, and returns the state of each server.
func verified(t *testing.T, ws *websocket.Conn) map[int]discovery.State {
	t.Helper()
	for {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			t.Error(err)
			return nil
		}
		m, err := wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data})
		if err != nil {
			t.Error(err)
		}
		if v, ok := m.(wire.Verified); ok {
			found := map[int]discovery.State{}
			for _, f := range v.Servers {
				found[f.Server] = f.State
			}
			return found
		}
	}
}

// pausing is a plan that rests after four servers, and covers the others when run again.
type pausing struct {
	discovery.Plan
	named int
}

func (p *pausing) Next() (discovery.Probe, discovery.Verdict) {
	if p.named++; p.named == 5 {
		return discovery.Probe{}, discovery.Stop
	}
	return p.Plan.Next()
}

// TestMeasureAgain checks that a player's own plan ends when the host takes over the questions.
func TestMeasureAgain(t *testing.T) {
	servers, _ := list(t.Context(), "")
	measure := wire.Measure{Round: 1, Game: "openarena", Strategy: "conventional"}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers}, measure)
		reported(t, ws)
		measure.Strategy = wire.Coordinated
		say(t, ws, measure, wire.Ask{Round: 1, Servers: []int{20}})
		for told := false; !told; {
			kind, data, err := ws.ReadMessage()
			if err != nil {
				t.Error(err)
				return
			}
			m, _ := wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data})
			report, is := m.(wire.Report)
			told = is && report.Results[0].Server == 20
		}
		endRoom(t, ws)
	})
	s.options.NewPlan = func(_ wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
		return &pausing{Plan: discovery.NewConventional(len(servers))}, nil
	}
	defer s.sit()()
	s.done()
	s.askedOnce(5)
}
