package main

import (
	"sync"
	"time"
	"unsafe"

	"muster/internal/clock"
)

// machine is the clock of one machine. It may jump, as when somebody sets it, run fast or slow, or stand,
// and its timers wait while the machine's processes are stopped. Any goroutine may use it.
type machine struct {
	mu      sync.Mutex // guards following
	ahead   int64      // of the bubble's clock, in whole seconds
	percent int        // how fast it runs, 0 for as the bubble's clock does, and standing for not at all
	set     time.Time  // when it began to run so, by the bubble's clock, and shown, by its own; zero for never
	shown   time.Time
	isStill bool
	waiting []*alarm // whose time came while it stood
	pending map[*alarm]bool
}

// standing is the percentage of a clock that stands.
const standing = -1

// Now returns the time. As on real machines, a jump shows in what people read, and not in the
// difference between two times: package time keeps both in one value, which a bubble's clock does not
// do, and which nobody else can make.
func (m *machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	both := struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}{1<<63 | uint64(now.Unix()+m.ahead-since1885)<<30 | uint64(now.Nanosecond()), now.UnixNano() - midnight, time.UTC}
	return *(*time.Time)(unsafe.Pointer(&both))
}

// now returns the time that the clock shows but for jumps; the caller holds the lock.
func (m *machine) now() time.Time {
	now := time.Now()
	switch m.percent {
	case 0:
		return now.Add(m.shown.Sub(m.set))
	case standing:
		return m.shown
	}
	return m.shown.Add(now.Sub(m.set) * time.Duration(m.percent) / 100)
}

// The parts of a time count from 1885, and from when the program began. since1885 and midnight are when
// that was, in Unix time.
const (
	since1885 = -2_682_288_000
	midnight  = 946_684_800e9
)

// jump sets the clock so many seconds forward or back.
func (m *machine) jump(seconds int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += seconds
}

// run makes the clock run at a percentage of the bubble's speed from now on.
func (m *machine) run(percent int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown, m.set = m.now(), time.Now()
	m.percent = percent
	for a := range m.pending {
		a.start()
	}
}

// hold stops the timers, or lets them go on. What was due meanwhile is done in its order.
func (m *machine) hold(isStill bool) {
	m.mu.Lock()
	m.isStill = isStill
	var due []*alarm
	if !isStill {
		due, m.waiting = m.waiting, nil
	}
	m.mu.Unlock()
	for _, a := range due {
		a.do()
	}
}

// late is how much later than asked for an alarm wakes. Otherwise those of a room would meet the deadline of
// a save that began with one of them, and then goroutines decide.
const late = 17

// alarm is a timer of a machine. The machine's lock guards it.
type alarm struct {
	of    *machine
	due   time.Time // by the machine's clock
	timer *time.Timer
	do    func()
}

// start starts the timer, or lets it stand with the clock.
func (a *alarm) start() {
	in := a.due.Sub(a.of.now())
	switch a.of.percent {
	case 0:
	case standing:
		a.timer.Stop()
		return
	default: // up to the next nanosecond, and not so far that it overflows
		in = (min(in, then)*100 + time.Duration(a.of.percent) - 1) / time.Duration(a.of.percent)
	}
	a.timer.Reset(in)
}

func (a *alarm) Stop() bool {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.stop()
}

// stop stops the timer, and reports whether it ran; the caller holds the lock.
func (a *alarm) stop() bool {
	ran := a.of.pending[a]
	delete(a.of.pending, a)
	a.timer.Stop()
	return ran
}

func (a *alarm) Reset(d time.Duration) bool {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	ran := a.stop()
	a.due = a.of.now().Add(d + late)
	a.of.pending[a] = true
	a.start()
	return ran
}

func (m *machine) AfterFunc(d time.Duration, f func()) clock.Alarm {
	a := &alarm{of: m, do: f}
	a.timer = time.AfterFunc(time.Hour, func() {
		if m.rings(a) {
			f()
		}
	})
	a.Reset(d)
	return a
}

// rings reports whether an alarm does now what it is there for, and not once the machine goes on.
func (m *machine) rings(a *alarm) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.pending[a]: // somebody was faster
		return false
	case m.now().Before(a.due):
		a.start()
		return false
	}
	delete(m.pending, a)
	if m.isStill {
		m.waiting = append(m.waiting, a)
	}
	return !m.isStill
}

// timer is a timer with a channel, which keeps no old time after Stop or Reset.
type timer struct {
	*alarm
	c chan time.Time
}

func (t *timer) Stop() bool {
	was := t.alarm.Stop()
	t.drain()
	return was
}

func (t *timer) Reset(d time.Duration) bool {
	was := t.alarm.Reset(d)
	t.drain()
	return was
}

func (t *timer) drain() {
	select {
	case <-t.c:
	default:
	}
}

func (m *machine) Wake(c chan time.Time, d, every time.Duration) clock.Alarm {
	t := &timer{c: c}
	t.alarm = m.AfterFunc(d, func() {
		if every > 0 {
			t.alarm.Reset(every)
		}
		select {
		case c <- m.Now():
		default:
		}
	}).(*alarm)
	return t
}
