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
