// Package turns shares the processors of a host between rooms that search for their server.
package turns

import (
	"container/heap"
	"sync"
	"time"

	"muster/host/room"
)

// Turns lets as many rooms search at a time as there are processors. Searches are nearly all of a
// host's computing. So everything else that people wait for (pings, pages, newcomers, second looks)
// waits for at most one round of a search.
//
//	room.Plan ─▶ queue, by when the round began ─▶ Given ─▶ room.Turn ─▶ Over
//
// The oldest round comes first. Of sixteen rooms that start in one second, the first are then done
// when all would be half way if they took turns. A search that continues after a choice comes last.
type Turns struct {
	mu    sync.Mutex // guards following
	all   int        // as many search at a time
	free  int
	queue queue
	came  int // since the start
}

// Turn is a room's place in the queue.
type Turn struct {
	of *Turns
	room.Plan
	since time.Time
	given chan struct{}
	// number is smaller for a room that came earlier. place is the index in the queue, or the
	// constant outside.
	number, place int
	isOver        bool
}

const outside = -1

// New lets n rooms search at a time.
func New(n int) *Turns { return &Turns{all: n, free: n} }

// Wait queues a room for a turn. The room must say when its turn is over, even if it was never
// given.
func (t *Turns) Wait(p room.Plan) *Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &Turn{of: t, Plan: p, since: time.Now(), given: make(chan struct{}), number: t.came}
	t.came++
	heap.Push(&t.queue, next)
	t.give()
	return next
}

// Load returns how many rooms search now, and how many wait for a turn.
func (t *Turns) Load() (searching, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all - t.free, len(t.queue)
}

// Given returns a channel that is closed when the room's turn comes.
func (n *Turn) Given() <-chan struct{} { return n.given }

// Waited returns how long ago the room began to wait.
func (n *Turn) Waited() time.Duration { return time.Since(n.since) }

// Over ends the turn, or leaves the queue.
func (n *Turn) Over() {
	t := n.of
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case n.isOver:
		return
	case n.place == outside:
		t.free++
	default:
		heap.Remove(&t.queue, n.place)
	}
	n.isOver = true
	t.give()
}

// give gives turns while processors are free. The caller holds the mutex.
func (t *Turns) give() {
	for t.free > 0 && len(t.queue) > 0 {
		t.free--
		close(heap.Pop(&t.queue).(*Turn).given)
	}
}

// queue is a heap with the next room at its head.
type queue []*Turn

func (l queue) Len() int { return len(l) }

func (l queue) Less(i, j int) bool {
	a, b := l[i], l[j]
	switch {
	case a.Background != b.Background:
		return b.Background
	case !a.Since.Equal(b.Since) && !a.Background:
		return a.Since.Before(b.Since)
	}
	return a.number < b.number
}

func (l queue) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

func (l *queue) Push(x any) {
	n := x.(*Turn)
	n.place = len(*l)
	*l = append(*l, n)
}

func (l *queue) Pop() any {
	last := len(*l) - 1
	n := (*l)[last]
	(*l)[last] = nil
	*l, n.place = (*l)[:last], outside
	return n
}
