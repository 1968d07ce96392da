package sim

import "time"

// queue holds events by time. The earliest comes out first, and of several at the same time the one
// that was put in first.
type queue[T any] struct {
	heap  []timed[T]
	count int // of all that were put in
}

type timed[T any] struct {
	at   time.Duration
	nth  int
	item T
}

func (t *timed[T]) isBefore(other *timed[T]) bool {
	return t.at < other.at || t.at == other.at && t.nth < other.nth
}

func (q *queue[T]) push(at time.Duration, item T) {
	t := timed[T]{at, q.count, item}
	q.count++
	q.heap = append(q.heap, t)
	i := len(q.heap) - 1
	for i > 0 && t.isBefore(&q.heap[(i-1)/2]) {
		q.heap[i] = q.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	q.heap[i] = t
}

// hasBy reports whether there is an event by a time.
func (q *queue[T]) hasBy(until time.Duration) bool {
	return len(q.heap) > 0 && q.heap[0].at <= until
}

func (q *queue[T]) pop() (at time.Duration, item T) {
	top, last := q.heap[0], len(q.heap)-1
	t := q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && q.heap[child+1].isBefore(&q.heap[child]) {
			child++
		}
		if child >= last || !q.heap[child].isBefore(&t) {
			q.heap[i] = t
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	return top.at, top.item
}
