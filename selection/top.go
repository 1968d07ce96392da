package selection

import "slices"

// top keeps the first of many items in order, in whatever order they come.
type top[T any] struct {
	limit   int // how many; 0 is all
	compare func(a, b T) int
	items   []T
}

func (t *top[T]) add(item T) {
	if t.limit == 0 {
		t.items = append(t.items, item)
		return
	}
	if len(t.items) == t.limit {
		if t.compare(item, t.items[t.limit-1]) >= 0 {
			return
		}
		t.items = t.items[:t.limit-1]
	}
	i, _ := slices.BinarySearchFunc(t.items, item, t.compare)
	t.items = slices.Insert(t.items, i, item)
}

// sorted returns the kept items in order.
func (t *top[T]) sorted() []T {
	if t.limit == 0 {
		slices.SortFunc(t.items, t.compare)
	}
	return t.items
}
