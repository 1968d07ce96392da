package host

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// countingStore remembers rooms and counts how often they were written.
type countingStore struct {
	mu     sync.Mutex // guards following
	rooms  map[string][]byte
	saves  int
	closed bool
}

func newCountingStore() *countingStore { return &countingStore{rooms: map[string][]byte{}} }

func (s *countingStore) Load() (map[string][]byte, error) { return s.rooms, nil }
func (s *countingStore) Close() error                     { s.closed = true; return nil }

func (s *countingStore) Save(code string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[code] = data
	s.saves++
	return nil
}

func (s *countingStore) Delete(code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rooms, code)
	return nil
}

func (s *countingStore) count() (saves, rooms int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saves, len(s.rooms)
}

func noServers(context.Context, string) ([]discovery.Server, error) { return nil, nil }

// TestIdleRoom: a room in which nothing happens is saved once, and after a day
// without anyone it is gone, but for a note that it was.
func TestIdleRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCountingStore()
		h, err := New(Config{List: noServers, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		code, _ := h.Open(settings(2))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range h.Watch(context.Background(), code) {
			}
		}()
		time.Sleep(time.Hour)
		if saves, rooms := store.count(); saves != 1 || rooms != 1 {
			t.Errorf("an idle room was saved %d times", saves)
		}
		time.Sleep(24 * time.Hour)
		<-ended
		synctest.Wait()
		if !strings.HasPrefix(string(store.rooms[code]), `{"over":`) || len(store.rooms) != 1 || len(h.Rooms()) != 0 {
			t.Errorf("the room is still there a day later: %v, %s", h.Rooms(), store.rooms[code])
		}
		if err := h.Close(); err != nil || !store.closed {
			t.Errorf("Close: %v; the store is closed: %v", err, store.closed)
		}
	})
}

// TestSavedBeforeSaid: nobody hears of a new stage before the store has it, and
// what happens all the time is written now and then.
func TestSavedBeforeSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCountingStore()
		h, err := New(Config{Store: store, List: func(context.Context, string) ([]discovery.Server, error) { return listOf(2), nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		code, _ := h.Open(settings(0))
		a := h.actor(code)
		do := func(act func()) { a.post(act); synctest.Wait() }
		do(func() {
			_, effects, _ := a.room.Join(wire.Hello{Name: "ann"}, Origin{}, "token", time.Now())
			a.perform(effects)
		})
		h.Go(code)
		synctest.Wait()
		if room, err := Restore(store.rooms[code]); err != nil || room.Stage != wire.Measuring || len(room.Servers) != 2 {
			t.Errorf("when everyone has the list, the store has %+v, %v", room, err)
		}
		before, _ := store.count()
		for range 100 { // 10 seconds of reports
			do(func() { a.room.Receive("ann", wire.Report{Round: 1, Results: results([]int{10})}, time.Now()) })
			time.Sleep(100 * time.Millisecond)
		}
		if saves, _ := store.count(); saves-before > 6 {
			t.Errorf("10 seconds of reports were saved %d times", saves-before)
		}
		do(func() { a.room.Receive("ann", wire.Report{Round: 1, Results: results([]int{10, 20})}, time.Now()) })
		h.Close()
		if room, err := Restore(store.rooms[code]); err != nil || room.Members[0].Probed != 2 {
			t.Errorf("the last report before Close is not in the store: %+v, %v", room, err)
		}
	})
}

// TestListTime: a list that never comes fails the round, not the room.
func TestListTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := New(Config{List: func(ctx context.Context, _ string) ([]discovery.Server, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		code, _ := h.Open(settings(0))
		a := h.actor(code)
		a.post(func() {
			_, effects, _ := a.room.Join(wire.Hello{Name: "ann"}, Origin{}, "token", time.Now())
			a.perform(effects)
		})
		h.Go(code)
		time.Sleep(listTime + time.Second)
		if room, _ := h.Room(code); room.Stage != wire.Failed {
			t.Errorf("the room is %s after %v", room.Stage, listTime)
		}
	})
}

// TestBoard: a slow watcher misses states, never the last one.
func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(wire.Room{})
		ctx, cancel := context.WithCancel(t.Context())
		var seen []int
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for room := range b.watch(ctx, t.Context()) {
				seen = append(seen, room.Round)
				time.Sleep(time.Second)
			}
		}()
		synctest.Wait()
		for round := range 1000 {
			if !b.lacks(wire.Room{Round: round + 1}) {
				t.Error("a new state is not new")
			}
			b.show(wire.Room{Round: round + 1})
			time.Sleep(10 * time.Millisecond)
		}
		if b.lacks(wire.Room{Round: 1000}) {
			t.Error("the same state is new")
		}
		time.Sleep(2 * time.Second)
		cancel()
		<-ended
		if len(seen) > 13 || seen[len(seen)-1] != 1000 {
			t.Errorf("the watcher saw %v", seen)
		}
	})
}
