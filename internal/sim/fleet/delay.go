package fleet

import (
	"container/heap"
	"maps"
	"math"
	"net/netip"
	"sync"
	"time"

	"muster/internal/alarm"
)

// forever is a sleep that only a ring ends.
const forever = time.Duration(math.MaxInt64)

// reply is a server's answer to one query, held back until the world's round trip for it is over.
type reply struct {
	Exchange
	// due is when it leaves, since the fleet's start.
	due       time.Duration
	socket    *socket
	from      netip.Addr
	datagrams [][]byte
}

// delayLine holds replies until they are due, the earliest first.
type delayLine struct {
	alarm *alarm.Alarm // rung when a new reply is the earliest

	mu      sync.Mutex // guards the fields below
	replies replyHeap
	closed  bool
}

func (l *delayLine) push(r *reply) {
	l.mu.Lock()
	heap.Push(&l.replies, r)
	first := l.replies[0] == r
	l.mu.Unlock()
	if first {
		l.alarm.Ring()
	}
}

// pop returns the earliest reply if it is due, or the time until it is, which is forever if there
// is none. It reports over once the line was closed.
func (l *delayLine) pop(now time.Duration) (r *reply, wait time.Duration, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, 0, true
	case len(l.replies) == 0:
		return nil, forever, false
	case l.replies[0].due > now:
		return nil, l.replies[0].due - now, false
	}
	return heap.Pop(&l.replies).(*reply), 0, false
}

// close drops all replies that are not yet due.
func (l *delayLine) close() {
	l.mu.Lock()
	l.closed, l.replies = true, nil
	l.mu.Unlock()
	l.alarm.Ring()
}

type replyHeap []*reply

func (h replyHeap) Len() int           { return len(h) }
func (h replyHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h replyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *replyHeap) Push(x any)        { *h = append(*h, x.(*reply)) }
func (h *replyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}

// ioquake3 answers a source address, whatever its port, limitBurst times at once, and then once a
// limitPeriod. It counts getinfo and getstatus alike.
const (
	limitBurst  = 10
	limitPeriod = time.Second
)

// sweepAt is the number of buckets that starts a search for empty ones.
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

// sweep removes empty buckets, which are as good as new.
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

// gaps is the limit of DarkPlaces' servers (net_getstatusfloodblockingtimeout): one answer for each
// address, and then none for a while. Unanswered queries do not make the while longer.
type gaps struct {
	gap time.Duration
	// answered is when each server answered each address. Entries older than a gap before the last
	// sweep are removed.
	answered map[bucketKey]time.Duration
	sweepAt  int
}

func newGaps(gap time.Duration) *gaps {
	return &gaps{gap: gap, answered: map[bucketKey]time.Duration{}, sweepAt: sweepAt}
}

func (g *gaps) allow(server int, source netip.Addr, now time.Duration) bool {
	if g.gap == 0 {
		return true
	}
	if len(g.answered) >= g.sweepAt {
		maps.DeleteFunc(g.answered, func(_ bucketKey, at time.Duration) bool { return now-at >= g.gap })
		g.sweepAt = max(sweepAt, 2*len(g.answered))
	}
	key := bucketKey{server, source}
	if at, answered := g.answered[key]; answered && now-at < g.gap {
		return false
	}
	g.answered[key] = now
	return true
}
