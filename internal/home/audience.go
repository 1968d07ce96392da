package home

import (
	"context"
	"sync"
	"time"
)

// audience wakes its members when something is new: open pages, and tabs that wait for a room. The
// zero value has no members.
type audience struct {
	mu    sync.Mutex             // guards what follows
	wakes map[chan struct{}]bool // and whether it is an open page
}

// enrol adds a channel to wake. counts says that it is an open page.
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

// wake tells every member to look for news.
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

// await waits until a page is open, or until none is. It reports whether that happened before ctx
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
