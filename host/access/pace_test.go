package access

import (
	"net/netip"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	now, p := time.Unix(1_800_000_000, 0), NewPace(3, time.Second)
	one, neighbour, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("198.51.100.7")
	for _, c := range []struct {
		from  netip.Addr
		after time.Duration
		want  time.Duration
	}{
		{one, 0, 0}, {neighbour, 0, 0}, {one, 0, 0}, {neighbour, 0, time.Second}, {other, 0, 0},
		{one, 400 * time.Millisecond, 600 * time.Millisecond}, {one, time.Second, 0}, {one, time.Second, time.Second},
		{one, time.Hour, 0}, {one, time.Hour, 0}, {one, time.Hour, 0}, {one, time.Hour, time.Second},
	} {
		if got := p.Wait(c.from, now.Add(c.after)); got != c.want {
			t.Errorf("%v waits %v after %v, want %v", c.from, got, c.after, c.want)
		}
	}
	for i := range 3 * maxAddresses {
		p.Wait(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if n := len(p.addresses); n > maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}

// TestFlow checks that every message of a hasty sender gets through, no faster than the flow
// allows.
func TestFlow(t *testing.T) {
	var f Flow
	now := time.Unix(1_800_000_000, 0)
	for i := range 10 {
		if wait := f.Wait(10, time.Second, now); wait != 0 {
			t.Errorf("the word %d of those at once waits %v", i, wait)
		}
	}
	for i := range 5 { // each waits for its turn
		wait := f.Wait(10, time.Second, now)
		if wait != time.Second {
			t.Errorf("the word %d more waits %v", i, wait)
		}
		now = now.Add(wait)
	}
	if wait := f.Wait(10, time.Second, now.Add(time.Minute)); wait != 0 {
		t.Errorf("after a minute somebody waits %v", wait)
	}
}
