// Package clock is the time that hosts and peers live by: what a room does when, how long a page hears
// nothing, when a ticket is too old. A program leaves it at the machine's clock. A test holds it (see
// package clocktest), and so does a simulation: then a stage of a room lasts until they let time pass.
//
// What happens between two machines or inside one stays on the machine's own clock, and calls package time:
// deadlines of sockets, and the pings that answer them; the pace of what is written (how often a room
// publishes, the pause between two frames for a page), or else nothing would be seen while time stands still;
// how long a store, a list or another host may take to answer; durations that are measured for metrics; TLS.
package clock

import "time"

// Clock tells the time and wakes. The zero value is [Machine].
type Clock struct{ source Source }

// Machine is the machine's own clock.
var Machine Clock

// Source is a time other than the machine's.
type Source interface {
	Now() time.Time
	// Wake sends the time to c after d, and then at intervals of every unless every is 0. A time
	// for which c has no space is dropped. Stop and Reset take back a time that nobody has
	// received.
	Wake(c chan time.Time, d, every time.Duration) Alarm
	// AfterFunc calls f after d, as [time.AfterFunc] does.
	AfterFunc(d time.Duration, f func()) Alarm
}

// Alarm is a timer that can be stopped and set again, as a [time.Timer] can.
type Alarm interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// From returns the clock that shows a source's time.
func From(source Source) Clock { return Clock{source} }

// Now returns the time.
func (c Clock) Now() time.Time {
	if c.source == nil {
		return time.Now()
	}
	return c.source.Now()
}

// Since returns how long ago t was.
func (c Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until returns how long it is until t.
func (c Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Timer is [time.Timer]. Without C it calls a function.
type Timer struct {
	C <-chan time.Time
	Alarm
}

// NewTimer is [time.NewTimer].
func (c Clock) NewTimer(d time.Duration) *Timer {
	if c.source == nil {
		t := time.NewTimer(d)
		return &Timer{t.C, t}
	}
	ticks := make(chan time.Time, 1)
	return &Timer{ticks, c.source.Wake(ticks, d, 0)}
}

// AfterFunc is [time.AfterFunc].
func (c Clock) AfterFunc(d time.Duration, f func()) *Timer {
	if c.source == nil {
		return &Timer{nil, time.AfterFunc(d, f)}
	}
	return &Timer{nil, c.source.AfterFunc(d, f)}
}

// After is [time.After].
func (c Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C }

// Ticker is [time.Ticker].
type Ticker struct {
	C <-chan time.Time
	// Stop ends the ticks.
	Stop func()
}

// NewTicker is [time.NewTicker].
func (c Clock) NewTicker(d time.Duration) *Ticker {
	if c.source == nil {
		t := time.NewTicker(d)
		return &Ticker{t.C, t.Stop}
	}
	ticks := make(chan time.Time, 1)
	alarm := c.source.Wake(ticks, d, d)
	return &Ticker{ticks, func() { alarm.Stop() }}
}
