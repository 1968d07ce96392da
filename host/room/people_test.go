package room_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

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
