package host

import (
	"testing"
	"testing/synctest"
	"time"

	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// TestUnclaimed checks that a standing room ends after a day if no program has joined it and nobody
// says yes to its date. Otherwise it would take one of the thousand places of the host.
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
				h, err := New(Config{
					Store: s,
					Public: &public.Limits{
						Rooms:      9,
						PerAddress: 9,
						Idle:       time.Hour,
						Standing:   public.Standing{Rooms: 9, PerAddress: 9, Keep: 8 * 7 * 24 * time.Hour},
					},
				})
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

// says makes a guest of the page say whether they come to the next date.
func says(a *actor, comes *bool) {
	a.step(room.Order{Credential: "a page", Action: room.Enter{Name: "zoe", Token: "a page"}}, asker{})
	a.step(room.PageOpened{Token: "a page"}, asker{})
	a.step(room.Order{Credential: "a page", Action: room.Come{Comes: comes}}, asker{})
}

// passes joins with a program that leaves again.
func passes(a *actor) {
	a.room.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "ann"}, a.moment())
	a.step(room.Leave{Player: a.idOf("ann")}, asker{})
}

// TestMakesStay checks that a change is judged as the room judges it, by key and by text.
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
		{`{"every":"whenever","Every":""}`, "", false, false},
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
		begins, ends := makesStay(room.Change{Settings: []byte(test.change)},
			wire.Settings{Game: "openarena", By: selection.Mean, Every: test.now})
		if begins != test.begins || ends != test.ends {
			t.Errorf("%s in a room with %q: begins %v, ends %v", test.change, test.now, begins, ends)
		}
	}
}
