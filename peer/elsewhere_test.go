package peer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/between"
	"muster/host/cluster"
	"muster/host/cluster/clustertest"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
)

// machine is one of several hosts that share their rooms over NATS. Like machines behind one name, they
// have different addresses and the same port.
type machine struct {
	host    *host.Host
	server  *http.Server
	clients *cutListener
	nats    *clustertest.Line // between the host and NATS
	others  *between.Mesh
	serving sync.WaitGroup
}

// machines starts several hosts, and returns them with their common URL and their addresses.
func machines(t *testing.T, many int) ([]*machine, string, []netip.Addr) {
	t.Helper()
	nats := clustertest.New(1)
	t.Cleanup(nats.Close)
	var all []*machine
	var addrs []netip.Addr
	doors := atOnePort(t, many)
	port := netip.MustParseAddrPort(doors[0].Addr().String()).Port()
	for i, door := range doors {
		m := &machine{clients: &cutListener{Listener: door}, nats: nats.Line()}
		addr := loopback(i)
		node := string(rune('a' + i))
		listener, err := net.Listen("tcp", net.JoinHostPort(addr.String(), "0"))
		if err == nil {
			m.others, err = between.New(listener, node, slog.New(slog.DiscardHandler))
		}
		if err != nil {
			t.Fatal(err)
		}
		rooms, err := cluster.Open(t.Context(), cluster.Config{URL: nats.URL(), Dial: m.nats.Dial, Node: node, Door: m.others.Door})
		if err != nil {
			t.Fatal(err)
		}
		m.others.Join(rooms.Doors)
		if m.host, err = host.New(host.Config{List: list, Store: rooms, Relay: m.others, Names: []string{"night.example"}}); err != nil {
			t.Fatal(err)
		}
		m.server = &http.Server{Handler: m.host.Handler()}
		m.serving.Go(func() { m.server.Serve(m.clients) })
		t.Cleanup(func() {
			m.dies()
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			m.host.Drain(ctx)
			m.host.Close()
			m.serving.Wait()
		})
		all, addrs = append(all, m), append(addrs, addr)
	}
	return all, fmt.Sprintf("ws://night.example:%d/peer", port), addrs
}

// loopback returns one of this machine's own addresses.
func loopback(i int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + i)}) }

// atOnePort listens on several loopback addresses, at a port that is free on all of them.
func atOnePort(t *testing.T, many int) []net.Listener {
	t.Helper()
	for range 20 {
		var all []net.Listener
		port := uint16(0)
		for i := range many {
			listener, err := net.Listen("tcp", netip.AddrPortFrom(loopback(i), port).String())
			if errors.Is(err, syscall.EADDRINUSE) {
				break
			}
			if err != nil {
				t.Skipf("no second loopback address: %v", err)
			}
			port = netip.MustParseAddrPort(listener.Addr().String()).Port()
			all = append(all, listener)
		}
		if len(all) == many {
			return all
		}
		for _, listener := range all {
			listener.Close()
		}
	}
	t.Fatal("no port is free on all loopback addresses")
	return nil
}

// dies cuts a machine off without a word.
func (m *machine) dies() {
	m.server.Close()
	m.nats.Set(clustertest.Frozen)
	m.clients.cut()
	m.nats.Cut()
	m.others.Close()
}

// TestOwnerDies kills the host that owns the room in each phase of a session whose players are spread over three hosts.
// All return and go to one server. Those at the other hosts stay there; the dead host's player moves to another.
func TestOwnerDies(t *testing.T) {
	t.Parallel()
	for _, stage := range []wire.Stage{wire.Gathering, wire.Measuring, wire.Chosen, wire.Launching} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			hosts, url, addrs := machines(t, 3)
			code, _, err := hosts[0].host.Open(wire.Settings{
				Name:     "Friday",
				Game:     "openarena",
				By:       selection.Mean,
				Players:  3,
				Strategy: "conventional",
			})
			if err != nil {
				t.Fatal(err)
			}
			tb := &table{T: t, host: hosts[1].host, listener: hosts[1].clients, code: code}
			var mu sync.Mutex
			sent := map[string]string{}
			once := new(sync.Once)
			kill := func() { once.Do(func() { go hosts[0].dies() }) }
			var seats []*seat
			for i, name := range []string{"ann", "bob", "cat"} {
				s := newSeat(tb, name)
				s.options.URL, s.options.Key = url, hosts[0].host.Keys(code).Link // the others may not know the room yet
				if i > 0 {                                                        // ann connects to any host, each of the others to its own
					peer.Named(&s.options, addrs[i])
				} else {
					peer.Named(&s.options, addrs...)
				}
				if stage == wire.Measuring {
					s.hold = func(ctx context.Context, n int) {
						if n == 120 {
							kill()
						}
					}
				}
				s.options.Launch = func(_ context.Context, launch wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
					mu.Lock()
					sent[name] = launch.Address
					mu.Unlock()
					tell(wire.LaunchStarted, sentence.Sentence{})
				}
				events := s.options.Events
				s.options.Events = func(e peer.Event) {
					events(e)
					if changed, is := e.(peer.RoomChanged); is && changed.Room.Room.Stage == stage && name == "bob" {
						kill()
					}
				}
				seats = append(seats, s)
			}
			for _, s := range seats {
				defer s.sit()()
			}
			for _, s := range seats {
				if err := s.done(); err != nil {
					t.Errorf("%s ends with %v", s.options.Name, err)
				}
			}
			if want := address(best).String(); sent["ann"] != want || sent["bob"] != want || sent["cat"] != want {
				t.Errorf("sent to %v, want %s for all", sent, want)
			}
		})
	}
}

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
