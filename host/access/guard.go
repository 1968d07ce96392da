package access

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// How many wrong codes are put up with. A guesser needs six days on average to
// find a room from one address, and two from any number of them.
var (
	// guessesByAddress are those of one address: people mistype.
	guessesByAddress = limit{burst: 10, every: 6 * time.Second}
	// guessesByAll are those that the host's rooms take together, whoever makes
	// them: a wrong code names no room, so it is a try at each.
	guessesByAll = limit{burst: 100, every: 2 * time.Second}
)

// maxAddresses is how many addresses are told apart before those that have
// nothing on their account are forgotten.
const maxAddresses = 4096

// limit is what a token bucket holds, and how fast a token comes back.
type limit struct {
	burst float64
	every time.Duration
}

// bucket is how many tokens were taken of a full one, at a time. The zero value
// is full.
type bucket struct {
	taken float64
	at    time.Time
}

// refilled is the bucket after the time that has passed.
func (l limit) refilled(b bucket, now time.Time) bucket {
	back := float64(max(0, now.Sub(b.at))) / float64(l.every)
	return bucket{taken: max(0, b.taken-back), at: now}
}

// allows reports whether a token is left.
func (l limit) allows(b bucket, now time.Time) bool {
	return l.refilled(b, now).taken+1 <= l.burst
}

// take takes a token.
func (l limit) take(b bucket, now time.Time) bucket {
	b = l.refilled(b, now)
	b.taken++
	return b
}

// Guard limits how many wrong codes may be tried. Its zero value is ready.
type Guard struct {
	mu        sync.Mutex // guards following
	all       bucket
	addresses map[netip.Addr]record
}

// record is what is known of an address.
type record struct {
	bucket
	// welcome: a right code came from there. It need not suffer for what others
	// guess.
	welcome bool
}

// Judge reports whether somebody at an address may try a code that is right or
// wrong, and counts the try. Who has tried too often does not learn which it is.
func (g *Guard) Judge(from netip.Addr, right bool, now time.Time) (allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := subscriber(from)
	r := g.addresses[key]
	if !guessesByAddress.allows(r.bucket, now) || !r.welcome && !guessesByAll.allows(g.all, now) {
		return false
	}
	if right {
		r.welcome = true
	} else {
		r.bucket = guessesByAddress.take(r.bucket, now)
		g.all = guessesByAll.take(g.all, now)
	}
	g.note(key, r, now)
	return true
}

func (g *Guard) note(key netip.Addr, r record, now time.Time) {
	if g.addresses == nil {
		g.addresses = map[netip.Addr]record{}
	}
	if len(g.addresses) >= maxAddresses {
		maps.DeleteFunc(g.addresses, func(_ netip.Addr, old record) bool {
			return guessesByAddress.refilled(old.bucket, now).taken == 0
		})
	}
	if _, known := g.addresses[key]; known || len(g.addresses) < maxAddresses {
		g.addresses[key] = r
	}
}

// subscriber is whom an address stands for: whoever has an IPv6 address has 2⁶⁴ of
// them.
func subscriber(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}
