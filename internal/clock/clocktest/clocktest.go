// Package clocktest holds a clock for tests: time passes when the test says.
package clocktest

import (
	"context"
	"slices"
	"sync"
	"time"

	"muster/internal/clock"
)

// Held is a clock that stands still until [Held.Advance]. Any goroutine may use it.
type Held struct {
	moving sync.Mutex // held while the clock moves

	mu      sync.Mutex // guards following
	now     time.Time
	waiting []*alarm      // by time, and those of one time as they were set
	changed chan struct{} // closed when an alarm is set
}

// Hold returns a clock that shows a time.
func Hold(at time.Time) *Held { return &Held{now: at, changed: make(chan struct{})} }

// Clock returns the clock, for whatever is to live by it.
func (h *Held) Clock() clock.Clock { return clock.From(h) }

// Now returns the time at which the clock stands.
func (h *Held) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Advance lets time pass. What is due in it happens one after the other, in the order of the times for which it
// was set, and of being set; the clock shows each one's time meanwhile. Advance returns when all functions have
// returned. Goroutines that it wakes go on by themselves: a test waits for what they do. If it is about to let
// more time pass, it may have to wait until they are asleep again, see [Held.Await].
func (h *Held) Advance(d time.Duration) {
	h.moving.Lock()
	defer h.moving.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	for end := h.now.Add(d); ; {
		if len(h.waiting) == 0 || h.waiting[0].at.After(end) {
			h.now = end
			return
		}
		due := h.waiting[0]
		h.waiting = h.waiting[1:]
		h.now = due.at
		if due.call == nil {
			due.ring()
			continue
		}
		h.mu.Unlock()
		due.call()
		h.mu.Lock()
	}
}

// Next returns how long it is until the next event is due. waits is false if there is none.
func (h *Held) Next() (in time.Duration, waits bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) == 0 {
		return 0, false
	}
	return h.waiting[0].at.Sub(h.now), true
}

// Await waits until at least n alarms are due within a duration, or until ctx ends.
func (h *Held) Await(ctx context.Context, n int, within time.Duration) error {
	for {
		h.mu.Lock()
		enough, changed := len(h.waiting) >= n && (n == 0 || !h.waiting[n-1].at.After(h.now.Add(within))), h.changed
		h.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wake is [clock.Source].
func (h *Held) Wake(c chan time.Time, d, every time.Duration) clock.Alarm {
	a := &alarm{held: h, c: c, every: every}
	a.Reset(d)
	return a
}

// AfterFunc is [clock.Source].
func (h *Held) AfterFunc(d time.Duration, f func()) clock.Alarm {
	a := &alarm{held: h, call: f}
	a.Reset(d)
	return a
}

// alarm sends the time to c, once or every so often, or calls a function.
type alarm struct {
	held  *Held
	at    time.Time
	c     chan time.Time
	every time.Duration
	call  func()
}

func (a *alarm) Stop() bool {
	a.held.mu.Lock()
	defer a.held.mu.Unlock()
	return a.stop()
}

func (a *alarm) Reset(d time.Duration) bool {
	a.held.mu.Lock()
	defer a.held.mu.Unlock()
	was := a.stop()
	if a.at = a.held.now.Add(d); d > 0 {
		a.set()
	} else if a.call != nil {
		go a.call() // the caller may hold a lock that the function takes
	} else {
		a.ring()
	}
	return was
}

// stop reports whether the alarm was set. The caller holds the mutex, as for ring and set.
func (a *alarm) stop() bool {
	select {
	case <-a.c:
	default:
	}
	at := slices.Index(a.held.waiting, a)
	if at >= 0 {
		a.held.waiting = slices.Delete(a.held.waiting, at, at+1)
	}
	return at >= 0
}

func (a *alarm) ring() {
	select {
	case a.c <- a.held.now:
	default:
	}
	if a.every > 0 {
		a.at = a.held.now.Add(a.every)
		a.set()
	}
}

func (a *alarm) set() {
	h := a.held
	after := slices.IndexFunc(h.waiting, func(b *alarm) bool { return b.at.After(a.at) })
	if after < 0 {
		after = len(h.waiting)
	}
	h.waiting = slices.Insert(h.waiting, after, a)
	close(h.changed)
	h.changed = make(chan struct{})
}
