package openers

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/clock"
)

// rooms holds the state of each room by its code.
type rooms map[string]store.State

func (r rooms) find(code string) store.State { return r[code] }

// TestOpeners checks that an address has only so many rooms open at a time, wherever they are by
// now, and then opens at most one a minute.
func TestOpeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rooms{}
		o := New(Limit{1000, 2}, Limit{1000, 1}, s.find, clock.Machine)
		ann := netip.MustParseAddr("203.0.113.7")
		opens := func(code string, want string) {
			t.Helper()
			got := ""
			if why := o.Judge(Opening{From: ann, Stays: code == "STAYS"}); why != nil {
				got = why.Refusal.Reason
			} else {
				o.Note(Opening{From: ann, Code: code, Stays: code == "STAYS"})
			}
			if got != want {
				t.Errorf("%s is refused for %q, want %q", code, got, want)
			}
		}
		for _, code := range []string{"ONE", "TWO"} {
			opens(code, "") // this host does not know it yet
			s[code] = store.Elsewhere
		}
		opens("THREE", wire.ReasonBusy)
		time.Sleep(2 * every)
		opens("THREE", wire.ReasonFull)
		s["ONE"] = store.Over
		time.Sleep(every)
		opens("THREE", "")
		time.Sleep(newsWait + every) // no news of it arrives
		opens("FOUR", "")
		s["FOUR"] = store.Elsewhere
		time.Sleep(every)
		opens("FIVE", wire.ReasonFull)
	})
}

// TestOpenersStay checks that an address has only so many standing rooms, including rooms that
// became standing later. A room that no longer stays, or was never opened, frees its place.
func TestOpenersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rooms{}
		o := New(Limit{1000, 4}, Limit{1000, 1}, s.find, clock.Machine)
		ann := netip.MustParseAddr("203.0.113.7")
		for _, code := range []string{"ONE", "TWO"} {
			if why := o.Judge(Opening{From: ann}); why != nil {
				t.Fatalf("%s: %+v", code, why)
			}
			s[code] = store.Elsewhere
			o.Note(Opening{From: ann, Code: code})
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
			if why := o.Change(Opening{From: ann, Code: step.code, Stays: step.stays, Changes: true}); (why != nil) != step.fails {
				t.Errorf("step %d, %s: %+v", i, step.code, why)
			}
		}
		o.Change(Opening{From: ann, Code: "TWO", Changes: true})
		if why := o.Judge(Opening{From: ann, Stays: true}); why != nil {
			t.Errorf("the first to open a room that stays is told %+v", why)
		}
		if why := o.Judge(Opening{From: ann, Stays: true}); why == nil || why.Refusal.Reason != wire.ReasonFull {
			t.Errorf("a second one at the same time is told %+v", why)
		}
		time.Sleep(newsWait + every) // neither was opened in the end
		if why := o.Judge(Opening{From: ann, Stays: true}); why != nil {
			t.Errorf("a place that was never taken is still kept: %+v", why)
		}
	})
}

// TestOpenersAreForgotten checks that an address uses no memory for longer than some minutes if a
// full host refused it or its rooms are over.
func TestOpenersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rooms{}
		o := New(Limit{1000, 2}, Limit{}, s.find, clock.Machine)
		first := netip.MustParseAddr("203.0.113.7")
		s["ONE"] = store.Elsewhere
		o.Judge(Opening{From: first})
		o.Note(Opening{From: first, Code: "ONE"})
		from := netip.MustParseAddr("198.51.100.1")
		for i := range 3000 {
			from = netip.AddrFrom4([4]byte{198, byte(i >> 8), byte(i), 1})
			o.Judge(Opening{From: from}) // the room is never opened
		}
		time.Sleep(sweepEvery)
		if o.Judge(Opening{From: from.Next()}); len(o.opened) != 2 || len(o.opened[counter(first)]) != 1 {
			t.Errorf("%d addresses are kept, the first with %d rooms", len(o.opened), len(o.opened[counter(first)]))
		}
		s["ONE"] = store.Over
		time.Sleep(sweepEvery)
		if o.Judge(Opening{From: from}); len(o.opened) != 1 {
			t.Errorf("%d addresses are kept", len(o.opened))
		}
	})
}

// TestOpenersNetworks checks that an owner of many addresses in a network gets only a share of the
// service, and leaves the rest to others.
func TestOpenersNetworks(t *testing.T) {
	six := func(format string, modulo int) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i%modulo) }
	}
	for name, c := range map[string]struct {
		from        func(i int) string
		stays       bool
		most        int
		other, near string // afterwards other is admitted, and near is not
	}{
		"a household's /64":        {six("2001:db8:1:1::%x", 4096), true, 3, "2001:db8:1:100::1", "2001:db8:1:1::ffff"},
		"a /56, by its /64s":       {six("2001:db8:1:%x::1", 256), true, 6, "2001:db8:1:100::1", "2001:db8:1:fe::1"},
		"a /48, by its /64s":       {six("2001:db8:1:%x00::1", 256), true, 24, "2001:db8:2::1", "2001:db8:1:abcd::1"},
		"a /32, by its /48s":       {six("2001:db8:%x::1", 4096), true, 96, "2001:db9::1", "2001:db8:ffff::1"},
		"a /32, rooms for a night": {six("2001:db8:%x::1", 4096), false, 256, "2001:db9::1", "2001:db8:ffff::1"},
		"one address of IPv4":      {func(int) string { return "198.51.100.7" }, true, 3, "198.51.100.200", "198.51.100.7"},
		"a business line's eight": {func(i int) string {
			return fmt.Sprintf("198.51.100.%d", i%8)
		}, true, 6, "198.51.100.200", "198.51.100.7"},
		"a /24": {func(i int) string {
			return fmt.Sprintf("198.51.100.%d", i%256)
		}, true, 24, "198.51.101.1", "198.51.100.250"},
		"a /16": {func(i int) string {
			return fmt.Sprintf("198.51.%d.%d", i%256, i/256)
		}, true, 96, "198.52.0.1", "198.51.255.255"},
		"IPv4 in the guise of IPv6":  {func(int) string { return "::ffff:198.51.100.7" }, true, 3, "198.51.100.200", "198.51.100.7"},
		"everybody, in good measure": {six("2%03x:db8::1", 4096), true, 1000, "3001::1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rooms{}
				o := New(Limit{10_000, 8}, Limit{1000, 3}, s.find, clock.Machine)
				opens := func(from string) bool {
					addr := access.Subscriber(netip.MustParseAddr(from))
					if o.Judge(Opening{From: addr, Stays: c.stays}) != nil {
						return false
					}
					code := fmt.Sprint(len(s))
					s[code] = store.Elsewhere
					o.Note(Opening{From: addr, Code: code, Stays: c.stays})
					return true
				}
				got := 0
				for i := range 1000 {
					if opens(c.from(i)) {
						got++
					}
				}
				time.Sleep(time.Hour) // so that the number binds, and not the pace
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

// TestCounting checks that all addresses that share a limit are counted at one host, and that many
// networks are spread evenly over the hosts.
func TestCounting(t *testing.T) {
	hosts, counts := []string{"a", "b", "c"}, map[string]int{}
	for i := range 300 {
		one := Counting(netip.AddrFrom4([4]byte{10, byte(i), 0, 1}), hosts)
		if other := Counting(netip.AddrFrom4([4]byte{10, byte(i), 200, 7}), hosts); other != one {
			t.Errorf("two addresses of a network are counted at %s and %s", one, other)
		}
		counts[one]++
	}
	for _, host := range hosts {
		if counts[host] < 60 {
			t.Errorf("%s counts for %d of 300 networks", host, counts[host])
		}
	}
	if Counting(netip.MustParseAddr("192.0.2.1"), nil) != "" {
		t.Error("a host alone asks another")
	}
}

// TestLeague checks that a league has its own limit, whatever addresses may open, and that no other
// league or address counts for it.
func TestLeague(t *testing.T) {
	o := New(Limit{All: 100, OfOne: 1}, Limit{}, func(string) store.State { return store.Here }, clock.Machine)
	cup := Opening{From: netip.MustParseAddr("fc00::1"), Max: 20}
	open := func(about Opening, code string) *TooMany {
		tooMany := o.Hear(about)
		if about.Code = code; tooMany == nil {
			o.Hear(about)
		}
		return tooMany
	}
	for i := range 20 {
		if why := open(cup, fmt.Sprint("CUP", i)); why != nil {
			t.Fatalf("room %d: %v", i, why.Refusal.Says)
		}
	}
	if why := open(cup, "MORE"); why == nil || why.Refusal.Reason != wire.ReasonFull {
		t.Errorf("one room too many: %+v", why)
	}
	if why := open(Opening{From: netip.MustParseAddr("fc00::2"), Max: 1}, "OTHER"); why != nil {
		t.Errorf("another league: %v", why.Refusal.Says)
	}
	if why := open(Opening{From: netip.MustParseAddr("192.0.2.1")}, "PERSON"); why != nil {
		t.Errorf("a person: %v", why.Refusal.Says)
	}
}
