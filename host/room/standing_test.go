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

// The promised times: when a room opens for its date, reminds of it and takes it for past; when an
// empty room sleeps; how long programs look for a lost room.
const (
	opensBefore, remindBefore, dateStays = 30 * time.Minute, 4 * time.Hour, time.Hour
)

var friday = []time.Time{ // eight is a Friday
	time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 12, 4, 19, 0, 0, 0, time.UTC),
}

// TestOnDates checks that each reminder comes once, whatever happens in between, and that the room
// opens itself.
func TestOnDates(t *testing.T) {
	reminders := func(n *session) int { return strings.Count(n.Story(), "the next game night is near") }
	asleep := func(t *testing.T, every string) *session {
		n := standing(t, every)
		n.Join("ann")
		n.Orders(room.End{})
		return n
	}
	t.Run("for months", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		ticks := n.Until(eight.AddDate(0, 6, 0))
		if got := reminders(n); got != 25 {
			t.Errorf("%d reminders on 25 Fridays", got)
		}
		if n.Room.Use(n.Now).IsOver || n.Room.Use(n.Now).Unused < 180*24*time.Hour || n.Room.Use(n.Now).Unused > 183*24*time.Hour {
			t.Errorf("half a year without anybody counts as %v", n.Room.Use(n.Now).Unused)
		}
		if ticks > 26*20 {
			t.Errorf("a room in which nobody is had the time %d times", ticks)
		}
	})
	t.Run("restarts before, at and after", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		for _, at := range []time.Duration{-remindBefore - time.Minute, -remindBefore + time.Minute, -time.Hour,
			-opensBefore + time.Minute, 0, time.Minute, 10 * time.Minute} {
			n.Until(friday[1].Add(at))
			n.Restarts(time.Second)
		}
		if got := reminders(n); got != 1 || n.IsAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.IsAsleep())
		}
	})
	t.Run("a host that was away then", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.Restarts(friday[1].Sub(n.Now) - time.Hour) // late, but not too late
		if got := reminders(n); got != 1 {
			t.Errorf("%d reminders an hour before", got)
		}
		n = asleep(t, "fri 20:00 Europe/Berlin")
		n.Restarts(friday[1].Sub(n.Now) + 2*time.Hour)
		if got := reminders(n); got != 0 || !n.View().Meeting.Next.Equal(friday[2]) {
			t.Errorf("%d reminders of a date that is over; next is %v", got, n.View().Meeting.Next)
		}
	})
	t.Run("a clock that jumps", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
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
	t.Run("one date, and none", func(t *testing.T) {
		n := asleep(t, "2026-11-27 20:00 Europe/Berlin")
		n.Until(friday[1].Add(3 * time.Hour))
		if next := n.View().Meeting.Next; !next.IsZero() || reminders(n) != 1 {
			t.Errorf("after its only date the next is %v", next)
		}
		yes := true
		if err := n.Orders(room.Come{Comes: &yes}); err == nil {
			t.Error("ann comes, and to nothing")
		}
		n = asleep(t, "whenever")
		n.Until(friday[2])
		if !n.View().Meeting.Next.IsZero() || reminders(n) != 0 || !n.IsAsleep() || n.Room.Use(n.Now).IsOver {
			t.Error("a room without a date has one, or is over")
		}
	})
	t.Run("a session that ends early", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.Until(friday[1].Add(-10 * time.Minute))
		n.Join("ann")
		n.Orders(room.End{})
		n.Until(friday[1].Add(30 * time.Minute))
		if !n.IsAsleep() {
			t.Error("the room opened again of itself for the date that it had been open for")
		}
	})
	t.Run("settings that say otherwise", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		if err := n.Orders(room.Change{Settings: []byte(`{"every":"sun 18:00 UTC"}`)}); err != nil {
			t.Fatal(err)
		}
		if next := n.View().Meeting.Next; next.Weekday() != time.Sunday {
			t.Errorf("the next date is %v", next)
		}
		n.Noted("the organiser has changed when we meet: we meet every Sunday at 18:00 (UTC)")
		if log := n.Story(); strings.Contains(log, "the organiser wants") {
			t.Errorf("the log tells of what was not changed: %s", log)
		}
		for _, wrong := range []string{`{"every":"2020-01-01 20:00 UTC"}`, `{"every":"sun 18:00"}`, `{"every":"tomorrow"}`, `{"every":7}`} {
			if n.Orders(room.Change{Settings: []byte(wrong)}) == nil {
				t.Errorf("%s is a schedule", wrong)
			}
		}
		if err := n.Orders(room.Change{Settings: []byte(`{"every":""}`)}); err != nil {
			t.Fatal(err)
		}
		if n.View().Meeting != nil || n.Room.Use(n.Now.Add(room.KeepEmpty-time.Minute)).IsOver ||
			!n.Room.Use(n.Now.Add(room.KeepEmpty+time.Minute)).IsOver {
			t.Error("a room that stays no more is not kept for a day, as others are")
		}
	})
}

// TestForget checks that people who want to be forgotten are gone from people, history and log,
// under all their names.
func TestForget(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	n.Orders(room.End{})
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	n.Acts(n.PageOf("bob"), room.Rename{Name: "robert"})
	bob := n.PageOf("bob")
	for _, name := range []string{"ann", "bob"} {
		if err := n.Acts(n.PageOf(name), room.Bring{Favourites: bringing(0)}); err != nil {
			t.Fatal(err)
		}
	}
	n.Orders(room.End{})
	holds := func(name string) bool {
		data := roomtest.Saved(t, n.Room)
		return bytes.Contains(data, []byte(name))
	}
	if !holds("bob") || !holds("robert") {
		t.Fatal("bob was never there")
	}
	if err := n.Acts(bob, room.Forget{}); err != nil {
		t.Fatal(err)
	}
	if holds("bob") || holds("robert") {
		data, _ := n.Room.Save()
		t.Errorf("bob is forgotten, and in %s", data)
	}
	if seats := n.Room.History().Sessions[1].Stays[0].Players; len(seats) != 2 {
		t.Errorf("of the others is left %v", seats)
	}
	n.Join("cat")
	cat := n.PageOf("cat")
	if err := n.Acts(cat, room.Forget{Name: "ann"}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat forgets ann: %v", err)
	}
	if err := n.Orders(room.Forget{Name: "nobody"}); err == nil {
		t.Error("nobody is forgotten")
	}
	if err := n.Orders(room.Forget{Name: "ann"}); err == nil {
		t.Error("the organiser is forgotten")
	}
	if err := n.Orders(room.Forget{Name: "cat"}); err != nil {
		t.Fatal(err)
	}
	if holds(`"cat"`) || !slices.Contains(n.Dismissed, "cat") {
		t.Error("cat, who was here, is not forgotten")
	}
}

// TestSleepingRoomIsRestored checks that a room that slept in any stage of a session is whole.
func TestSleepingRoomIsRestored(t *testing.T) {
	stages := map[string]func(n *session){
		"gathering": func(n *session) { n.Join("ann", "bob") },
		"listing":   func(n *session) { n.Join("ann", "bob"); n.Goes() },
		"measuring": func(n *session) { n.Join("ann", "bob"); n.Goes(); n.Listed(3) },
		"launching": func(n *session) { n.playsSession([]int{40, 20}, "ann", "bob") },
	}
	for name, begin := range stages {
		t.Run(name, func(t *testing.T) {
			n := standing(t, "fri 20:00 Europe/Berlin")
			n.Origins["bob"] = room.Origin{Addr: netip.MustParseAddr("203.0.113.77"), Country: "DE"}
			begin(n)
			n.Orders(room.End{})
			data := roomtest.Saved(t, n.Room)
			if bytes.Contains(data, []byte("203.0.113.77")) {
				t.Error("bob's address is kept over the week")
			}
			back := roomtest.Read(t, data)
			same(t, n.Room, back)
			n.Listed(3) // the list that it had asked for
			n.InStage(wire.Gathering)
			n.Until(friday[1].Add(-opensBefore))
			n.playsSession([]int{40, 20}, "ann", "bob")
		})
	}
}
