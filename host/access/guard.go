package access

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Guard limits how many wrong codes callers may try. Guessing becomes useless, and a player with
// the right code still gets in. Guard never judges a caller with a link key, a token or a secret,
// because those cannot be guessed. Its zero value is ready.
//
// Every address may try some wrong codes, and so may every network; otherwise the owner of a
// network could try as many for each of its addresses. While an address has tries left, no other
// caller can delay it. An address without tries, such as one that a player shares with a guesser,
// takes part in a common pool. With n guesses a second in the pool, the host hears a try with the
// right code with probability min(1, 5/n). Peers and pages retry by themselves.
//
// A wrong code names no room, so it counts as a try at every room. A host with one room has
// 9,834,496 codes; a host with many has 2,500,000 for each (see [NewCode]). An attack of 4 hours
// then comes to:
//
//	guesser                   wrong codes heard            finds the one room   finds one of many
//	one address               10 + 8, 72,000 of the pool   0.7 %                2.9 %
//	an IPv6 prefix of /48     100 + 80, 72,000             0.7 %                2.9 %
//	10,000 addresses          100,000 + 80,000, 72,000     2.6 %                10 %
//
// On average one address needs 11 days for the one room. A guesser who gets in has a seat or a
// nickname, but no power over the room. A locked room admits nobody at all.
type Guard struct {
	// Public says that anybody may open rooms on the host. Then a [budget] replaces the pool.
	Public bool
	// Hosts returns how many hosts, each with its own guard, hold the rooms; nil stands for this
	// one alone.
	Hosts func() int

	mu      sync.Mutex // guards following
	pool    pool
	budget  time.Time // a bucket, see [budget]
	buckets map[netip.Prefix]time.Time
	swept   time.Time // when full buckets were last forgotten
}

// level is a size of network that counts its own wrong codes. It is given by the lengths of its
// prefixes in IPv4 and IPv6.
type level struct {
	four, six int
	limit
}

// levels go from the subscriber, whose one address is an IPv6 /64, to the provider. A larger
// network has more tries: one household mistypes now and then, but a carrier's NAT holds many
// households.
var levels = [...]level{
	{32, subscriberBits, limit{burst: 10, every: 30 * time.Minute}},
	{24, 48, limit{burst: 100, every: 3 * time.Minute}},
	{16, 32, limit{burst: 1000, every: 18 * time.Second}},
}

// publicLevels are the levels of a public host. They keep one network from using up the budget of
// all. Players who need more tries have a link.
var publicLevels = [len(levels)]level{
	{32, subscriberBits, limit{burst: 5, every: time.Hour}},
	{24, 48, limit{burst: 25, every: 10 * time.Minute}},
	{16, 32, limit{burst: 100, every: 2 * time.Minute}},
}

// budget is how many wrong codes all hosts of a service hear together, from any number of
// addresses: 1,052,200 a year. There are 100,000,000 codes for each room (see [NewPublicCode]), so
// all guessers together find any room with a probability of 1.05 % a year. docs/codes.md has the
// arithmetic.
var budget = limit{burst: 1000, every: 30 * time.Second}

// share returns this host's part of the budget.
func (g *Guard) share() limit {
	hosts := 1
	if g.Hosts != nil {
		hosts = max(1, g.Hosts())
	}
	return limit{burst: max(1, budget.burst/hosts), every: budget.every * time.Duration(hosts)}
}

const (
	// maxBuckets is how many networks the guard remembers, in about 6 MB. Callers from other
	// networks then use the pool.
	maxBuckets = 1 << 16
	// sweepEvery is the shortest time between two sweeps for full buckets.
	sweepEvery = time.Minute
	// subscriberBits is the length of one household's IPv6 prefix.
	subscriberBits = 64
)

// limit is how many tries a token bucket holds, and how fast one comes back. The bucket itself is
// the time at which it is full again.
type limit struct {
	burst int
	every time.Duration
}

// allows reports whether a try is left.
func (l limit) allows(full, now time.Time) bool {
	return full.Sub(now) <= time.Duration(l.burst-1)*l.every
}

// take returns the bucket after a try.
func (l limit) take(full, now time.Time) time.Time {
	if now.After(full) {
		full = now
	}
	return full.Add(l.every)
}

// Judge reports whether a caller may try a code, and counts the code if it is wrong. A caller with
// no tries left does not learn whether the code is right.
func (g *Guard) Judge(from netip.Addr, right bool, now time.Time) (allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	allowed, _ = g.judge(from, right, now)
	return allowed
}

// Doubt is Judge for a code that the host has not checked yet. The code counts as wrong until
// forgive is called. So a caller who tries many codes at the same time is heard no more often than
// a caller who tries one after the other.
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

// networks returns the networks that an address belongs to, and the level of each.
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

// judge also reports whether it has counted a wrong code; the pool does not count any. The caller
// holds the mutex.
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
		return g.pool.take(now), false
	}
	for i, l := range levels {
		if !right {
			g.buckets[networks[i]] = l.take(g.buckets[networks[i]], now)
		}
	}
	return true, !right
}

// pool hears a fixed number of tries a second, from all callers together. It picks them at random.
// Otherwise the most frequent caller would always find the one try that is left.
type pool struct {
	// second is the current second; tries is how many tries it has had, heard how many of them
	// were heard. before is how many tries the previous second had.
	second               time.Time
	tries, heard, before int
}

// poolRate is how many tries the pool hears each second.
const poolRate = 5

func (p *pool) take(now time.Time) bool {
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

// hasRoom reports whether the guard can remember another address.
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

// IsIn reports whether an address is in any of the networks.
func IsIn(a netip.Addr, networks []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// Subscriber returns one address that stands for all addresses of its owner. The owner of an IPv6
// address has 2⁶⁴ of them.
func Subscriber(a netip.Addr) netip.Addr {
	return levels[0].network(a.Unmap().WithZone("")).Addr()
}
