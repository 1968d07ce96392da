package access

import (
	"math/rand/v2"
	"net/netip"
	"slices"
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

var start = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// heard returns how many of an address's wrong codes are heard.
func heard(g *Guard, from netip.Addr, guesses int, now time.Time) (n int) {
	for range guesses {
		if g.Judge(from, false, now) {
			n++
		}
	}
	return n
}

func TestGuard(t *testing.T) {
	var g Guard
	ann := netip.MustParseAddr("192.0.2.1")
	if got := heard(&g, ann, 1000, start); got != 10+5 {
		t.Errorf("of 1000 guesses of one address %d were heard, want its own 10 and the pool's 5", got)
	}
	if g.Judge(ann, true, start) {
		t.Error("a guesser who hits the code after too many tries is told so")
	}
	if bob := netip.MustParseAddr("192.0.2.2"); !g.Judge(bob, true, start) || heard(&g, bob, 20, start) != 10 {
		t.Error("another address suffers for what one guesses")
	}
	if !g.Judge(ann, true, start.Add(2*time.Second)) {
		t.Error("once the guesser stops, nobody at the guesser's address gets in")
	}
	hour := 0
	for second := range 3600 {
		hour += heard(&g, ann, 20, start.Add(time.Duration(second)*time.Second))
	}
	if hour > 18_010 {
		t.Errorf("in an hour %d guesses of one address are heard", hour)
	}
}

// TestNewcomers checks that guessers anywhere keep no player with the right code out. When one
// bucket served all, four addresses kept out 11 of 12 players.
func TestNewcomers(t *testing.T) {
	for _, guessers := range []int{4, 10_000} {
		var g Guard
		random := rand.New(rand.NewPCG(1, 2))
		anywhere := func() netip.Addr {
			return netip.AddrFrom4([4]byte{byte(1 + random.IntN(200)), byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256))})
		}
		from := make([]netip.Addr, guessers)
		for i := range from {
			from[i] = anywhere()
		}
		out, guesses := 0, 0
		const newcomers = 300
		for i := range newcomers {
			now := start.Add(time.Duration(i) * time.Second)
			for range max(100, guessers/10) {
				guesses += heard(&g, from[random.IntN(guessers)], 1, now)
			}
			if !g.Judge(anywhere(), true, now) {
				out++
			}
		}
		if out > newcomers*3/100 {
			t.Errorf("%d guessers keep out %d of %d newcomers", guessers, out, newcomers)
		}
		if guesses > 15*guessers+5*newcomers+5 {
			t.Errorf("of %d guessers %d guesses were heard", guessers, guesses)
		}
	}
}

// TestNewcomerBesideGuesser checks that a player gets in who shares an address with a guesser of 20
// tries a second. The player retries every 5 seconds and mostly needs a few tries.
func TestNewcomerBesideGuesser(t *testing.T) {
	shared := netip.MustParseAddr("100.64.0.1")
	random := rand.New(rand.NewPCG(1, 2))
	var tries []int
	for range 200 {
		var g Guard
		at := func(d time.Duration) time.Time { return start.Add(time.Minute + d) }
		heard(&g, shared, 1000, start)
		guess := time.Duration(0)
		for try := 1; ; try++ {
			knocks := time.Duration(try)*5*time.Second + time.Duration(random.IntN(1000))*time.Millisecond
			for ; guess < knocks; guess += 50 * time.Millisecond {
				heard(&g, shared, 1, at(guess))
			}
			if g.Judge(shared, true, at(knocks)) {
				tries = append(tries, try)
				break
			}
		}
	}
	slices.Sort(tries)
	if median, most := tries[len(tries)/2], tries[len(tries)*95/100]; median > 4 || most > 20 {
		t.Errorf("half of the newcomers need %d tries, one of twenty %d", median, most)
	}
}

// TestGuardNetworks checks that a network has a limit of its own, whatever the number of its
// addresses.
func TestGuardNetworks(t *testing.T) {
	for _, c := range []struct {
		name  string
		guess func(i int) netip.Addr
		most  int
	}{
		{"a /24", func(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}) }, 100 + 5},
		{"a /16", func(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, byte(i), byte(i >> 8)}) }, 1000 + 5},
		{"a /64", func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 14: byte(i >> 8), 15: byte(i)})
		}, 10 + 5},
		{"a /48", func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 6: byte(i >> 8), 7: byte(i)})
		}, 100 + 5},
		{"a /32", func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 4: byte(i >> 8), 5: byte(i)})
		}, 1000 + 5},
	} {
		var g Guard
		got := 0
		for i := range 20_000 {
			got += heard(&g, c.guess(i), 1, start)
		}
		if got != c.most {
			t.Errorf("of %s %d guesses are heard at once, want %d", c.name, got, c.most)
		}
	}
}

// TestGuardForgets checks that a guesser with many addresses neither fills the memory nor gains
// free tries that way.
func TestGuardForgets(t *testing.T) {
	var g Guard
	got := 0
	for i := range 3 * maxBuckets {
		got += heard(&g, netip.AddrFrom4([4]byte{byte(i), byte(i >> 8), byte(i >> 16), 1}), 1, start)
	}
	if n := len(g.buckets); n > maxBuckets || got > maxBuckets {
		t.Errorf("%d networks are kept, at most %d may be; %d guesses were heard", n, maxBuckets, got)
	}
	later := start.Add(24 * time.Hour)
	if g.Judge(netip.MustParseAddr("203.0.113.1"), true, later); len(g.buckets) > 0 {
		t.Errorf("%d networks are kept a day later", len(g.buckets))
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
	var g Guard
	if Subscriber(netip.Addr{}).IsValid() || !g.Judge(netip.Addr{}, true, start) {
		t.Error("nobody's address does not do")
	}
}

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
