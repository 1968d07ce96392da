package sim

// queue is a heap: the first by before comes out first.
type queue[T interface{ before(T) bool }] []T

func (q *queue[T]) push(item T) {
	*q = append(*q, item)
	heap, i := *q, len(*q)-1
	for i > 0 && item.before(heap[(i-1)/2]) {
		heap[i] = heap[(i-1)/2]
		i = (i - 1) / 2
	}
	heap[i] = item
}

func (q *queue[T]) pop() T {
	heap := *q
	top, last := heap[0], len(heap)-1
	item := heap[last]
	*q = heap[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && heap[child+1].before(heap[child]) {
			child++
		}
		if child >= last || !heap[child].before(item) {
			heap[i] = item
			break
		}
		heap[i] = heap[child]
		i = child
	}
	return top
}
