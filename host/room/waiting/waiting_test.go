package waiting_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/room/seats"
	"muster/host/room/waiting"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

var full = discovery.Info{Players: 16, MaxPlayers: 16}

// measured returns a group without a choice: the first two servers, which are the best for all, are
// full, and there are no others.
func measured(t testing.TB, names ...string) *factstest.Group {
	g := factstest.New(t, factstest.Settings(), 2, names...)
	g.Settings.Wait = discovery.Millis(time.Hour)
	for i, name := range names {
		g.Measures(people.ID(name), factstest.Up(10+i, 2)...)
	}
	for server := range 2 {
		g.Hears("", server, full)
	}
	g.RefreshFacts()
	g.Choice.Take(g.F.Select(g.Attendance.Players()))
	return g
}

func begin(g *factstest.Group) *waiting.Wait {
	return waiting.Begin(g.F, decision.WorthWaiting(g.F), g.Now)
}

// goesOn goes on without players, as the room does.
func goesOn(w *waiting.Wait, g *factstest.Group) (note sentence.Sentence, isOver bool) {
	left, note, isOver := w.GoOnWithout(g.F, g.Now)
	g.Attendance.LeaveOut(attendance.Left, left...)
	return note, isOver
}

// sees returns a player's report that a server has so many free seats.
func sees(player people.ID, server, free int) (people.ID, wire.Verified) {
	info := discovery.Info{Players: 16 - free, MaxPlayers: 16}
	return player, wire.Verified{Servers: []wire.Finalist{{
		Server: server,
		State:  discovery.Answered,
		Sent:   1,
		RTTs:   []float64{10},
		Info:   &info,
	}}}
}

// TestWait checks that a group waits for full servers, players look, and all go when two have seen
// seats.
func TestWait(t *testing.T) {
	g := measured(t, "ann", "bob", "cat")
	w := begin(g)
	if text := catalogue.InEnglish().Say(w.Describe(g.F)); !strings.Contains(text, "3 seats for everyone on 20.0.0.1:27960, or 25.0.1.1:27960") {
		t.Errorf("it says %q", text)
	}
	watched := []netip.AddrPort{g.Servers.List[0].Addr, g.Servers.List[1].Addr}
	factstest.Same(t, "it watches", w.Watches(g.F), watched)
	if view := w.View(g.F, g.Clocks()); view == nil || view.Need != 3 || len(view.Servers) != 2 || view.Servers[0].Addr != watched[0].String() {
		t.Errorf("people see %+v", view)
	}
	var lookers []people.ID
	wentTo := -1
	for range 20 {
		if next := w.Next(g.F, g.Now); next.After(g.Now) {
			g.Now = next
		}
		events := w.Tick(g.F, g.Now)
		for len(events) > 0 && wentTo < 0 {
			e := events[0]
			events = events[1:]
			switch e := e.(type) {
			case seats.Ask:
				if lookers = append(lookers, e.By); !w.Asks(e.By) || w.Asks("nobody") {
					t.Errorf("it asks %q", e.By)
				}
				player, seen := sees(e.By, e.Servers[0], 5)
				events = append(events, w.Hear(g.F, player, seen, g.Now)...)
			case seats.Open:
				if note, isOver := goesOn(w, g); !note.IsZero() || isOver || w.Next(g.F, g.Now).IsZero() {
					t.Errorf("while all look before they go it goes on: %v, over %v", note, isOver)
				}
				for _, id := range []people.ID{"ann", "bob", "cat"} {
					player, seen := sees(id, e.Server, 5)
					events = append(events, w.Hear(g.F, player, seen, g.Now)...)
				}
			case seats.Go:
				wentTo = e.Server
			}
		}
	}
	if len(lookers) < 2 || wentTo != 0 {
		t.Errorf("%q have looked, and all go to %d", lookers, wentTo)
	}
	w = begin(g)
	var events []seats.Event
	for server := range 2 {
		events = w.Drop(g.F, server, sentence.Plain("it is vetoed"))
	}
	if len(events) != 1 || fmt.Sprintf("%T", events[0]) != "seats.Over" {
		t.Errorf("without a server to watch there follow %+v", events)
	}
}

// TestGiveUp checks that the wait ends without a seat, and says why.
func TestGiveUp(t *testing.T) {
	g := measured(t, "ann", "bob")
	if over := begin(g).GiveUp(g.F, sentence.Plain("Enough of that")); !strings.Contains(catalogue.InEnglish().Say(over.Why), "Enough of that") {
		t.Errorf("it says %q", over.Why)
	}
}

// TestGoOnWithout checks that a player who is gone for long needs no seat, as long as somebody is
// there, and counts again after coming back.
func TestGoOnWithout(t *testing.T) {
	g := measured(t, "ann", "bob", "cat")
	w := begin(g)
	leaves := func(players ...people.ID) {
		for _, player := range players {
			g.Attendance.Leave(player, g.Now)
		}
	}
	leaves("cat")
	if next := w.Next(g.F, g.Now); next.After(g.Now.Add(attendance.GoneAfter)) {
		t.Errorf("cat is gone, and the time is needed again only after %v", next.Sub(g.Now))
	}
	if note, isOver := goesOn(w, g); !note.IsZero() || isOver {
		t.Errorf("cat has just gone: %q, over %v", note, isOver)
	}
	g.Now = g.Now.Add(attendance.GoneAfter - time.Second)
	w.Tick(g.F, g.Now)
	if next := w.Next(g.F, g.Now); next != g.Now.Add(time.Second) {
		t.Errorf("cat is gone in a second, and the time is needed after %v", next.Sub(g.Now))
	}
	g.Now = g.Now.Add(time.Second)
	note, isOver := goesOn(w, g)
	if catalogue.InEnglish().Say(note) != "cat left. Now 2 seats will do." || isOver || g.Attendance.Of("cat").Out != attendance.Left {
		t.Errorf("cat is gone: %q, over %v, out for %q", note, isOver, g.Attendance.Of("cat").Out)
	}
	g.Attendance.LeaveOut(attendance.Odd, "bob")
	for _, player := range []people.ID{"cat", "bob"} {
		if w.CanReadmit(g.F, player) {
			g.Attendance.Recall(player, g.Now)
		}
	}
	if g.Attendance.Of("cat").Out != "" || g.Attendance.Of("bob").Out != attendance.Odd {
		t.Error("cat counts no more, or bob with odd numbers does")
	}
	leaves("ann", "bob", "cat")
	g.Now = g.Now.Add(attendance.GoneAfter)
	if note, isOver = goesOn(w, g); !note.IsZero() || isOver {
		t.Errorf("nobody is there: %q, over %v", note, isOver)
	}
}

// TestOutside checks that players who are left outside wait where the others are, until they get a
// seat.
func TestOutside(t *testing.T) {
	g := measured(t, "ann", "bob", "cat")
	for _, tt := range []struct {
		names []string
		err   string
	}{{[]string{"zoe"}, "zoe is not here"}, {nil, "say who is still outside"}} {
		if _, err := waiting.BeginOutside(g.F, tt.names, 0, g.Now); err == nil || err.Error() != tt.err {
			t.Errorf("%v: %v", tt.names, err)
		}
	}
	chosen := *g.Choice.Newest()
	chosen.Ranking = []selection.Ranked{{Server: 1, Addr: hostport.At(g.Servers.List[1].Addr), MeanMS: 12}}
	g.Choice.Take(chosen)
	if _, err := g.Roster.Rename(g.Roster.Called("bob"), "rob", g.Now); err != nil {
		t.Fatal(err)
	}
	w, err := waiting.BeginOutside(g.F, []string{"rob", "rob", "cat"}, 1, g.Now)
	if err != nil {
		t.Fatal(err)
	}
	factstest.Same(t, "outside are", w.Outside(), []people.ID{"bob", "cat"})
	factstest.Same(t, "it watches", w.Watches(g.F), []netip.AddrPort{g.Servers.List[1].Addr})
	if view := w.View(g.F, g.Clocks()); view.Servers[0].MeanMS != 12 || !slices.Equal(view.For, []string{"rob", "cat"}) {
		t.Errorf("people see %+v", view)
	}
	if w.Tick(g.F, g.Now); !w.Next(g.F, g.Now).After(g.Now) {
		t.Error("while somebody looks the time is needed at once")
	}
	g.Ballot.ByHand("bob")
	if next := w.Next(g.F, g.Now); next != g.Now {
		t.Errorf("bob is in, and the time is needed only after %v", next.Sub(g.Now))
	}
	if note, isOver := goesOn(w, g); !note.IsZero() || isOver {
		t.Errorf("bob is in: %q, over %v", note, isOver)
	}
	factstest.Same(t, "outside are", w.Outside(), []people.ID{"cat"})
	g.Ballot.ByHand("cat")
	if note, isOver := goesOn(w, g); note != sentence.Of("room.wait-nobody") || !isOver {
		t.Errorf("all are in: %q, over %v", note, isOver)
	}
}

// TestRestore checks that a wait is restored as it was saved, and that nonsense is none.
func TestRestore(t *testing.T) {
	g := measured(t, "ann", "bob")
	w := begin(g)
	w.Share(g.F, map[netip.AddrPort]seats.Demand{g.Servers.List[0].Addr: {Rooms: 9, Place: 8}}, 0)
	w.Resume(g.Now)
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	back := &waiting.Wait{}
	if err := json.Unmarshal(data, back); err != nil || !back.IsValid(2) {
		t.Errorf("restored is %+v, %v", back, err)
	}
	if again, _ := json.Marshal(back); string(again) != string(data) {
		t.Errorf("restored is\n%s\nwant\n%s", again, data)
	}
	if none := new(waiting.Wait); json.Unmarshal([]byte("{}"), none) != nil || none.IsValid(2) || w.IsValid(1) {
		t.Error("nothing, or a wait for servers that are not listed, is whole")
	}
}
