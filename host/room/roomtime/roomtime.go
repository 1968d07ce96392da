// Package roomtime is the clock that the parts of a room know: the time that a room has gone on,
// without what does not count against anybody.
//
//	the machine's clock ──▶ the driver's clock ──▶ room time
//	jumps, is set           no jumps               no pauses, goes on after a restart
//
// Limits, waits and turns are in room time. Dates, and what people read, are in the machine's time;
// [Clocks] turns one into the other, at the edge.
package roomtime

import "time"

// Time is a moment of a room. The zero value is never: it is before any other moment, and longer
// ago than any limit.
type Time time.Duration

// Opening is when a room opens: a year after never, so that never is longer ago than any limit.
const Opening = Time(365 * 24 * time.Hour)

// Add returns the moment after a duration.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the duration since another moment.
func (t Time) Sub(other Time) time.Duration { return time.Duration(t - other) }

// Before reports whether the moment is before another.
func (t Time) Before(other Time) bool { return t < other }

// After reports whether the moment is after another.
func (t Time) After(other Time) bool { return t > other }

// IsZero reports whether the moment is never.
func (t Time) IsZero() bool { return t == 0 }

// IsValid reports whether the moment can be of a room: not long before its opening, and within a
// century of it.
func (t Time) IsValid() bool { return t == 0 || t > Opening/2 && t < 100*Opening }

// Clocks are the room's time and the machine's at one moment.
type Clocks struct {
	Room Time
	Wall time.Time
}

// Of returns when a moment is, or was, by the machine's clock, as far as is known now: the room may
// pause before. Never is the zero time.
func (c Clocks) Of(t Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return c.Wall.Add(t.Sub(c.Room))
}
