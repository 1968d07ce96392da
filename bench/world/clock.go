package main

import (
	"sync"
	"time"
	"unsafe"

	"muster/internal/clock"
)

// machine is the clock of one machine. It may jump, as when somebody sets it, and its timers stand
// while the machine's processes are stopped. Any goroutine may use it.
type machine struct {
	mu      sync.Mutex // guards following
	ahead   int64      // of the bubble's clock, in whole seconds
	isStill bool
	waiting []*alarm // whose time came while it stood
}

// Now returns the time. As on real machines, a jump shows in what people read, and not in the
// difference between two times: package time keeps both in one value, which a bubble's clock does not
// do, and which nobody else can make.
func (m *machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	both := struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}{1<<63 | uint64(now.Unix()+m.ahead-since1885)<<30 | uint64(now.Nanosecond()), now.UnixNano() - midnight, time.UTC}
	return *(*time.Time)(unsafe.Pointer(&both))
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

type alarm struct {
	of    *machine
	timer *time.Timer
	do    func()
}

// late is how much later than asked for an alarm wakes. Otherwise those of a room would meet the deadline of
// a save that began with one of them, and then goroutines decide.
const late = 17

func (a *alarm) Stop() bool                 { return a.timer.Stop() }
func (a *alarm) Reset(d time.Duration) bool { return a.timer.Reset(d + late) }

func (m *machine) AfterFunc(d time.Duration, f func()) clock.Alarm {
	a := &alarm{of: m, do: f}
	a.timer = time.AfterFunc(d+late, func() {
		m.mu.Lock()
		isStill := m.isStill
		if isStill {
			m.waiting = append(m.waiting, a)
		}
		m.mu.Unlock()
		if !isStill {
			f()
		}
	})
	return a
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
