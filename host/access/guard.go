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

const (
	// maxAddresses is how many addresses are remembered; then those whose bucket is
	// full are forgotten.
	maxAddresses = 4096
	// subscriberBits is the length of the IPv6 prefix that one household has.
	subscriberBits = 64
)

// limit is how many tries a token bucket holds, and how fast one comes back. The
// bucket itself is the time from which it is full again.
type limit struct {
	burst int
	every time.Duration
}

// allows reports whether a try is left.
func (l limit) allows(full, now time.Time) bool {
	return full.Sub(now) <= time.Duration(l.burst-1)*l.every
}

// take is the bucket after a try.
func (l limit) take(full, now time.Time) time.Time {
	if now.After(full) {
		full = now
	}
	return full.Add(l.every)
}

// Guard limits how many wrong codes may be tried. Its zero value is ready.
type Guard struct {
	mu        sync.Mutex // guards following
	all       time.Time  // the bucket of all addresses
	addresses map[netip.Addr]record
}

// record is what is known of an address.
type record struct {
	full time.Time // its bucket
	// welcome: a right code came from there. It need not suffer for what others
	// guess.
	welcome bool
}

// Judge reports whether somebody at an address may try a code that is right or
// wrong, and counts the try. Who has tried too often does not learn which it is.
func (g *Guard) Judge(from netip.Addr, right bool, now time.Time) (allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := Subscriber(from)
	r := g.addresses[key]
	if !guessesByAddress.allows(r.full, now) || !r.welcome && !guessesByAll.allows(g.all, now) {
		return false
	}
	if right {
		r.welcome = true
	} else {
		r.full = guessesByAddress.take(r.full, now)
		g.all = guessesByAll.take(g.all, now)
	}
	if g.addresses == nil {
		g.addresses = map[netip.Addr]record{}
	}
	if len(g.addresses) >= maxAddresses {
		maps.DeleteFunc(g.addresses, func(_ netip.Addr, old record) bool {
			return !old.full.After(now)
		})
	}
	if _, known := g.addresses[key]; known || len(g.addresses) < maxAddresses {
		g.addresses[key] = r
	}
	return true
}

// Subscriber is the one address that stands for all of its owner's: who has an
// IPv6 address has 2⁶⁴ of them.
func Subscriber(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, subscriberBits).Masked().Addr()
	}
	return a
}
