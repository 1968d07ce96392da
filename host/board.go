package host

import (
	"context"
	"iter"
	"sync"
)

// board shows the newest state to any number of watchers. A slow watcher misses states, but never
// the last one.
type board[T any] struct {
	mu      sync.Mutex // guards following
	newest  T
	changed chan struct{} // closed when newest is replaced
}

func newBoard[T any](first T) *board[T] {
	return &board[T]{newest: first, changed: make(chan struct{})}
}

// show replaces the newest state.
func (b *board[T]) show(state T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.newest = state
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *board[T]) get() (T, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest, b.changed
}

// watch yields the newest state now and at each change, until the watcher or the room ends.
func (b *board[T]) watch(watcher, room context.Context) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			newest, changed := b.get()
			if !yield(newest) {
				return
			}
			select {
			case <-changed:
			case <-room.Done():
				if last, again := b.get(); again != changed { // the room's last state
					yield(last)
				}
				return
			case <-watcher.Done():
				return
			}
		}
	}
}
