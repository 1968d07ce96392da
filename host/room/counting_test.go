package room_test

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

// located returns the origin of somebody at an address in a country.
func located(addr, country string, asn uint32) room.Origin {
	at := netip.MustParseAddr(addr)
	return room.Origin{Addr: at, Near: at, Country: country, ASN: asn}
}

var (
	frankfurt = located("9.9.9.1", "DE", 3320)
	berlin    = located("9.9.8.1", "DE", 3320)
	chicago   = located("8.8.8.1", "US", 7018)
)

// withGuest returns a room of ann in Germany and bob in the USA. Zoe has the page.
func withGuest(t *testing.T, from room.Origin) *session {
	t.Helper()
	return withGuestBy(t, from, settings(2))
}

// withGuestBy returns the same room with other settings.
func withGuestBy(t *testing.T, from room.Origin, s wire.Settings) *session {
	t.Helper()
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.Origins["ann"], n.Origins["bob"] = frankfurt, chicago
	n.Step(room.Order{Action: room.Enter{Name: "zoe", Token: "zoe's token", Origin: from}})
	n.Step(room.PageOpened{Token: "zoe's token"})
	n.Join("ann")
	return n
}

// zoe returns the estimate of zoe's pings.
func (n *session) zoe() wire.Estimate {
	n.Helper()
	for _, p := range n.View().People {
		if p.Name == "zoe" && p.Estimate != nil {
			return *p.Estimate
		}
	}
	n.Fatal("nobody says how zoe may be counted in")
	return wire.Estimate{}
}

// plays lets bob come, and both measure. Without zoe server 1 is best, with a guest beside ann
// server 0, and server 2 answers only ann.
func (n *session) plays() {
	n.Helper()
	n.Join("bob")
	n.Listed(3)
	n.Informs("ann", 12, 12, 12)
	n.Measures("ann", 20, 40, 10)
	n.Measures("bob", 60, 38, -1)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.InStage(wire.Chosen)
}

func TestCounting(t *testing.T) {
	n := withGuest(t, berlin)
	if e := n.zoe(); e.Counted || e.ErrorMS <= 0 || e.ErrorMS > 13 || !e.Why.IsZero() {
		t.Fatalf("of a guest in a player's network: %+v", e)
	}
	for _, who := range []string{"zoe", "ann"} {
		if err := n.Step(room.Order{Credential: who + "'s token", Action: room.Count{Name: "zoe", Counted: true}}); err == nil {
			t.Errorf("%s counts zoe in, who is not the organiser", who)
		}
	}
	if err := n.Orders(room.Count{Name: "yan", Counted: true}); err == nil {
		t.Error("somebody who is not there is counted in")
	}
	if err := n.Orders(room.Count{Name: "zoe", Counted: true}); err != nil || !n.zoe().Counted {
		t.Fatalf("the organiser counts zoe in: %v, %+v", err, n.zoe())
	}
	n.plays()
	chosen := n.View().Choice.Selection
	if chosen.Chosen.Server != 0 || !slices.Contains(chosen.Players, "zoe") || chosen.Estimated["zoe"] != n.zoe().ErrorMS {
		t.Errorf("with zoe server %d is chosen for %v, estimated %v", chosen.Chosen.Server, chosen.Players, chosen.Estimated)
	}
	if ms := chosen.Chosen.RTT["zoe"]; math.Abs(ms-20) > 10 {
		t.Errorf("zoe sits beside ann, who has 20 ms, and is said to have %.0f", ms)
	}
	if _, lossy := chosen.Chosen.Loss["zoe"]; lossy {
		t.Error("zoe's loss was never measured")
	}
	if text := strings.Join(catalogue.InEnglish().SayAll(chosen.Explain()), "\n"); !strings.Contains(text, "zoe’s pings are estimated, give or take") {
		t.Errorf("nobody is told that zoe's pings are estimates:\n%s", text)
	}
	if chosen.Culled.Unreachable != 1 {
		t.Errorf("%d servers are out of reach, want the one that is for bob", chosen.Culled.Unreachable)
	}
	for cause, list := range n.Room.View().Record.Culled() {
		for _, s := range list.Servers {
			if _, has := s.RTT["zoe"]; has {
				t.Errorf("zoe's ping of a server that is %s is told as measured", cause)
			}
		}
	}
	// A guest who counts has a say.
	if err := n.OnPage("zoe", room.Vote{Addr: hostport.At(roomtest.AddrOf(1))}); err != nil {
		t.Errorf("zoe counts, and may not vote: %v", err)
	}
	// The estimate survives a restart.
	before := n.Room
	n.Room = restored(t, before)
	if is, was := n.zoe(), before.Snapshot().People; !is.Counted || is != *was[len(was)-1].Estimate {
		t.Errorf("restored, zoe is counted in as %+v, and was by %+v", is, was[len(was)-1])
	}
	n.Room = before
	// The guest can end it, because only the guest knows that the address is a VPN's.
	if err := n.OnPage("zoe", room.Count{Name: "zoe", Counted: false}); err != nil || n.zoe().Counted {
		t.Errorf("zoe takes it back: %v", err)
	}
	if chosen := n.View().Choice.Selection; chosen.Chosen.Server != 1 || len(chosen.Estimated) > 0 || len(chosen.Players) != 2 {
		t.Errorf("without zoe server %d is chosen for %v", chosen.Chosen.Server, chosen.Players)
	}
}

// TestCountingEnds checks that the measurements of a counted guest's program replace the estimate,
// and that an estimate never leaves a room without a server.
func TestCountingEnds(t *testing.T) {
	s := settings(2)
	s.Limits = wire.Limits{50 * time.Millisecond}
	n := withGuestBy(t, berlin, s)
	n.Orders(room.Count{Name: "zoe", Counted: true})
	n.Origins["zoe"], n.As["zoe"] = berlin, roster.TicketOf("zoe's token")
	if !slices.Contains(n.Guests(), "zoe") {
		t.Errorf("the guests are %v", n.Guests())
	}
	if n.Join("zoe"); slices.Contains(n.Guests(), "zoe") || n.Person("zoe").Estimate != nil {
		t.Error("zoe's program is here, and she may be counted in by an estimate")
	}
	toMeasure := func(name string, ms ...int) {
		n.Informs(name, 12, 12)
		n.Measures(name, ms...)
		n.Done(name)
	}
	n.Listed(2)
	toMeasure("ann", 20, 40)
	toMeasure("zoe", 45, 30)
	if c := n.Choice(); len(c.Estimated) > 0 || len(c.Players) != 2 || c.Chosen.RTT["zoe"] != 45 {
		t.Errorf("zoe's program is here, and the choice is for %v, estimated %v, with %v", c.Players, c.Estimated, c.Chosen.RTT)
	}

	s.By, s.Limits = selection.Threshold, wire.Limits{42 * time.Millisecond}
	n = withGuestBy(t, berlin, s)
	n.Orders(room.Count{Name: "zoe", Counted: true})
	n.plays()
	if c := n.View().Choice.Selection; c.Chosen == nil || c.Chosen.Server != 1 {
		t.Fatalf("with a limit of 42 ms, which zoe's estimate may break, the choice is %+v", c.Chosen)
	} else if len(c.Estimated) == 0 && n.zoe().Why.IsZero() {
		t.Error("the choice is without zoe, and nobody is told why")
	}
}

// TestSearchedFor checks that a coordinated search looks for the best server for counted guests
// too, even if they are counted in while it goes on.
func TestSearchedFor(t *testing.T) {
	for _, later := range []bool{false, true} {
		s := settings(2)
		s.Strategy = wire.Coordinated
		n := tuned(t, room.Tuning{Budget: 200}, s)
		n.Origins["ann"], n.Origins["bob"] = frankfurt, chicago
		guests := []string{"zoe", "yan", "ulf"} // they sit beside ann
		for i, name := range guests {
			n.Step(room.Order{Action: room.Enter{Name: name, Token: name + "'s token", Origin: located(fmt.Sprintf("9.9.%d.1", i), "DE", 3320)}})
			n.Step(room.PageOpened{Token: name + "'s token"})
		}
		countIn := func() {
			for _, name := range guests {
				if err := n.Orders(room.Count{Name: name, Counted: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
		n.Join("ann")
		if !later {
			countIn()
		}
		n.Join("bob")
		n.Gets(far())
		if later {
			for range 2 {
				n.Wait(200 * time.Millisecond)
				n.answers(0, "ann")
				n.answers(1, "bob")
			}
			n.InStage(wire.Refining)
			countIn()
		}
		n.searchesOn("ann", "bob")
		n.InStage(wire.Chosen)
		score := func(server int) float64 { return float64(4*farRTT(0, server)+farRTT(1, server)) / 5e6 }
		best := math.Inf(1)
		for server := range far() {
			best = min(best, score(server))
		}
		if found := score(n.Chosen().Server); found > best+1.5 {
			t.Errorf("counted in later %t: %.1f ms, the best has %.1f", later, found, best)
		}
	}
}
