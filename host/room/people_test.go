package room_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
)

// The limits of the roster, as people meet them.
const (
	guestGone     = 30 * time.Minute
	guestsUnknown = 32
)

// TestManyNicknames checks that nicknames cannot fill the room with players or with guests from
// elsewhere, or its log.
func TestManyNicknames(t *testing.T) {
	enters := func(n *session, i int, from string) error {
		addr, _ := netip.ParseAddr(from)
		return n.step(room.Order{Action: room.Enter{Name: fmt.Sprint("nickname ", i), Token: fmt.Sprint("page ", i), From: addr}})
	}
	for _, from := range []string{"192.0.2.1", ""} {
		n := newSession(t, settings(2))
		if err := n.enters("zoe", ""); err != nil {
			t.Fatal(err)
		}
		n.step(room.PageOpened{Token: "zoe's token"})
		for i := range 126 {
			enters(n, i, from)
			n.step(room.PageOpened{Token: fmt.Sprint("page ", i)})
		}
		if got := len(n.guests()); got > guestsUnknown+1 {
			t.Errorf("126 nicknames from %q are %d guests", from, got)
		}
		if err := enters(n, 200, "198.51.100.1"); err != nil {
			t.Errorf("a guest from elsewhere is turned away: %v", err)
		}
		n.join("ann", "bob")
		n.inStage(wire.Listing)
		for i := range 126 { // without pages
			n.step(room.PageClosed{Token: fmt.Sprint("page ", i)})
			enters(n, 1000+i, from)
		}
		if !n.hasGuest("zoe") || len(n.view().Log) > 100 {
			t.Errorf("a flood of nicknames pushes out who is here; the log has %d lines", len(n.view().Log))
		}
	}
}

// TestArrivalOfOldRooms checks that people get an order of arrival in a room that was saved without
// one.
func TestArrivalOfOldRooms(t *testing.T) {
	n := newSession(t, settings(0))
	n.join("ann", "bob", "cat")
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
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
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "bob")
	if err := n.acts(n.pageOf("bob"), room.End{}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob ends the session: %v", err)
	}
	outputs, err := n.room.Step(room.Order{Credential: n.pageOf("ann"), Action: room.End{}}, n.now)
	why := *wire.Refuse(wire.ReasonEnded, "room.ended-by", "player", "ann")
	if want := []room.Output{room.Save{}, room.Publish{}, room.Dismiss{Player: "ann", Why: why},
		room.Dismiss{Player: "bob", Why: why}}; err != nil || !slices.Equal(outputs, want) {
		t.Errorf("it comes to %v, %v; want %v", outputs, err, want)
	}
	if shown := n.view(); !shown.Room.Ended.Equal(n.now) || shown.Log[len(shown.Log)-1].String() != "ann has ended the night. Good night!" || !n.room.Use(n.now).IsOver {
		t.Errorf("shown is %v, with %q", shown.Room.Ended, shown.Log[len(shown.Log)-1].String())
	}
	if refusal := n.tryJoin("cat", ""); reason(refusal) != wire.ReasonClosed {
		t.Errorf("who comes later is told %v", refusal)
	}
	same(t, n.room, restored(t, n.room))
}
