package peer_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
)

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
