package page_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/discovery/prober"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/peer"
	"muster/selection"
	"muster/web"
)

// session is a host with its page, a loopback internet, and real peers.
type session struct {
	*testing.T
	game  game.Game
	world *sim.World
	fleet *fleet.Fleet
	file  string // the rooms
	at    string // the host's address

	rooms  *host.Host
	server *http.Server
	work   sync.WaitGroup
	code   string
	secret string
	// as holds the credentials that players' programs present, and pages the players' personal
	// links, by name.
	as    map[string]string
	pages sync.Map
}

// players sit where MUSST's players did.
var players = []string{"anna", "ben", "chong", "dave"}

func newSession(t *testing.T, servers int, settings wire.Settings) *session {
	t.Helper()
	spec, err := sim.NamedSpec("night2005", 1)
	if err != nil {
		t.Fatal(err)
	}
	places, err := sim.NamedPlaces("NL", "Massachusetts", "Kota Bharu", "North Carolina")
	if err != nil {
		t.Fatal(err)
	}
	spec.Servers, spec.Places = servers, places
	n := &session{T: t, world: sim.Generate(spec), file: filepath.Join(t.TempDir(), "rooms.db"), at: freePort(t), as: map[string]string{}}
	table, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if n.game, err = table.Find("openarena"); err != nil {
		t.Fatal(err)
	}
	n.fleet, err = fleet.Start(t.Context(), fleet.Options{World: n.world, Kind: fleet.Quake3, Game: fleet.Game{Name: n.game.MasterGame}})
	if err != nil {
		t.Fatal(err)
	}
	n.open()
	n.code, n.secret, _ = n.rooms.Open(settings)
	t.Cleanup(func() {
		n.close()
		n.fleet.Close()
	})
	return n
}

func friday(seats int) wire.Settings {
	return wire.Settings{Name: "Friday night", Game: "openarena", By: selection.Mean, Players: seats, Strategy: "as", Agree: wire.Yes}
}

// open starts the host, with the rooms from before.
func (n *session) open() {
	n.Helper()
	store, err := store.Open(n.file)
	if err != nil {
		n.Fatal(err)
	}
	n.rooms, err = host.New(host.Config{
		List: n.list, Store: store, Page: web.Handler(),
		Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
		Join: func(_ string, way wire.Way) wire.Way {
			way.Link = "steam://connect/" + way.Connect
			return way
		},
	})
	if err != nil {
		n.Fatal(err)
	}
	listener, err := net.Listen("tcp", n.at)
	if err != nil {
		n.Fatal(err)
	}
	n.server = &http.Server{Handler: n.rooms.Handler(), ReadHeaderTimeout: 10 * time.Second}
	n.work.Go(func() { n.server.Serve(listener) })
}

func (n *session) close() {
	n.server.Close()
	n.work.Wait()
	n.rooms.Close()
}

func (n *session) list(context.Context, string) ([]discovery.Server, error) {
	return n.fleet.Servers(), nil
}

// plays runs a real peer in the room until the test ends.
func (n *session) plays(place int, rate float64) {
	n.joins(players[place], place, rate, func(*discovery.Result) {})
}

// joins runs a peer under a name; twist changes its results.
func (n *session) joins(name string, place int, rate float64, twist func(*discovery.Result)) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		err := peer.Run(ctx, peer.Options{
			URL: "ws://" + n.at + "/peer", Code: n.code, Name: name, As: n.as[name],
			NewProber: func(string, func(time.Duration)) (peer.Prober, error) {
				p, err := n.prober(place, rate)
				return twisted{p, twist}, err
			},
			NewPlan: func(m wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
				return plan.New(discovery.ByAS, topology.New(servers), discovery.PlanOptions{Seed: m.Seed, MaxRTT: time.Duration(m.MaxRTT)})
			},
			Events: func(e peer.Event) {
				if joined, is := e.(peer.Joined); is {
					n.pages.Store(joined.Name, n.link()+"."+joined.Page)
				}
			},
			Launch: func(_ context.Context, _ wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
				if place == 3 {
					tell(wire.LaunchFailed, sentence.Plain("openarena: not found in PATH"))
					return
				}
				tell(wire.LaunchStarted, sentence.Sentence{})
			},
		})
		if refusal := new(wire.Refusal); errors.As(err, refusal) && refusal.Reason == wire.ReasonEnded {
			return // the organiser wants that
		}
		if err != nil {
			n.Errorf("%s: %v", name, err)
		}
	})
	n.Cleanup(func() { cancel(); work.Wait() })
}

func (n *session) prober(place int, rate float64) (peer.Prober, error) {
	p, err := prober.New(prober.Options{Protocol: n.game.Protocol(), Rate: rate, LocalAddr: n.fleet.Source(place)})
	if err != nil {
		return nil, err
	}
	for _, addr := range p.LocalAddrs() {
		n.fleet.Seat(addr, place)
	}
	return p, nil
}

func (n *session) link() string {
	return fmt.Sprintf("http://%s/#%s_%s", n.at, n.code, n.rooms.Keys(n.code).Link)
}

// personal returns the link of a player who is in the room.
func (n *session) personal(name string) string {
	link, _ := n.pages.Load(name)
	return link.(string)
}

func (n *session) organisersLink() string { return n.link() + "." + n.secret }

// awaits waits until the room satisfies is.
func (n *session) awaits(what string, is func(wire.Document) bool) wire.Document {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), 90*time.Second)
	defer cancel()
	for room := range n.rooms.Watch(ctx, n.code) {
		if is(room.Document()) {
			return room.Document()
		}
	}
	room, _ := n.rooms.Room(n.code)
	n.Fatalf("not in time: %s; the room is %s, log %v", what, room.Room.Stage, room.Log)
	return room.Document()
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
