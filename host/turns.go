package host

import (
	"container/heap"
	"sync"
	"time"

	"muster/host/room"
)

// turns shares the processor between rooms that search for their server, which is nearly
// all that a host ever computes: so many at a time as there are processors. What else is
// to be done for people (pings, pages, newcomers, second looks) is then never behind
// more than one round of a search.
//
//	room.Plan ─▶ queue, by when the round began ─▶ given ─▶ room.Turn ─▶ over
//
// The oldest round comes first, and not each round of questions in its turn: of sixteen
// rooms that start in one second the first are done when all would be half way. Whatever
// goes on behind a choice that is made comes last.
type turns struct {
	mu    sync.Mutex // guards following
	free  int
	queue queue
	came  int // ever
}

// turn is a room's place in the queue, and what it waits for.
type turn struct {
	of *turns
	room.Plan
	since time.Time
	// given is closed when it is the room's turn.
	given chan struct{}
	// number is of who came first, and place that in the queue; outside is none.
	number, place int
	isOver        bool
}

const outside = -1

func newTurns(n int) *turns { return &turns{free: n} }

// wait queues. Whoever does has to say when it is over, also if it was not given.
func (t *turns) wait(p room.Plan) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &turn{of: t, Plan: p, since: time.Now(), given: make(chan struct{}), number: t.came}
	t.came++
	heap.Push(&t.queue, next)
	t.give()
	return next
}

// over ends a turn, or leaves the queue.
func (n *turn) over() {
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

// give has those go on for whom there is a processor.
func (t *turns) give() {
	for t.free > 0 && len(t.queue) > 0 {
		t.free--
		close(heap.Pop(&t.queue).(*turn).given)
	}
}

// queue has who is next at its head.
type queue []*turn

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
	n := x.(*turn)
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
