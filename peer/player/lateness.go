package player

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const (
	// rings is how many timer rings the lateness covers: 5 seconds of them.
	rings = 50
	// punctual is the share of rings that are no later than the lateness. A single stall says nothing about the
	// machine.
	punctual = 0.9
	// worthTelling is the smallest change that the host learns of.
	worthTelling = 10 * time.Millisecond
)

// lateness measures how late this machine's timers ring. Its RTTs may be too long by the same amount. The zero value
// knows nothing yet.
type lateness struct {
	due  time.Time
	last []time.Duration // of the newest rings
	told time.Duration
}

// rang notes a ring of a repeating timer.
func (l *lateness) rang(now time.Time, every time.Duration) {
	if l.due.IsZero() {
		l.due = now
	}
	late := max(0, now.Sub(l.due))
	l.last = append(l.last[max(0, len(l.last)+1-rings):], late)
	l.due = l.due.Add((late/every + 1) * every)
	if now.Before(l.due.Add(-every)) { // the ring is earlier than expected
		l.due = now.Add(every)
	}
}

// news returns what to tell the host, if it has changed.
func (l *lateness) news() (m wire.Late, isNews bool) {
	if len(l.last) < rings {
		return m, false
	}
	if slices.Max(l.last)-l.told < worthTelling && l.told-slices.Min(l.last) < worthTelling {
		return m, false // almost always, and this runs many times a second
	}
	sorted := slices.Sorted(slices.Values(l.last))
	by := min(sorted[int(punctual*rings)].Truncate(time.Millisecond), wire.MaxLate)
	if (by - l.told).Abs() < worthTelling {
		return m, false
	}
	l.told = by
	return wire.Late{By: discovery.Millis(by)}, true
}
