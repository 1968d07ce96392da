package access

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// maxAddresses is how many addresses a pace remembers; then those that need not wait
// are forgotten, and others may ask.
const maxAddresses = 4096

// Pace limits how often something may be asked from one address.
type Pace struct {
	limit limit

	mu        sync.Mutex // guards following
	addresses map[netip.Addr]time.Time
}

// NewPace lets each address ask burst times at once, and then every so often.
func NewPace(burst int, every time.Duration) *Pace {
	return &Pace{limit: limit{burst: burst, every: every}, addresses: map[netip.Addr]time.Time{}}
}

// Wait is how long an address has to wait before it may ask; 0 counts as asked.
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

// Flow is a pace for one who is heard in any case, later if too often. Its zero value is
// ready.
type Flow struct{ full time.Time }

// Wait is how long somebody who asks now has to wait, where so many may ask at once, and
// then one every so often.
func (f *Flow) Wait(burst int, every time.Duration, now time.Time) (wait time.Duration) {
	l := limit{burst: burst, every: every}
	if !l.allows(f.full, now) {
		wait = f.full.Sub(now) - time.Duration(burst-1)*every
	}
	f.full = l.take(f.full, now)
	return wait
}
