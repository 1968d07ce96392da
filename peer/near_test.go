package peer_test

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/peer"
)

// TestOwnNetwork checks which private addresses a public host may ask for: only those where the player's program found
// servers itself. However often the host asks, the program searches the network once.
func TestOwnNetwork(t *testing.T) {
	mine, theirs := netip.MustParseAddrPort("192.168.1.5:27960"), netip.MustParseAddrPort("192.168.1.6:27960")
	servers, _ := list(t.Context(), "")
	servers[3].Addr, servers[4].Addr = mine, theirs
	looks := 0
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn)
		want := wire.Near{Game: "openarena", Servers: []wire.NearServer{{Addr: mine, Info: discovery.Info{Name: "Den"}}}}
		for range 3 {
			say(t, ws, wire.Look{Game: "openarena"})
			if got := told[wire.Near](t, ws); !reflect.DeepEqual(got, want) {
				t.Errorf("the host is told %+v, want %+v", got, want)
			}
		}
		say(t, ws, wire.Look{Game: "xonotic"})
		if got := told[wire.Near](t, ws); got.Game != "xonotic" || len(got.Servers) > 0 {
			t.Errorf("asked for another game at once the host is told %+v", got)
		}
		say(t, ws, wire.List{Round: 1, Servers: servers}, wire.Measure{Round: 1, Game: "openarena", Strategy: "conventional"})
		if states := reported(t, ws); states[3] != discovery.Answered || states[4] != discovery.Forbidden {
			t.Errorf("the player's own server is %v, that of others %v", states[3], states[4])
		}
		endRoom(t, ws)
	})
	s.options.Near = func(_ context.Context, game string) []wire.NearServer {
		looks++
		return []wire.NearServer{
			{Addr: mine, Info: discovery.Info{Name: "Den"}},
			{Addr: netip.MustParseAddrPort("192.0.2.1:27960")}, {Addr: netip.MustParseAddrPort("127.0.0.1:27960")},
		}
	}
	peer.HostAt(&s.options, netip.MustParseAddr("203.0.113.1"))
	defer s.sit()()
	s.done()
	if looks != 1 {
		t.Errorf("the network was looked over %d times", looks)
	}
	if s.asked[mine] != 1 || s.asked[theirs] > 0 {
		t.Errorf("the player's own server was asked %d times, that of others %d times", s.asked[mine], s.asked[theirs])
	}
}

// told reads until a message of type M comes.
func told[M wire.Message](t *testing.T, ws *websocket.Conn) (m M) {
	t.Helper()
	for {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			t.Error(err)
			return m
		}
		message, err := wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data})
		if err != nil {
			t.Error(err)
		}
		if m, is := message.(M); is {
			return m
		}
	}
}

// TestOtherNetworks checks that the program asks the servers of other private networks that its host
// names, and reports those that answer. A host on the internet makes it ask none.
func TestOtherNetworks(t *testing.T) {
	mine, theirs := netip.MustParseAddrPort("10.1.0.9:27960"), netip.MustParseAddrPort("10.2.0.9:27960")
	silent, public := netip.MustParseAddrPort("10.3.0.9:27960"), netip.MustParseAddrPort("192.0.2.1:27960")
	for host, isAsked := range map[string]bool{"10.1.0.5": true, "203.0.113.1": false} {
		var asked [][]netip.AddrPort
		s := scripted(t, func(ws *websocket.Conn) {
			say(t, ws, letIn)
			want := wire.Near{Game: "openarena", Servers: []wire.NearServer{{Addr: mine}}}
			for range 2 {
				if isAsked {
					want.Servers = []wire.NearServer{{Addr: mine}, {Addr: theirs}}
				}
				say(t, ws, wire.Look{Game: "openarena", At: []netip.AddrPort{mine, theirs, silent, public}})
				got := told[wire.Near](t, ws)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the host is told %+v, want %+v", host, got, want)
				}
			}
			endRoom(t, ws)
		})
		s.options.Near = func(context.Context, string) []wire.NearServer { return []wire.NearServer{{Addr: mine}} }
		s.options.Others = func(_ context.Context, _ string, at []netip.AddrPort) (answered []wire.NearServer) {
			asked = append(asked, at)
			if slices.Contains(at, theirs) {
				answered = append(answered, wire.NearServer{Addr: theirs})
			}
			return answered
		}
		peer.HostAt(&s.options, netip.MustParseAddr(host))
		stop := s.sit()
		s.done()
		stop()
		want := "[]"
		if isAsked {
			want = "[[10.1.0.9:27960 10.2.0.9:27960 10.3.0.9:27960] [10.3.0.9:27960]]"
		}
		if got := fmt.Sprint(asked); got != want {
			t.Errorf("%s: the program asks %s, want %s", host, got, want)
		}
	}
}
