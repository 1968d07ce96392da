package access

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// maxAddresses is how many addresses a pace remembers. At that number it forgets those that need
// not wait.
const maxAddresses = 4096

// Pace limits how often one address may ask for something.
type Pace struct {
	limit limit

	mu        sync.Mutex // guards following
	addresses map[netip.Addr]time.Time
}

// NewPace lets each address ask burst times at once, and then once in every interval.
func NewPace(burst int, every time.Duration) *Pace {
	return &Pace{limit: limit{burst: burst, every: every}, addresses: map[netip.Addr]time.Time{}}
}

// Wait returns how long an address must wait before it may ask. If it is 0, the request is counted.
func (p *Pace) Wait(from netip.Addr, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := Subscriber(from)
	full := p.addresses[key]
	if !p.limit.allows(full, now) {
		return full.Sub(now) - time.Duration(p.limit.burst-1)*p.limit.every
	}
	if len(p.addresses) >= maxAddresses {
		maps.DeleteFunc(p.addresses, func(_ netip.Addr, full time.Time) bool { return !full.After(now) })
	}
	if _, known := p.addresses[key]; known || len(p.addresses) < maxAddresses {
		p.addresses[key] = p.limit.take(full, now)
	}
	return 0
}

// Flow is a pace for a sender whose messages are always heard, but later if there are too many. Its
// zero value is ready.
type Flow struct{ full time.Time }

// Wait returns how long the sender must wait now. The sender may send burst messages at once, and
// then one in every interval.
func (f *Flow) Wait(burst int, every time.Duration, now time.Time) (wait time.Duration) {
	l := limit{burst: burst, every: every}
	if !l.allows(f.full, now) {
		wait = f.full.Sub(now) - time.Duration(burst-1)*every
	}
	f.full = l.take(f.full, now)
	return wait
}
