package access

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Guard limits how many wrong codes may be tried, so that guessing is useless and
// nobody who has the right one is helpless. Whoever shows a link key, a token or a
// secret is never judged here: those cannot be guessed. Its zero value is ready.
//
// Every address has some wrong codes of its own, and so has every network, lest
// somebody who owns one has as many as it has addresses. While they last, nothing
// that others do holds a newcomer up. Whoever has used them up, or shares an address
// with a guesser who has, takes part in a pool that all of those share: with n
// guesses a second competing for it, a try with the right code is heard with
// probability min(1, 5/n), and peers and pages try again by themselves.
//
// A wrong code names no room, and so is a try at each. On a host of one room, with
// its 9,834,496 codes, and on one of many, with 2,500,000 for each (see [NewCode]),
// this is what an evening of 4 hours under fire comes to:
//
//	guesser                   wrong codes heard            finds the one room   finds one of many
//	one address               10 + 8, 72,000 of the pool   0.7 %                2.9 %
//	an IPv6 prefix of /48     100 + 80, 72,000             0.7 %                2.9 %
//	10,000 addresses          100,000 + 80,000, 72,000     2.6 %                10 %
//
// On average one address needs 11 days for the one room. Whoever gets in has a seat or
// a nickname, and no say about the room; a locked room lets nobody in at all.
type Guard struct {
	// Public: the host holds rooms for everybody, and keeps to a [budget] instead of
	// the pool.
	Public bool
	// Hosts is how many hosts, each with a guard of its own, hold the rooms; nil is this
	// one alone.
	Hosts func() int

	mu      sync.Mutex // guards following
	pool    pool
	budget  time.Time // a bucket, see [budget]
	buckets map[netip.Prefix]time.Time
	swept   time.Time // when buckets that are full again were last forgotten
}

// level is a size of network that has wrong codes of its own: the lengths of its
// prefixes in IPv4 and IPv6.
type level struct {
	four, six int
	limit
}

// levels are from the subscriber, who has an IPv6 prefix of /64 for one address,
// to the provider. A household mistypes; a carrier's NAT has many households.
var levels = [...]level{
	{32, subscriberBits, limit{burst: 10, every: 30 * time.Minute}},
	{24, 48, limit{burst: 100, every: 3 * time.Minute}},
	{16, 32, limit{burst: 1000, every: 18 * time.Second}},
}

// publicLevels are those of a host that holds rooms for everybody: whoever needs more
// has a link. They keep one network from using up the budget of all.
var publicLevels = [len(levels)]level{
	{32, subscriberBits, limit{burst: 5, every: time.Hour}},
	{24, 48, limit{burst: 25, every: 10 * time.Minute}},
	{16, 32, limit{burst: 100, every: 2 * time.Minute}},
}

// budget is how many wrong codes all hosts of a service hear together, from however many
// addresses: 1,052,200 a year. A room's code is one of 100,000,000 for each room (see
// [NewPublicCode]), so that all of them find one of the rooms, whichever, with a
// probability of 1.05 % a year. docs/codes.md has the arithmetic.
var budget = limit{burst: 1000, every: 30 * time.Second}

// share is this host's part of the budget.
func (g *Guard) share() limit {
	hosts := 1
	if g.Hosts != nil {
		hosts = max(1, g.Hosts())
	}
	return limit{burst: max(1, budget.burst/hosts), every: budget.every * time.Duration(hosts)}
}

const (
	// maxBuckets is how many networks are remembered, some 6 MB. What comes from
	// others then goes by the pool.
	maxBuckets = 1 << 16
	// sweepEvery is how often buckets that are full again are looked for, at most.
	sweepEvery = time.Minute
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

// Judge reports whether somebody at an address may try a code that is right or
// wrong, and counts a wrong one. Who has tried too often does not learn which it is.
func (g *Guard) Judge(from netip.Addr, right bool, now time.Time) (allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	allowed, _ = g.judge(from, right, now)
	return allowed
}

// Doubt is Judge for a code of which it is not known yet whether it is right. It counts as
// a wrong one until forgive is called, so that who tries many at the same time is heard no
// more often than who tries one after the other.
func (g *Guard) Doubt(from netip.Addr, now time.Time) (allowed bool, forgive func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	allowed, counted := g.judge(from, false, now)
	return allowed, func() {
		if !counted {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		networks, levels := g.networks(from)
		for i, l := range levels {
			g.buckets[networks[i]] = g.buckets[networks[i]].Add(-l.every)
		}
		if g.Public {
			g.budget = g.budget.Add(-g.share().every)
		}
	}
}

// networks are those that an address counts for, and what each may.
func (g *Guard) networks(from netip.Addr) (networks [len(levels)]netip.Prefix, of [len(levels)]level) {
	if of = levels; g.Public {
		of = publicLevels
	}
	from = from.Unmap().WithZone("")
	for i, l := range of {
		networks[i] = l.network(from)
	}
	return networks, of
}

// judge also reports whether it has counted a wrong code, which the pool does not. The
// mutex is held.
func (g *Guard) judge(from netip.Addr, right bool, now time.Time) (allowed, counted bool) {
	own := g.hasRoom(now)
	networks, levels := g.networks(from)
	for i, l := range levels {
		own = own && l.allows(g.buckets[networks[i]], now)
	}
	switch share := g.share(); {
	case g.Public && !(own && share.allows(g.budget, now)):
		return false, false
	case g.Public && !right:
		g.budget = share.take(g.budget, now)
	case !g.Public && !own:
		return g.pool.hears(now), false
	}
	for i, l := range levels {
		if !right {
			g.buckets[networks[i]] = l.take(g.buckets[networks[i]], now)
		}
	}
	return true, !right
}

// pool hears so many tries a second, whoever makes them. Which is a matter of luck,
// or whoever asks most often would be there whenever one is left.
type pool struct {
	// second is the one under way: how many tries it has had and how many were heard,
	// and how many the second before had.
	second               time.Time
	tries, heard, before int
}

// poolRate is how many tries the pool hears a second.
const poolRate = 5

func (p *pool) hears(now time.Time) bool {
	if second := now.Truncate(time.Second); !second.Equal(p.second) {
		if p.before = 0; second.Sub(p.second) == time.Second {
			p.before = p.tries
		}
		p.second, p.tries, p.heard = second, 0, 0
	}
	p.tries++
	if p.heard >= poolRate || rand.IntN(max(p.before, poolRate)) >= poolRate {
		return false
	}
	p.heard++
	return true
}

// hasRoom reports whether another address can be remembered.
func (g *Guard) hasRoom(now time.Time) bool {
	if g.buckets == nil {
		g.buckets = map[netip.Prefix]time.Time{}
	}
	if len(g.buckets)+len(levels) <= maxBuckets {
		return true
	}
	if now.Sub(g.swept) >= sweepEvery {
		g.swept = now
		maps.DeleteFunc(g.buckets, func(_ netip.Prefix, full time.Time) bool { return !full.After(now) })
	}
	return len(g.buckets)+len(levels) <= maxBuckets
}

func (l level) network(a netip.Addr) netip.Prefix { return Network(a, l.four, l.six) }

// Network returns the network of an address, by the length of its prefix in IPv4 and IPv6.
func Network(a netip.Addr, four, six int) netip.Prefix {
	bits := four
	if a.Is6() {
		bits = six
	}
	network, _ := a.Prefix(bits) // the zero value for the zero address, a test's pipe
	return network
}

// IsIn reports whether an address is in any of some networks.
func IsIn(a netip.Addr, networks []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// Subscriber is the one address that stands for all of its owner's: who has an
// IPv6 address has 2⁶⁴ of them.
func Subscriber(a netip.Addr) netip.Addr {
	return levels[0].network(a.Unmap().WithZone("")).Addr()
}
