package host

import (
	"context"
	"iter"
	"reflect"
	"sync"

	"muster/host/wire"
)

// board shows the newest state of a room to any number of watchers. A watcher
// that is slow misses states, never the last one.
type board struct {
	mu      sync.Mutex // guards following
	room    wire.Room
	changed chan struct{} // closed when room is replaced
}

func newBoard(room wire.Room) *board { return &board{room: room, changed: make(chan struct{})} }

// set shows a state, and reports whether it is a new one.
func (b *board) set(room wire.Room) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if reflect.DeepEqual(b.room, room) {
		return false
	}
	b.room = room
	close(b.changed)
	b.changed = make(chan struct{})
	return true
}

func (b *board) get() (wire.Room, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room, b.changed
}

// watch yields the newest state, now and whenever it changes, until the watcher
// or the room ends.
func (b *board) watch(watcher, room context.Context) iter.Seq[wire.Room] {
	return func(yield func(wire.Room) bool) {
		for {
			newest, changed := b.get()
			if !yield(newest) {
				return
			}
			select {
			case <-changed:
			case <-room.Done():
				return
			case <-watcher.Done():
				return
			}
		}
	}
}
