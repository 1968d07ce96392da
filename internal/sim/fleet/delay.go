package fleet

import (
	"container/heap"
	"net/netip"
	"sync"
	"time"
)

// reply is what a server says to one query, held back until the round trip that
// the world has for it is over.
type reply struct {
	Exchange
	// due is when it leaves, since the fleet's start.
	due       time.Duration
	socket    *socket
	from      netip.Addr
	datagrams [][]byte
}

// delayLine holds replies until they are due, the earliest first.
type delayLine struct {
	alarm *alarm // rung when something new is the earliest

	mu      sync.Mutex // guards following
	replies replyHeap
	closed  bool
}

// push takes a reply.
func (l *delayLine) push(r *reply) {
	l.mu.Lock()
	heap.Push(&l.replies, r)
	first := l.replies[0] == r
	l.mu.Unlock()
	if first {
		l.alarm.ring()
	}
}

// pop gives the earliest reply if it is due, or says how long until it is; that
// is for ever if there is none. It is over when the line was closed.
func (l *delayLine) pop(now time.Duration) (r *reply, wait time.Duration, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, 0, true
	case len(l.replies) == 0:
		return nil, forever, false
	case l.replies[0].due > now:
		return nil, l.replies[0].due - now, false
	}
	return heap.Pop(&l.replies).(*reply), 0, false
}

// close lets go of whatever is not yet due.
func (l *delayLine) close() {
	l.mu.Lock()
	l.closed, l.replies = true, nil
	l.mu.Unlock()
	l.alarm.ring()
}

type replyHeap []*reply

func (h replyHeap) Len() int           { return len(h) }
func (h replyHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h replyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *replyHeap) Push(x any)        { *h = append(*h, x.(*reply)) }
func (h *replyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
