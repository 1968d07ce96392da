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
	"muster/host/room/roomtest"
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
		return n.Step(room.Order{Action: room.Enter{Name: fmt.Sprint("nickname ", i), Token: fmt.Sprint("page ", i), From: addr}})
	}
	for _, from := range []string{"192.0.2.1", ""} {
		n := newSession(t, settings(2))
		if err := n.Enters("zoe", ""); err != nil {
			t.Fatal(err)
		}
		n.Step(room.PageOpened{Token: "zoe's token"})
		for i := range 126 {
			enters(n, i, from)
			n.Step(room.PageOpened{Token: fmt.Sprint("page ", i)})
		}
		if got := len(n.Guests()); got > guestsUnknown+1 {
			t.Errorf("126 nicknames from %q are %d guests", from, got)
		}
		if err := enters(n, 200, "198.51.100.1"); err != nil {
			t.Errorf("a guest from elsewhere is turned away: %v", err)
		}
		n.Join("ann", "bob")
		n.InStage(wire.Listing)
		for i := range 126 { // without pages
			n.Step(room.PageClosed{Token: fmt.Sprint("page ", i)})
			enters(n, 1000+i, from)
		}
		if !slices.Contains(n.Guests(), "zoe") || len(n.View().Log) > 100 {
			t.Errorf("a flood of nicknames pushes out who is here; the log has %d lines", len(n.View().Log))
		}
	}
}

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
