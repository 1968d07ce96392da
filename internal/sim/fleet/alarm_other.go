//go:build !linux

package fleet

import (
	"time"
)

// alarm sleeps as precisely as Go's timers do on this system.
type alarm struct{ rung chan struct{} }

func newAlarm() (*alarm, error) { return &alarm{rung: make(chan struct{}, 1)}, nil }

// sleep returns after d, or earlier if ring is called. Only one goroutine may sleep.
func (a *alarm) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.rung:
	}
}

// ring ends the current sleep, or the next one at once.
func (a *alarm) ring() {
	select {
	case a.rung <- struct{}{}:
	default:
	}
}

func (a *alarm) close() error { return nil }
