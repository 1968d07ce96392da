package host

import (
	"context"
	"sync"
	"sync/atomic"
)

// lifetime is the order in which a host ends: first its rooms, then the connections, then the rest.
type lifetime struct {
	// ctx is for the rooms. lines is for the connections, which outlive the rooms. saves is for
	// writes to the store, and outlives both. goodbyes ends when rooms may tell people that the
	// host ends.
	ctx, goodbyes, lines, saves        context.Context
	cancel, sayGoodbye, hangUp, giveUp context.CancelFunc
	abandoned                          atomic.Bool // the host ends before its work is done

	mu     sync.Mutex // guards closed
	closed bool
	work   sync.WaitGroup // connections and all else; see begin
}

func newLifetime() *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.goodbyes, l.sayGoodbye = context.WithCancel(context.Background())
	l.lines, l.hangUp = context.WithCancel(context.Background())
	l.saves, l.giveUp = context.WithCancel(context.Background())
	return l
}

// begin starts a goroutine that Close waits for. It returns false if the host has closed.
func (l *lifetime) begin(do func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.work.Go(do)
	}
	return !l.closed
}
