package room_test

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// standing returns a room that meets on Fridays. Ann is its organiser.
func standing(t *testing.T, every string) *session {
	s := settings(0)
	s.Every = every
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	return n
}

// playsSession plays one session: the players join, ms[i] away from the only server, and go there.
func (n *session) playsSession(ms []int, names ...string) {
	n.Helper()
	n.Join(names...)
	n.Goes()
	n.Listed(1)
	n.Informs(names[0], 64)
	for i, name := range names {
		n.Measures(name, ms[i])
	}
	n.Done(names...)
	n.Verifies(names[0])
	for _, name := range names[1:] {
		n.Verifies(name)
	}
	n.InStage(wire.Launching)
}

var friday = []time.Time{ // eight is a Friday
	time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 12, 4, 19, 0, 0, 0, time.UTC),
}

// TestOnDates checks that a room that nobody is in reminds of each date once and opens itself, for
// months, and whatever the clock says. The scenario standing.txt tells the rest.
func TestOnDates(t *testing.T) {
	reminders := func(n *session) int { return strings.Count(n.Story(), "the next game night is near") }
	asleep := func(t *testing.T) *session {
		n := standing(t, "fri 20:00 Europe/Berlin")
		n.Join("ann")
		n.Orders(room.End{})
		return n
	}
	t.Run("for months", func(t *testing.T) {
		n := asleep(t)
		ticks := n.Until(eight.AddDate(0, 6, 0))
		if got := reminders(n); got != 25 || ticks > 26*20 {
			t.Errorf("%d reminders on 25 Fridays; the room had the time %d times", got, ticks)
		}
		if use := n.Room.Use(n.Now); n.Room.TakesCode() || use.IsOver || use.Unused < 180*24*time.Hour || use.Unused > 183*24*time.Hour {
			t.Errorf("half a year without anybody counts as %v", use.Unused)
		}
		n = asleep(t)
		n.Orders(room.Change{Settings: []byte(`{"every":""}`)})
		if n.Room.Use(n.Now.Add(room.KeepEmpty-time.Minute)).IsOver || !n.Room.Use(n.Now.Add(room.KeepEmpty+time.Minute)).IsOver {
			t.Error("a room that stays no more is not kept for a day, as others are")
		}
	})
	t.Run("a clock that jumps", func(t *testing.T) {
		n := asleep(t)
		n.Now = n.Now.AddDate(9, 0, 0)
		n.Step(room.Tick{})
		if unused := n.Room.Use(n.Now).Unused; unused > 25*time.Hour {
			t.Errorf("nine years that nobody has lived count as %v", unused)
		}
		n.Now = n.Now.AddDate(-9, 0, 1)
		n.Step(room.Tick{})
		if next := n.View().Meeting.Next; !next.Equal(friday[1]) {
			t.Errorf("the clock is right again, and the next date %v", next)
		}
		n.Until(friday[1])
		if got := reminders(n); got != 1 || n.IsAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.IsAsleep())
		}
	})
	t.Run("a clock that was ahead while somebody was there", func(t *testing.T) {
		for _, every := range []string{"fri 20:00 Europe/Berlin", ""} {
			n := standing(t, every)
			n.Now = n.Now.AddDate(9, 0, 0)
			n.Join("ann", "bob")
			n.Gone("ann")
			n.Gone("bob")
			n.Now = n.Now.AddDate(-9, 0, 0)
			n.Restarts(0)
			n.Until(n.Now.Add(room.KeepEmpty + time.Hour))
			if n.IsAsleep() != (every != "") || n.Room.Use(n.Now).IsOver != (every == "") {
				t.Errorf("%q: nobody is there for a day; asleep: %v, over: %v", every, n.IsAsleep(), n.Room.Use(n.Now).IsOver)
			}
		}
	})
}

// TestForget checks that nothing is saved of people who want to be forgotten, under all their names, nor
// of where people came from when the session is over.
func TestForget(t *testing.T) {
	n := standing(t, "whenever")
	n.Origins["bob"] = room.Origin{Addr: netip.MustParseAddr("203.0.113.77"), Country: "DE"}
	holds := func(text string) bool { return bytes.Contains(roomtest.Saved(t, n.Room), []byte(text)) }
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	bob := n.PageOf("bob")
	n.Acts(bob, room.Bring{Favourites: bringing(0)})
	n.Acts(bob, room.Rename{Name: "robert"})
	if !holds("bob") || !holds("robert") || !holds("203.0.113.77") {
		t.Fatal("bob was never there")
	}
	if n.Orders(room.End{}); holds("203.0.113.77") {
		t.Error("bob's address is kept over the week")
	}
	if err := n.Acts(bob, room.Forget{}); err != nil || holds("bob") || holds("robert") {
		t.Errorf("bob is forgotten, %v, and in %s", err, roomtest.Saved(t, n.Room))
	}
	n.Join("cat")
	if err := n.Acts(n.PageOf("cat"), room.Forget{Name: "ann"}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat forgets ann: %v", err)
	}
	for _, name := range []string{"nobody", "ann"} {
		if err := n.Orders(room.Forget{Name: name}); err == nil {
			t.Errorf("%s is forgotten", name)
		}
	}
	if err := n.Orders(room.Forget{Name: "cat"}); err != nil || holds(`"cat"`) || !slices.Contains(n.Dismissed, "cat") {
		t.Errorf("cat, who was here, is not forgotten: %v", err)
	}
}

// TestForgetWhoLeft checks that the organiser lets the room forget a guest who has left, and is told
// of a name that nobody had.
func TestForgetWhoLeft(t *testing.T) {
	n := newSession(t, settings(2))
	n.Enters("zoe", "")
	n.OnPage("zoe", room.Quit{})
	if err := n.Orders(room.Forget{Name: "Zoe"}); err != nil || strings.Contains(n.Story(), "zoe") {
		t.Errorf("%v; the log:\n%s", err, n.Story())
	}
	if err := n.Orders(room.Forget{Name: "yan"}); err == nil {
		t.Error("somebody is forgotten who was never there")
	}
}
