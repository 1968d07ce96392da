package host

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// TestOpeners: an address has so many rooms open at a time, wherever they are by now, and
// opens no more than one a minute after those.
func TestOpeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		o := newOpeners(&Public{Rooms: 1000, PerAddress: 2, Standing: Standing{Rooms: 1000, PerAddress: 1}}, s)
		ann := netip.MustParseAddr("203.0.113.7")
		opens := func(code string, want string) {
			t.Helper()
			got := ""
			if why := o.judge(opening{From: ann, Stays: code == "STAYS"}); why != nil {
				got = why.Refusal.Reason
			} else {
				o.note(opening{From: ann, Code: code, Stays: code == "STAYS"})
			}
			if got != want {
				t.Errorf("%s is refused for %q, want %q", code, got, want)
			}
		}
		at := s.On("another")
		for _, code := range []string{"ONE", "TWO"} {
			opens(code, "") // of which nothing is known here yet
			at.Create(t.Context(), code, "", nil)
		}
		opens("THREE", wire.ReasonBusy)
		time.Sleep(2 * openEvery)
		opens("THREE", wire.ReasonFull)
		s.set(func() { s.rooms["ONE"].over = true })
		time.Sleep(openEvery)
		opens("THREE", "")
		time.Sleep(newsWait + openEvery) // nothing is heard of it
		opens("FOUR", "")
		at.Create(t.Context(), "FOUR", "", nil)
		time.Sleep(openEvery)
		opens("FIVE", wire.ReasonFull)
	})
}

// TestOpenersStay: an address has so many rooms that stay, also of those that it opened as
// others; one that stays no more, or was never opened, leaves its place.
func TestOpenersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		o := newOpeners(&Public{Rooms: 1000, PerAddress: 4, Standing: Standing{Rooms: 1000, PerAddress: 1}}, s)
		ann := netip.MustParseAddr("203.0.113.7")
		at := s.On("another")
		for _, code := range []string{"ONE", "TWO"} {
			if why := o.judge(opening{From: ann}); why != nil {
				t.Fatalf("%s: %+v", code, why)
			}
			at.Create(t.Context(), code, "", nil)
			o.note(opening{From: ann, Code: code})
		}
		if got := len(o.opened[counter(ann)]); got != 2 {
			t.Errorf("two rooms are counted as %d", got)
		}
		for i, step := range []struct {
			code         string
			stays, fails bool
		}{
			{"ONE", true, false}, {"ONE", true, false}, {"TWO", true, true}, {"EARLIER", true, true},
			{"ONE", false, false}, {"TWO", true, false}, {"EARLIER", true, true}, {"EARLIER", false, false},
		} {
			if why := o.change(opening{From: ann, Code: step.code, Stays: step.stays, Changes: true}); (why != nil) != step.fails {
				t.Errorf("step %d, %s: %+v", i, step.code, why)
			}
		}
		o.change(opening{From: ann, Code: "TWO", Changes: true})
		if why := o.judge(opening{From: ann, Stays: true}); why != nil {
			t.Errorf("the first to open a room that stays is told %+v", why)
		}
		if why := o.judge(opening{From: ann, Stays: true}); why == nil || why.Refusal.Reason != wire.ReasonFull {
			t.Errorf("a second one at the same time is told %+v", why)
		}
		time.Sleep(newsWait + openEvery) // neither was opened after all
		if why := o.judge(opening{From: ann, Stays: true}); why != nil {
			t.Errorf("a place that was never taken is still kept: %+v", why)
		}
	})
}

// TestOpenersAreForgotten: who tried to open a room at a host that is full, and whose rooms
// are over, takes no memory for longer than some minutes.
func TestOpenersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		o := newOpeners(&Public{Rooms: 1000, PerAddress: 2}, s)
		first := netip.MustParseAddr("203.0.113.7")
		s.On("another").Create(t.Context(), "ONE", "", nil)
		o.judge(opening{From: first})
		o.note(opening{From: first, Code: "ONE"})
		from := netip.MustParseAddr("198.51.100.1")
		for i := range 3000 {
			from = netip.AddrFrom4([4]byte{198, byte(i >> 8), byte(i), 1})
			o.judge(opening{From: from}) // and nothing is opened
		}
		time.Sleep(sweepOpeners)
		if o.judge(opening{From: from.Next()}); len(o.opened) != 2 || len(o.opened[counter(first)]) != 1 {
			t.Errorf("%d addresses are kept, the first with %d rooms", len(o.opened), len(o.opened[counter(first)]))
		}
		s.set(func() { s.rooms["ONE"].over = true })
		time.Sleep(sweepOpeners)
		if o.judge(opening{From: from}); len(o.opened) != 1 {
			t.Errorf("%d addresses are kept", len(o.opened))
		}
	})
}

// TestOpenersNetworks: whoever has many addresses of a network gets no more of the service
// than a share, and leaves the rest to others.
func TestOpenersNetworks(t *testing.T) {
	six := func(format string, modulo int) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i%modulo) }
	}
	for name, c := range map[string]struct {
		from        func(i int) string
		stays       bool
		most        int
		other, near string // who is let in afterwards, and who is not
	}{
		"a household's /64":          {six("2001:db8:1:1::%x", 4096), true, 3, "2001:db8:1:100::1", "2001:db8:1:1::ffff"},
		"a /56, by its /64s":         {six("2001:db8:1:%x::1", 256), true, 6, "2001:db8:1:100::1", "2001:db8:1:fe::1"},
		"a /48, by its /64s":         {six("2001:db8:1:%x00::1", 256), true, 24, "2001:db8:2::1", "2001:db8:1:abcd::1"},
		"a /32, by its /48s":         {six("2001:db8:%x::1", 4096), true, 96, "2001:db9::1", "2001:db8:ffff::1"},
		"a /32, rooms for a night":   {six("2001:db8:%x::1", 4096), false, 256, "2001:db9::1", "2001:db8:ffff::1"},
		"one address of IPv4":        {func(int) string { return "198.51.100.7" }, true, 3, "198.51.100.200", "198.51.100.7"},
		"a business line's eight":    {func(i int) string { return fmt.Sprintf("198.51.100.%d", i%8) }, true, 6, "198.51.100.200", "198.51.100.7"},
		"a /24":                      {func(i int) string { return fmt.Sprintf("198.51.100.%d", i%256) }, true, 24, "198.51.101.1", "198.51.100.250"},
		"a /16":                      {func(i int) string { return fmt.Sprintf("198.51.%d.%d", i%256, i/256) }, true, 96, "198.52.0.1", "198.51.255.255"},
		"IPv4 in the guise of IPv6":  {func(int) string { return "::ffff:198.51.100.7" }, true, 3, "198.51.100.200", "198.51.100.7"},
		"everybody, in good measure": {six("2%03x:db8::1", 4096), true, 1000, "3001::1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewFakeStore()
				o := newOpeners(&Public{Rooms: 10_000, PerAddress: 8, Standing: Standing{Rooms: 1000, PerAddress: 3}}, s)
				at := s.On("another")
				opens := func(from string) bool {
					addr := access.Subscriber(netip.MustParseAddr(from))
					if o.judge(opening{From: addr, Stays: c.stays}) != nil {
						return false
					}
					code := fmt.Sprint(len(s.rooms))
					at.Create(t.Context(), code, "", nil)
					o.note(opening{From: addr, Code: code, Stays: c.stays})
					return true
				}
				got := 0
				for i := range 1000 {
					if opens(c.from(i)) {
						got++
					}
				}
				time.Sleep(time.Hour) // it is the number that binds, not the pace
				for i := range 2000 {
					if got < 1000 && opens(c.from(i)) {
						got++
					}
				}
				if got != c.most {
					t.Errorf("%d rooms were opened, want %d", got, c.most)
				}
				time.Sleep(time.Hour)
				if !opens(c.other) {
					t.Errorf("%s is refused", c.other)
				}
				if c.near != "" && opens(c.near) {
					t.Errorf("%s has one more", c.near)
				}
			})
		})
	}
}

// TestUnclaimed: a standing room that no program has joined, and to whose date nobody says
// yes, ends after a day. It was one of the thousand that the host keeps.
func TestUnclaimed(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		comes func(h *Host, a *actor)
		ends  bool
	}{
		"nobody":                  {func(*Host, *actor) {}, true},
		"a page that only looks":  {func(h *Host, a *actor) { a.step(room.PageOpened{Token: a.keys.Secret}, asker{}) }, true},
		"a guest who says no":     {func(h *Host, a *actor) { says(a, &no) }, true},
		"a guest who says yes":    {func(h *Host, a *actor) { says(a, &yes) }, false},
		"a program, for a moment": {func(h *Host, a *actor) { passes(a) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewFakeStore()
				h, err := New(Config{Store: s, Public: &Public{Rooms: 9, PerAddress: 9, Idle: time.Hour, Standing: Standing{Rooms: 9, PerAddress: 9, Keep: 8 * 7 * 24 * time.Hour}}})
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				settings := friday(4)
				settings.Every = "sat 20:00 Europe/Berlin" // synctest begins on a Saturday, at midnight
				code, _, err := h.Open(settings)
				if err != nil {
					t.Fatal(err)
				}
				a := h.actor(code)
				a.post(func() { c.comes(h, a) })
				time.Sleep(23 * time.Hour)
				if h.actor(code) == nil {
					t.Fatal("it is over before a day has passed")
				}
				var kept []byte
				s.set(func() { kept = s.rooms[code].data })
				if saved, err := room.Restore(kept, h.lists.Restored); err != nil || saved.Use(time.Now()).IsClaimed == c.ends {
					t.Errorf("saved it is claimed: %v, want %v: %v", saved.Use(time.Now()).IsClaimed, !c.ends, err)
				}
				time.Sleep(3 * time.Hour)
				if is := h.actor(code) == nil; is != c.ends {
					t.Errorf("after a day it is over: %v, want %v", is, c.ends)
				}
			})
		})
	}
}

// says has a guest of the page say whether they come to the next date.
func says(a *actor, comes *bool) {
	a.step(room.Order{Credential: "a page", Action: room.Enter{Name: "zoe", Token: "a page"}}, asker{})
	a.step(room.PageOpened{Token: "a page"}, asker{})
	a.step(room.Order{Credential: "a page", Action: room.Come{Comes: comes}}, asker{})
}

// passes is a program that joins, and is gone.
func passes(a *actor) {
	a.room.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "ann"}, time.Now())
	a.step(room.Leave{Player: "ann"}, asker{})
}

// TestMakesStay: a change is judged as the room takes it, by key and by text.
func TestMakesStay(t *testing.T) {
	for _, test := range []struct {
		change, now  string
		begins, ends bool
	}{
		{`{"every":"whenever"}`, "", true, false},
		{`{"every":"whenever"}`, "fri 20:00 Europe/Berlin", false, false},
		{`{"every":""}`, "fri 20:00 Europe/Berlin", false, true},
		{`{"every":""}`, "", false, false},
		{`{"Every":""}`, "fri 20:00 Europe/Berlin", false, false},
		{`{"every":"whenever","Every":""}`, "", true, false},
		{`{"players":3}`, "fri 20:00 Europe/Berlin", false, false},
		{`{"every":7}`, "", false, false},
		{`{"every":"  "}`, "fri 20:00 Europe/Berlin", false, true},
		{`{"every":"\u200b\u2060\ufeff"}`, "fri 20:00 Europe/Berlin", false, true},
		{`{"every":"\u200b\u2060\ufeff"}`, "", false, false},
		{`{"every":"\u200bwhenever"}`, "", true, false},
		{`{"every":"mars"}`, "", false, false},
		{`{"every":"","players":-1}`, "fri 20:00 Europe/Berlin", false, false},
		{`[]`, "fri 20:00 Europe/Berlin", false, false},
	} {
		begins, ends := makesStay(room.Change{Settings: []byte(test.change)}, wire.Settings{Game: "openarena", By: selection.Mean, Every: test.now})
		if begins != test.begins || ends != test.ends {
			t.Errorf("%s in a room with %q: begins %v, ends %v", test.change, test.now, begins, ends)
		}
	}
}
