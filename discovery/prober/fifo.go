package prober

// fifo is a queue that allocates only while it grows.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// first is the oldest item; there must be one.
func (q *fifo[T]) first() T { return q.items[q.head] }

func (q *fifo[T]) pop() T {
	item := q.items[q.head]
	q.head++
	return item
}
