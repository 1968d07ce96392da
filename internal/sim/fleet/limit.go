package fleet

import (
	"net/netip"
	"time"
)

// ioquake3 answers a source address, whatever its port, limitBurst times at
// once, and then once a limitPeriod; getinfo and getstatus count alike.
const (
	limitBurst  = 10
	limitPeriod = time.Second
)

// sweepAt is the number of buckets from which empty ones are looked for.
const sweepAt = 4096

// limiter holds the leaky buckets of all servers that limit their queries.
type limiter struct {
	buckets map[bucketKey]bucket
	sweepAt int
}

type bucketKey struct {
	server int
	source netip.Addr
}

type bucket struct {
	level int
	// since is the time of the last drop that leaked out.
	since time.Duration
}

func newLimiter() *limiter {
	return &limiter{buckets: map[bucketKey]bucket{}, sweepAt: sweepAt}
}

// allow tells whether a server answers a source now.
func (l *limiter) allow(server int, source netip.Addr, now time.Duration) bool {
	if len(l.buckets) >= l.sweepAt {
		l.sweep(now)
	}
	key := bucketKey{server, source}
	b := l.buckets[key].leak(now)
	allowed := b.level < limitBurst
	if allowed {
		b.level++
	}
	l.buckets[key] = b
	return allowed
}

// sweep forgets the buckets that are empty again: as good as new.
func (l *limiter) sweep(now time.Duration) {
	for key, b := range l.buckets {
		if b.leak(now).level == 0 {
			delete(l.buckets, key)
		}
	}
	l.sweepAt = max(sweepAt, 2*len(l.buckets))
}

func (b bucket) leak(now time.Duration) bucket {
	drops := int((now - b.since) / limitPeriod)
	if drops >= b.level {
		return bucket{since: now}
	}
	return bucket{level: b.level - drops, since: b.since + time.Duration(drops)*limitPeriod}
}
