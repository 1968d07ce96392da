package peer_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
)

// TestSurvey checks that places are measured by their protocols, but none in a private network for a host on the
// internet. A place with a name goes to the prober with it. A repeated survey is answered from memory, and another one that comes meanwhile follows.
func TestSurvey(t *testing.T) {
	at, oslo := netip.MustParseAddrPort, hostport.Of("osl.place.example", 443)
	places := wire.Venues{
		{Name: "Frankfurt", Addr: hostport.At(address(3)), Protocol: "beacon"},
		{Name: "a neighbour's", Addr: hostport.At(at("192.168.1.5:7787")), Protocol: "beacon"},
		{Name: "here", Addr: hostport.At(at("127.0.0.1:7787")), Protocol: "tcp"},
		{Name: "London", Addr: hostport.At(address(5)), Protocol: "tcp"},
		{Name: "Paris", Addr: hostport.At(address(6)), Protocol: "carrier-pigeon"},
		{Name: "Oslo", Addr: hostport.At(oslo), Protocol: "tcp"},
	}
	states := func(s wire.Surveyed) (states []discovery.State) {
		for i, f := range s.Places {
			if f.Server != i || f.State == discovery.Answered && (len(f.RTTs) == 0 || f.Info != nil) {
				t.Errorf("place %d is %+v", i, f)
			}
			states = append(states, f.State)
		}
		return states
	}
	var asked []string
	times := map[netip.AddrPort]int{}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn)
		first := wire.Survey{Attempt: 1, Places: places, Samples: 2}
		second := wire.Survey{Attempt: 2, Places: places[:1], Samples: 1}
		say(t, ws, first, first, second)
		got := told[wire.Surveyed](t, ws)
		want := []discovery.State{discovery.Answered, discovery.Forbidden, discovery.Forbidden, discovery.Answered, discovery.Forbidden,
			discovery.Answered}
		if got.Attempt != 1 || !slices.Equal(states(got), want) {
			t.Errorf("%+v", got)
		}
		again := told[wire.Surveyed](t, ws)
		if reflect.DeepEqual(again, got) { // the first survey was finished before its repetition came
			again = told[wire.Surveyed](t, ws)
		}
		if again.Attempt != 2 || len(states(again)) != 1 {
			t.Errorf("%+v", again)
		}
		say(t, ws, second)
		if got := told[wire.Surveyed](t, ws); got.Attempt != 2 {
			t.Errorf("%+v", got)
		}
		endRoom(t, ws)
	})
	s.options.NewPlaceProber = func(protocol string) (peer.Prober, error) {
		asked = append(asked, protocol)
		if protocol == "carrier-pigeon" {
			return nil, errors.New("unknown")
		}
		return placeProber{times}, nil
	}
	s.options.Consents = func(_ context.Context, first wire.Venues) bool { return len(first) == 1 && first[0].Name == "Oslo" }
	peer.HostAt(&s.options, netip.MustParseAddr("203.0.113.1"))
	peer.Impatient(&s.options, 200*time.Millisecond)
	defer s.sit()()
	s.done()
	if len(asked) != 4 {
		t.Errorf("probers were made for %q", asked)
	}
	if len(times) != 3 || times[address(3)] != 3 || times[address(5)] != 2 || times[oslo] != 2 {
		t.Errorf("asked: %v", times)
	}
}

// TestOutside checks that the host learns the router's port as soon as it is known, when it changes, and with each
// welcome. It hears nothing before, and nothing twice.
func TestOutside(t *testing.T) {
	var port atomic.Uint32
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn)
		for _, next := range []uint32{40001, 40002} {
			port.Store(next)
			if got := told[wire.Outside](t, ws); got.Port != uint16(next) {
				t.Errorf("told of %+v, want port %d", got, next)
			}
		}
		say(t, ws, letIn) // from another host, on the same connection
		if got := told[wire.Outside](t, ws); got.Port != 40002 {
			t.Errorf("told of %+v after a second welcome", got)
		}
		port.Store(40003)
		if got := told[wire.Outside](t, ws); got.Port != 40003 {
			t.Errorf("told of %+v, want the port that is new", got)
		}
		endRoom(t, ws)
	})
	s.options.Beacon, s.options.Outside = 7787, func() uint16 { return uint16(port.Load()) }
	peer.Impatient(&s.options, 200*time.Millisecond)
	defer s.sit()()
	s.done()
}

// placeProber makes every place answer, and counts how often each is asked.
type placeProber struct{ times map[netip.AddrPort]int }

func (p placeProber) Run(_ context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	for {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			return nil
		}
		p.times[servers[probe.Server].Addr]++
		result := discovery.Result{
			Server: probe.Server,
			State:  discovery.Answered,
			RTT:    20 * time.Millisecond,
			Phase:  probe.Phase,
			Info:   &discovery.Info{Name: "x"},
		}
		plan.Observe(result)
		seen(result)
	}
}

func (placeProber) Share(int)            {}
func (placeProber) Lead(discovery.Reach) {}
func (placeProber) Close() error         { return nil }

// TestDiscreetSurvey checks that the player's bound also counts places, since they see the address as servers do. The
// host learns which places were not asked.
func TestDiscreetSurvey(t *testing.T) {
	const most = 16
	var places wire.Venues
	for i := range most + 2 {
		places = append(places, wire.Venue{Name: fmt.Sprint("place ", i), Addr: hostport.At(address(i + 1)), Protocol: "beacon"})
	}
	times := map[netip.AddrPort]int{}
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.Survey{Attempt: 1, Places: places, Samples: 2})
		states := map[discovery.State]int{}
		for _, f := range told[wire.Surveyed](t, ws).Places {
			states[f.State]++
		}
		if states[discovery.Answered] != most || states[discovery.Forbidden] != 2 {
			t.Errorf("places are %v, want %d that answered and two that were not asked", states, most)
		}
		endRoom(t, ws)
	})
	s.options.Discreet = most
	s.options.NewPlaceProber = func(string) (peer.Prober, error) { return placeProber{times}, nil }
	peer.Impatient(&s.options, 200*time.Millisecond)
	defer s.sit()()
	s.done()
	if len(times) != most {
		t.Errorf("%d places saw the address: %v", len(times), times)
	}
}

// lossyLook is a seat's prober for which one server loses every third packet of the second look. It stops answering
// after a number of samples.
type lossyLook struct {
	*seat
	lossy netip.AddrPort
	until int
	looks int
}

func (d *lossyLook) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if len(servers) == listed {
		return d.seat.Run(ctx, servers, plan, seen)
	}
	if d.looks++; d.looks > d.until {
		<-ctx.Done()
		return ctx.Err()
	}
	return d.seat.Run(ctx, servers, plan, func(r discovery.Result) {
		if servers[r.Server].Addr != d.lossy || d.looks%3 != 0 {
			seen(r)
		}
	})
}

// longTable returns a room whose organiser wants a long look, and ann with such a prober.
func longTable(t *testing.T, until int) (*table, *seat) {
	tb := newTable(t, 1)
	tb.code, _, _ = tb.host.Open(wire.Settings{
		Name:     "Cup",
		Game:     "openarena",
		By:       selection.Mean,
		Players:  1,
		Strategy: "conventional",
		LongLook: discovery.Millis(30 * time.Second),
	})
	ann := newSeat(tb, "ann")
	prober := &lossyLook{seat: ann, lossy: address(0), until: until}
	ann.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return prober, nil }
	return tb, ann
}

// TestLongLook checks that a long look finds the nearest server losing packets, and that everyone goes to the next.
func TestLongLook(t *testing.T) {
	tb, ann := longTable(t, 1000)
	defer ann.sit()()
	if err := ann.done(); err != nil {
		t.Fatal(err)
	}
	room := tb.room("the launch", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if room.Connect != address(1).String() || room.Selection.Chosen.WorstMS["ann"] == 0 {
		t.Errorf("everyone goes to %s: %+v", room.Connect, room.Selection.Chosen)
	}
}

// TestLongLookIsEnded checks that the page shows findings during a look, and that the organiser's go ends it.
func TestLongLookIsEnded(t *testing.T) {
	tb, ann := longTable(t, 12)
	defer ann.sit()()
	tb.room("what ann sees", func(r wire.Document) bool { return r.Look != nil && r.Look.Finalists[0].Lines["ann"].Sent == 12 })
	tb.host.Go(tb.code)
	if err := ann.done(); err != nil {
		t.Fatal(err)
	}
	if room := tb.room("the launch", func(r wire.Document) bool { return r.Stage == wire.Launching }); room.Connect != address(1).String() {
		t.Errorf("everyone goes to %s", room.Connect)
	}
}

// TestBrings checks that the room gets the servers a player brings, also after a lost connection, and that the player
// is asked once.
func TestBrings(t *testing.T) {
	tb := newTable(t, 2)
	ann := newSeat(tb, "ann")
	asked := 0
	ann.options.Brings = func(_ context.Context, game string) wire.Bring {
		asked++
		return wire.Bring{Game: game, Favourites: []wire.Brought{{Addr: hostport.At(address(1)), Name: "ours"}}}
	}
	leave := ann.sit()
	has := func(r wire.Document) bool { return r.Lists != nil && r.Lists.Favourites[0].Name == "ours" }
	tb.room("the favourite", has)
	tb.restart()
	tb.room("the favourite, after a restart", func(r wire.Document) bool { return has(r) && member(r, "ann").Connected })
	leave()
	ann.done()
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
