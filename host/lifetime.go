package host

import (
	"context"
	"sync"
	"sync/atomic"
)

// lifetime is how a host ends: first its rooms, then the connections, then the rest.
type lifetime struct {
	// ctx is the rooms', lines the connections', which outlive them, and saves that of what
	// is told to the store, which outlives both.
	ctx, lines, saves      context.Context
	cancel, hangUp, giveUp context.CancelFunc
	abandoned              atomic.Bool // it ends without all that it began

	mu     sync.Mutex // guards closed
	closed bool
	work   sync.WaitGroup // connections and all else; see begin
}

func newLifetime() *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.lines, l.hangUp = context.WithCancel(context.Background())
	l.saves, l.giveUp = context.WithCancel(context.Background())
	return l
}

// begin starts a goroutine that Close waits for, unless it is too late.
func (l *lifetime) begin(do func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.work.Go(do)
	}
	return !l.closed
}
