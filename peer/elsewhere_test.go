package peer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

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
