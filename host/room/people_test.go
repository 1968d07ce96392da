package room_test

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// guestGone is the time after which a nickname without a page is free again.
const guestGone = 30 * time.Minute

// TestArrivalOfOldRooms checks that people get an order of arrival in a room that was saved without
// one.
func TestArrivalOfOldRooms(t *testing.T) {
	n := newSession(t, settings(0))
	n.Join("ann", "bob", "cat")
	data := roomtest.Saved(t, n.Room)
	old, err := room.Restore(bytes.ReplaceAll(data, []byte(`"arrival"`), []byte(`"was"`)), topology.New)
	if err != nil {
		t.Fatal(err)
	}
	var arrivals []int
	for _, p := range old.Snapshot().People {
		arrivals = append(arrivals, p.Arrival)
	}
	if slices.Sort(arrivals); len(slices.Compact(arrivals)) != 3 {
		t.Errorf("people arrived as %v", arrivals)
	}
}

// TestEnd checks that only the organiser can end the session, and that the room saves the end
// before it tells anybody, and shows it before it sends everybody away.
func TestEnd(t *testing.T) {
	n := newSession(t, settings(0))
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob")
	if err := n.Acts(n.PageOf("bob"), room.End{}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob ends the session: %v", err)
	}
	outputs, err := n.Room.Step(room.Order{Credential: n.PageOf("ann"), Action: room.End{}}, roomtest.At(n.Now, 0))
	why := *wire.Refuse(wire.ReasonEnded, "room.ended-by", "player", "ann")
	if want := []room.Output{room.Save{}, room.Publish{}, room.Dismiss{Player: n.ID("ann"), Why: why},
		room.Dismiss{Player: n.ID("bob"), Why: why}}; err != nil || !slices.Equal(outputs, want) {
		t.Errorf("it comes to %v, %v; want %v", outputs, err, want)
	}
	if shown := n.View(); !shown.Room.Ended.Equal(n.Now) || shown.Log[len(shown.Log)-1].String() != "ann has ended the night. Good night!" || !n.Room.Use(n.Now).IsOver {
		t.Errorf("shown is %v, with %q", shown.Room.Ended, shown.Log[len(shown.Log)-1].String())
	}
	if refusal := n.TryJoin("cat", ""); reason(refusal) != wire.ReasonClosed {
		t.Errorf("who comes later is told %v", refusal)
	}
	same(t, n.Room, restored(t, n.Room))
}

// TestPasswordOnPages checks that only the players' pages get the server's password, to type it,
// once the room goes there.
func TestPasswordOnPages(t *testing.T) {
	for _, isCounted := range []bool{false, true} {
		s := settings(2)
		s.Password = "s3cret"
		n := withGuestBy(t, berlin, s)
		if err := n.EntersFrom("yan", "", frankfurt.Addr); err != nil {
			t.Fatal(err)
		}
		n.Step(room.PageOpened{Token: "yan's token"})
		if isCounted {
			if err := n.Orders(room.Count{Name: "zoe", Counted: true}); err != nil {
				t.Fatal(err)
			}
		}
		n.plays()
		readers := map[string]string{
			"the link": n.Room.Keys().Link, "the organiser": n.Room.Keys().Secret, "nobody": "x",
			"ann": n.PageOf("ann"), "bob": n.PageOf("bob"), "zoe": "zoe's token", "yan": "yan's token",
		}
		see := func(when string, want map[string]bool) {
			t.Helper()
			badges := n.Room.View().Badges
			for name, credential := range readers {
				password := badges[room.DigestOf(credential)].Password
				if has := password != ""; has != want[name] || has && password != "s3cret" {
					t.Errorf("%s, zoe counted: %v: %s's page has %q", when, isCounted, name, password)
				}
			}
		}
		see("while they vote", nil)
		if err := n.Orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		n.Wait(countdownTime)
		n.InStage(wire.Launching)
		see("at the launch", map[string]bool{"ann": true, "bob": true, "the organiser": true, "zoe": isCounted})
		for _, note := range n.View().Log {
			if strings.Contains(note.String(), "s3cret") {
				t.Errorf("everybody reads %q", note.String())
			}
		}
		if err := n.Orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		see("in the next round", nil)
	}
}

// edition56 is the edition of a version 5.6, in any game.
var edition56 = map[string]discovery.Edition{"": {Version: "5.6"}, "openarena": {Version: "5.6", Protocol: 41}}

// TestListedVersions checks that the room takes versions from Luanti's list, because its servers
// report none. A list that is too old leaves nothing out, and people are told so.
func TestListedVersions(t *testing.T) {
	const told = "ben has version 5.6, which doesn’t get into 1 server (5.14.0): "
	for _, c := range []struct {
		age   time.Duration
		heard discovery.Info // from the server that refuses ben
		note  string
		want  int
	}{
		{0, discovery.Info{}, "left out", 1},
		{10 * time.Minute, discovery.Info{}, "not left out, because only an old list says so", 0},
		{10 * time.Minute, discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44}, "left out", 1},
	} {
		n := newSession(t, settings(2))
		n.Join("ann")
		n.JoinAs(wire.Hello{Name: "ben", Editions: edition56})
		said := discovery.Said{At: n.Now.Add(-c.age), Infos: map[netip.AddrPort]*discovery.Info{
			addrOf(0): {Name: "New", Version: "5.14.0", Protocol: 49, OldestProtocol: 44, AsListed: true},
			addrOf(1): {Name: "Old", Version: "5.9.0", Protocol: 44, OldestProtocol: 37, AsListed: true},
		}}
		n.Step(room.Listed{List: topology.New(room.Shared(listOf(2), nil)), Said: said})
		for _, name := range []string{"ann", "ben"} {
			n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: c.heard}, {Server: 1}}})
			n.Measures(name, 10, 20)
			n.Done(name)
		}
		n.Noted(told + c.note)
		if chosen := n.View().Choice.Selection.Chosen; chosen == nil || chosen.Addr.AddrPort != addrOf(c.want) {
			t.Errorf("%s: %+v; the log:\n%s", c.note, chosen, n.Story())
		}
	}
}
