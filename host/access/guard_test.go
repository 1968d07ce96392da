package access

import (
	"net/netip"
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	l := limit{burst: 2, every: time.Minute}
	begin := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	var full time.Time
	for i, step := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {0, true}, {0, false}, // the burst
		{59 * time.Second, false}, {time.Minute, true}, {time.Minute, false}, // one comes back
		{10 * time.Minute, true}, {10 * time.Minute, true}, {10 * time.Minute, false}, // never more than the burst
		{9 * time.Minute, false}, // a clock that was set back gives nothing
	} {
		now := begin.Add(step.at)
		got := l.allows(full, now)
		if got != step.want {
			t.Errorf("step %d, at %v: allowed %v, want %v", i, step.at, got, step.want)
		}
		if got {
			full = l.take(full, now)
		}
	}
}

func TestGuard(t *testing.T) {
	var g Guard
	now := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	ann, bob := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	guesses := func(from netip.Addr, n int) (heard int) {
		for range n {
			if g.Judge(from, false, now) {
				heard++
			}
		}
		return heard
	}
	if got := guesses(ann, 1000); got != 10 {
		t.Errorf("of 1000 guesses of one address %d were heard, want 10", got)
	}
	if g.Judge(ann, true, now) {
		t.Error("a guesser who hits the code after too many tries is told so")
	}
	if !g.Judge(bob, true, now) {
		t.Error("another address suffers for what one guesses")
	}
	now = now.Add(time.Minute)
	if !g.Judge(ann, true, now) {
		t.Error("a minute later the guesser is not forgiven")
	}
	heard := 0
	for i := range 1000 {
		heard += guesses(netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), 1)
	}
	if heard != 100 {
		t.Errorf("of 1000 guesses of as many addresses %d were heard, want 100", heard)
	}
	if !g.Judge(bob, true, now) {
		t.Error("who had the right code is locked out by what others guess")
	}
	if g.Judge(netip.MustParseAddr("203.0.113.9"), true, now) {
		t.Error("guesses go on from new addresses")
	}
}

// A guesser with many addresses fills no memory.
func TestGuardForgets(t *testing.T) {
	var g Guard
	now := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	for i := range 3 * maxAddresses {
		g.Judge(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), i%2 == 0, now)
		now = now.Add(time.Second)
	}
	if n := len(g.addresses); n > maxAddresses {
		t.Errorf("%d addresses are kept, at most %d may be", n, maxAddresses)
	}
}

func TestSubscriber(t *testing.T) {
	for _, c := range []struct{ addr, want string }{
		{"192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
		{"fe80::1%eth0", "fe80::"},
	} {
		if got := Subscriber(netip.MustParseAddr(c.addr)).String(); got != c.want {
			t.Errorf("%s counts as %s, want %s", c.addr, got, c.want)
		}
	}
}
