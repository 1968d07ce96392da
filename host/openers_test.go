package host

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// TestOpeners: an address has so many rooms open at a time, wherever they are by now, and
// opens no more than one a minute after those.
func TestOpeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		o := newOpeners(&Public{PerAddress: 2, Standing: Standing{PerAddress: 1}}, s)
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
		o := newOpeners(&Public{PerAddress: 4, Standing: Standing{PerAddress: 1}}, s)
		ann := netip.MustParseAddr("203.0.113.7")
		at := s.On("another")
		for _, code := range []string{"ONE", "TWO"} {
			if why := o.judge(opening{From: ann}); why != nil {
				t.Fatalf("%s: %+v", code, why)
			}
			at.Create(t.Context(), code, "", nil)
			o.note(opening{From: ann, Code: code})
		}
		if got := len(o.opened[ann]); got != 2 {
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
		o := newOpeners(&Public{PerAddress: 2}, s)
		first := netip.MustParseAddr("203.0.113.7")
		s.On("another").Create(t.Context(), "ONE", "", nil)
		o.judge(opening{From: first})
		o.note(opening{From: first, Code: "ONE"})
		from := netip.MustParseAddr("198.51.100.1")
		for range 3000 {
			from = from.Next()
			o.judge(opening{From: from}) // and nothing is opened
		}
		time.Sleep(sweepOpeners)
		if o.judge(opening{From: from.Next()}); len(o.opened) != 2 || len(o.opened[first]) != 1 {
			t.Errorf("%d addresses are kept, the first with %d rooms", len(o.opened), len(o.opened[first]))
		}
		s.set(func() { s.rooms["ONE"].over = true })
		time.Sleep(sweepOpeners)
		if o.judge(opening{From: from}); len(o.opened) != 1 {
			t.Errorf("%d addresses are kept", len(o.opened))
		}
	})
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
