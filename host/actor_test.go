package host

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/hosttest"
	"muster/host/lists"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/turns"
	"muster/host/wire"
	"muster/selection"
)

func friday(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func someServers(n int) []discovery.Server {
	list := make([]discovery.Server, n)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + i>>8), byte(i)}), 27960)
	}
	return list
}

// reportOf returns a player's report on the first few servers.
func reportOf(servers int) wire.Report {
	report := wire.Report{Round: 1}
	for server := range servers {
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: 10 * time.Millisecond})
	}
	return report
}

func noServers(context.Context, string) ([]discovery.Server, error) { return nil, nil }

// idOf returns the ID of a player, or the name if nobody has it.
func (a *actor) idOf(name string) people.ID {
	for i := range 9 {
		if id := people.Nth(i + 1); a.room.Names().Of(id) == name {
			return id
		}
	}
	return people.ID(name)
}

// TestIdleRoom checks that an idle room is saved once, and that after a day without anyone only its
// tombstone is left.
func TestIdleRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewFakeStore()
		h, err := New(Config{List: noServers, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		code, _, _ := h.Open(friday(2))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range h.Watch(context.Background(), code) {
			}
		}()
		time.Sleep(time.Hour)
		if saves := store.count(); saves != 1 || !store.Has(code) {
			t.Errorf("an idle room was saved %d times", saves)
		}
		time.Sleep(24 * time.Hour)
		<-ended
		synctest.Wait()
		if !store.rooms[code].over || !store.Has() || len(h.Rooms()) != 0 {
			t.Errorf("the room is still there a day later: %v, %+v", h.Rooms(), store.rooms[code])
		}
		if err := h.Close(); err != nil || !store.closed {
			t.Errorf("Close: %v; the store is closed: %v", err, store.closed)
		}
	})
}

// TestQuietRooms checks that rooms that wait for one more player, or that play, never look at the
// time. A room that measures does so ten times a second.
func TestQuietRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewFakeStore()
		h, a := onStore(t, store)
		defer h.Close()
		join := func(name string) {
			a.post(func() { a.room.Step(room.Join{Hello: wire.Hello{Name: name}, Token: name}, a.moment()) })
		}
		looks := func(d time.Duration) int {
			before := store.looked()
			time.Sleep(d)
			synctest.Wait()
			return store.looked() - before
		}
		join("ann")
		time.Sleep(time.Minute)
		if n := looks(20 * time.Hour); n > 0 {
			t.Errorf("a room whose players are all here did something %d times in 20 hours", n)
		}
		a.post(func() { a.step(room.PageOpened{Token: "nobody's"}, asker{}) })
		if n := looks(time.Hour); n > 10 {
			t.Errorf("after something small a room did something %d times", n)
		}
		h.Go(a.code)
		time.Sleep(time.Second)
		if n := looks(10 * time.Second); n < 90 || n > 300 {
			t.Errorf("a room that measures did something %d times in 10 seconds", n)
		}
	})
}

// TestDesertedRooms checks rooms whose players are all gone, as after a restart. Such a room looks
// at the time only when something is due: a gathering group's places are freed after two and a half
// minutes, and a measuring room gives up after half an hour.
func TestDesertedRooms(t *testing.T) {
	for _, tt := range []struct {
		name    string
		starts  bool
		restart bool
		within  time.Duration
		is      func(wire.Snapshot) bool
	}{
		{"gathering", false, false, 151 * time.Second, func(s wire.Snapshot) bool { return len(s.Players()) == 0 }},
		{"gathering, restored", false, true, 151 * time.Second, func(s wire.Snapshot) bool { return len(s.Players()) == 0 }},
		{"measuring", true, false, 35 * time.Minute, func(s wire.Snapshot) bool { return s.Room.Stage == wire.Failed }},
		{"measuring, restored", true, true, 35 * time.Minute, func(s wire.Snapshot) bool { return s.Room.Stage == wire.Failed }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := NewFakeStore()
				h, a := onStore(t, store)
				for _, name := range []string{"ann", "bob", "cat"} {
					a.post(func() { a.room.Step(room.Join{Hello: wire.Hello{Name: name}, Token: name}, a.moment()) })
				}
				if tt.starts {
					h.Go(a.code)
					time.Sleep(time.Second)
				}
				for _, name := range []string{"ann", "bob", "cat"} {
					a.post(func() { a.step(room.Leave{Player: a.idOf(name)}, asker{}) })
				}
				if tt.restart {
					h.Drain(t.Context())
					next, err := New(h.config)
					if err != nil {
						t.Fatal(err)
					}
					h = next
				}
				defer h.Close()
				time.Sleep(5 * time.Second) // meanwhile it is saved and shown
				before := store.looked()
				time.Sleep(tt.within - 30*time.Second)
				synctest.Wait()
				if n := store.looked() - before; n > 400 { // it measures for half a minute, then it gives up
					t.Errorf("until its time was up it did something %d times", n)
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if s, _ := h.Room(a.code); !tt.is(s) {
					t.Errorf("after %v there are %d players, and the stage is %s", tt.within, len(s.Players()), s.Room.Stage)
				}
				before = store.looked()
				time.Sleep(10 * time.Hour)
				synctest.Wait()
				if n := store.looked() - before; n > 60 {
					t.Errorf("then it did something %d times in ten hours", n)
				}
			})
		})
	}
}

// TestSavedBeforeSaid checks that players see a new stage only when the store has it, and that
// frequent events are saved only now and then.
func TestSavedBeforeSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewFakeStore()
		h, err := New(Config{Store: store, List: func(context.Context, string) ([]discovery.Server, error) { return someServers(2), nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		code, _, _ := h.Open(friday(0))
		a := h.actor(code)
		do := func(act func()) { a.post(act); synctest.Wait() }
		do(func() {
			a.room.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "token"}, a.moment())
		})
		h.Go(code)
		synctest.Wait()
		if r, err := room.Restore(store.Of(code), topology.New); err != nil ||
			r.Snapshot().Room.Stage != wire.Measuring || r.Snapshot().Room.Listed != 2 {
			t.Errorf("when everyone has the list, the store has %+v, %v", r, err)
		}
		before := store.count()
		for range 100 { // 10 seconds of reports
			do(func() { a.step(room.Hear{Player: a.idOf("ann"), Message: reportOf(1)}, asker{}) })
			time.Sleep(100 * time.Millisecond)
		}
		if saves := store.count(); saves-before > 6 {
			t.Errorf("10 seconds of reports were saved %d times", saves-before)
		}
		do(func() { a.step(room.Hear{Player: a.idOf("ann"), Message: reportOf(2)}, asker{}) })
		h.Close()
		if r, err := room.Restore(store.Of(code), topology.New); err != nil || r.Snapshot().People[0].Probed != 2 {
			t.Errorf("the last report before Close is not in the store: %+v, %v", r, err)
		}
	})
}

// TestListTime checks that a list that never comes fails the round, but not the room.
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
		code, _, _ := h.Open(friday(0))
		a := h.actor(code)
		a.post(func() {
			a.room.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "token"}, a.moment())
		})
		h.Go(code)
		time.Sleep(lists.Longest + time.Second)
		if room, _ := h.Room(code); room.Room.Stage != wire.Failed {
			t.Errorf("the room is %s after %v", room.Room.Stage, lists.Longest)
		}
	})
}

// TestBoard checks that a slow watcher misses states, but never the last one.
func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		ctx, cancel := context.WithCancel(t.Context())
		var seen []int
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for round := range b.watch(ctx, t.Context()) {
				seen = append(seen, round)
				time.Sleep(time.Second)
			}
		}()
		synctest.Wait()
		for round := range 1000 {
			b.show(round + 1)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		cancel()
		<-ended
		if len(seen) > 13 || seen[len(seen)-1] != 1000 {
			t.Errorf("the watcher saw %v", seen)
		}
	})
}

// TestSearchQueues checks that a room whose search waits for other rooms' searches still answers,
// and goes on as soon as it can.
func TestSearchQueues(t *testing.T) {
	t.Parallel()
	h, err := New(Config{List: func(context.Context, string) ([]discovery.Server, error) { return someServers(300), nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() { server.Close(); h.Close() })
	h.turns = turns.New(1)
	others := h.turns.Wait(room.Plan{})
	settings := friday(1)
	settings.Strategy = wire.Coordinated
	code, _, _ := h.Open(settings)
	ann := hosttest.Join(t, server.URL, nil, wire.Hello{Version: wire.Version, Code: code, Name: "ann"})
	for range h.Watch(t.Context(), code) {
		if _, waiting := h.turns.Load(); waiting > 0 {
			break
		}
	}
	if room, _ := h.Room(code); room.Room.Stage != wire.Refining {
		t.Errorf("the room that waits for its turn is %s", room.Room.Stage)
	}
	if _, answers := h.Settings(code); !answers {
		t.Error("a room does not answer while its search waits")
	}
	others.Over()
	hosttest.Expect[wire.Ask](ann)
}

// TestTurnOfAWaitingRoom checks that a room that waits for its store leaves its turn to others.
func TestTurnOfAWaitingRoom(t *testing.T) {
	around := &surroundings{turns: turns.New(1)}
	a, b := &actor{surroundings: around, plan: &room.Plan{}}, &actor{surroundings: around, plan: &room.Plan{Since: time.Unix(1, 0)}}
	is := func(given <-chan struct{}) bool {
		select {
		case <-given:
			return true
		default:
			return false
		}
	}
	if !is(a.enqueue(false)) || is(b.enqueue(false)) {
		t.Fatal("not one at a time")
	}
	if is(a.enqueue(true)) || !is(b.enqueue(false)) {
		t.Error("a room that waits for its store keeps its turn")
	}
	if is(a.enqueue(false)) {
		t.Error("it is two rooms' turn")
	}
	if b.turn.Over(); !is(a.enqueue(false)) {
		t.Error("the room's turn never comes again")
	}
}
