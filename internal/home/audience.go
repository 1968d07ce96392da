package home

import (
	"context"
	"sync"
	"time"
)

// audience are those who are woken when something is new: pages that people look at, and
// tabs that wait for a room. The zero value is nobody.
type audience struct {
	mu    sync.Mutex             // guards following
	wakes map[chan struct{}]bool // and whether it is a page that is open
}

// enrol takes a channel to wake; a page that people look at counts.
func (a *audience) enrol(wake chan struct{}, counts bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wakes == nil {
		a.wakes = map[chan struct{}]bool{}
	}
	a.wakes[wake] = counts
}

func (a *audience) leave(wake chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.wakes, wake)
}

// wake makes everybody look what is new.
func (a *audience) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for wake := range a.wakes {
		select {
		case wake <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// size returns how many pages are open, and how many tabs wait.
func (a *audience) size() (pages, tabs int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, counts := range a.wakes {
		if counts {
			pages++
		} else {
			tabs++
		}
	}
	return pages, tabs
}

// await waits until some page is open, or none, and reports whether that came before ctx
// ended.
func (a *audience) await(ctx context.Context, open bool) bool {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if pages, _ := a.size(); pages > 0 == open {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
