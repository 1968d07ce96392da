package ownhost

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// stillLoads is how soon after a file of the page its next one is asked for at the latest: a page
	// rests for a second before it loads what the first screen does not need.
	stillLoads = 3 * time.Second
	// lingersMost is the longest wait for pages, also for one over a slow line.
	maxLinger = 10 * time.Second
)

// pages serves the page's files, and notes when one was last under way.
type pages struct {
	http.Handler
	mu   sync.Mutex // guards the fields below
	busy int
	last time.Time
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.note(+1)
	defer p.note(-1)
	p.Handler.ServeHTTP(w, r)
}

func (p *pages) note(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy, p.last = p.busy+more, time.Now()
}

// rest returns how long it takes until no page loads any more, if none asks for more.
func (p *pages) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy > 0 {
		return stillLoads
	}
	return stillLoads - time.Since(p.last)
}

// settle waits until no page loads any more, but not after ctx has ended.
func (p *pages) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxLinger)
	defer cancel()
	for rest := p.rest(); rest > 0; rest = p.rest() {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// Linger serves pages that are still loading for a few seconds more. Otherwise a friend who has
// just opened the page of a room that ends would see only its first screen.
func (h *Host) Linger(ctx context.Context) { h.pages.settle(ctx) }
