package player

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const (
	// rings is how many rings of the timer the lateness is of: those of 5 seconds.
	rings = 50
	// punctual is the share of rings that come no later than the lateness. A single stall
	// says nothing of the machine.
	punctual = 0.9
	// worthTelling is from which change on the host is told.
	worthTelling = 10 * time.Millisecond
)

// lateness is by how much this machine's timers ring late: what it measures may be too long
// by as much. The zero value knows nothing yet.
type lateness struct {
	due  time.Time
	last []time.Duration // the newest rings
	told time.Duration
}

// rang notes that a timer that rings again and again has done so.
func (l *lateness) rang(now time.Time, every time.Duration) {
	if l.due.IsZero() {
		l.due = now
	}
	late := max(0, now.Sub(l.due))
	l.last = append(l.last[max(0, len(l.last)+1-rings):], late)
	l.due = l.due.Add((late/every + 1) * every)
	if now.Before(l.due.Add(-every)) { // it rings sooner than it was thought to
		l.due = now.Add(every)
	}
}

// news is what the host is to be told, if it is anything new.
func (l *lateness) news() (m wire.Late, isNews bool) {
	if len(l.last) < rings {
		return m, false
	}
	if slices.Max(l.last)-l.told < worthTelling && l.told-slices.Min(l.last) < worthTelling {
		return m, false // which is nearly always so, and this is asked many times a second
	}
	sorted := slices.Sorted(slices.Values(l.last))
	by := min(sorted[int(punctual*rings)].Truncate(time.Millisecond), wire.MostLate)
	if (by - l.told).Abs() < worthTelling {
		return m, false
	}
	l.told = by
	return wire.Late{By: discovery.Millis(by)}, true
}
