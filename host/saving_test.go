package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// joins adds a person through a page, which binds; the channel gets the result.
func (a *actor) joins(name string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := a.query(room.Order{Action: room.Enter{Name: name, Token: "token of " + name}}, nil)
		done <- err
	}()
	return done
}

// isDone reports whether there is a result yet.
func isDone(done <-chan error) (err error, is bool) {
	synctest.Wait()
	select {
	case err := <-done:
		return err, true
	default:
		return nil, false
	}
}

// sees returns the people that readers see in the room, and the reason for which it waits, as they
// read it.
func (a *actor) sees() (people []string, held sentence.Sentence) {
	view, _ := a.views.get()
	for _, p := range view.Snapshot.People {
		people = append(people, p.Name)
	}
	return people, view.Snapshot.Room.Held
}

func onStore(t *testing.T, s *FakeStore) (*Host, *actor) {
	t.Helper()
	h, err := New(Config{Store: s, List: func(context.Context, string) ([]discovery.Server, error) { return someServers(2), nil }})
	if err != nil {
		t.Fatal(err)
	}
	code, _, err := h.Open(friday(0))
	if err != nil {
		t.Fatal(err)
	}
	return h, h.actor(code)
}

// TestKeptBeforeSaid checks that nobody learns of a place in any way before the store has it.
// Meanwhile the room stands still, and after a second people read why.
func TestKeptBeforeSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		h, a := onStore(t, s)
		defer h.Close()
		time.Sleep(publishEvery)
		s.set(func() { s.takes = 3 * time.Second })
		ann := a.joins("ann")
		time.Sleep(holdAfter / 2)
		bob := a.joins("bob")
		if _, is := isDone(ann); is {
			t.Error("ann hears of her place before it is kept")
		}
		if people, held := a.sees(); len(people) > 0 || !held.IsZero() {
			t.Errorf("people see %v, %q", people, held)
		}
		time.Sleep(holdAfter)
		if people, words := a.sees(); len(people) > 0 || words != heldSentence {
			t.Errorf("after a second people see %v, %q", people, words)
		}
		var refusal *wire.Refusal
		if err, is := isDone(bob); !is || !errors.As(err, &refusal) || refusal.Reason != wire.ReasonBusy || refusal.Says != heldSentence {
			t.Errorf("bob, who comes meanwhile, hears %v", err)
		}
		s.isWell()
		time.Sleep(2 * time.Second)
		if err, is := isDone(ann); !is || err != nil {
			t.Errorf("ann hears %v once it is kept", err)
		}
		if people, held := a.sees(); len(people) != 1 || !held.IsZero() {
			t.Errorf("then people see %v, %q", people, held)
		}
	})
}

// TestAway checks that rooms stand still while a host cannot be sure that they are its own. People
// are told at once, and then the rooms go on from the same state.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		h, a := onStore(t, s)
		defer h.Close()
		for _, name := range []string{"ann", "bob"} {
			a.post(func() { a.room.Step(room.Join{Hello: wire.Hello{Name: name}, Token: name}, a.moment()) })
		}
		h.Go(a.code)
		time.Sleep(time.Second)
		a.report("ann", "bob")
		before, _ := h.Room(a.code)
		s.Away(true)
		synctest.Wait()
		if _, words := a.sees(); words != heldSentence {
			t.Errorf("people read %q", words)
		}
		told := make(chan bool)
		go func() { a.report("ann", "bob"); close(told) }() // it waits
		time.Sleep(10 * time.Minute)
		if err, is := isDone(a.joins("cat")); !is || err == nil {
			t.Errorf("cat hears %v", err)
		}
		select {
		case <-told:
			t.Error("something has happened to the room")
		default:
		}
		s.Away(false)
		time.Sleep(time.Second)
		<-told
		after, _ := h.Room(a.code)
		if after.Room.Stage != before.Room.Stage || !after.Room.Held.IsZero() || !after.Room.Since.Equal(before.Room.Since.Add(10*time.Minute)) {
			t.Errorf("it was %s since %v, and is %s since %v", before.Room.Stage, before.Room.Since, after.Room.Stage, after.Room.Since)
		}
		if note := after.Log[len(after.Log)-1].String(); note != "the host couldn’t save anything for 10 minutes: everything waited, and goes on now" {
			t.Errorf("the log ends with %q", note)
		}
		for _, p := range after.People {
			if p.LeftOut {
				t.Errorf("%s is left out", p.Name)
			}
		}
	})
}

// TestUnknownSave checks that a save with an unknown result is retried until the result is known.
// Only then is the step shown, once.
func TestUnknownSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		h, a := onStore(t, s)
		defer h.Close()
		time.Sleep(time.Second)
		s.set(func() { s.fails = store.ErrAway }) // although the host is still trusted
		ann := a.joins("ann")
		time.Sleep(5 * time.Second)
		if _, is := isDone(ann); is {
			t.Error("ann hears of her place before it is kept")
		}
		if saves := s.count(); saves < 5 || saves > 15 {
			t.Errorf("it was tried %d times in 5 seconds", saves)
		}
		if why := h.keeper.storeTrouble(); why == "" {
			t.Error("the host is ready, though it keeps no room")
		}
		s.isWell()
		time.Sleep(time.Second)
		if err, is := isDone(ann); !is || err != nil {
			t.Errorf("ann hears %v once it is kept", err)
		}
	})
}

// twoHosts returns two hosts that share rooms; the first has opened one.
func twoHosts(t *testing.T) (first *FakeStore, one, other *Host, a *actor) {
	first = NewFakeStore()
	one, a = onStore(t, first)
	other, err := New(Config{Store: first.On("two"), List: noServers})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	return first, one, other, a
}

// isNeverSaid checks that the first host never tells of ann's place, no longer has the room, and
// leaves it alone.
func isNeverSaid(t *testing.T, ann <-chan error, one, other *Host, a *actor) {
	t.Helper()
	var refusal *wire.Refusal
	if err, is := isDone(ann); !is || !errors.As(err, &refusal) || refusal.Reason != wire.ReasonMoved {
		t.Errorf("ann hears %v", err)
	}
	if people, _ := a.sees(); len(people) > 0 || len(one.Rooms()) > 0 {
		t.Errorf("people see %v, and the first host has the rooms %v", people, one.Rooms())
	}
	if len(other.Rooms()) != 1 || other.actor(a.code).claim.Epoch() != 2 {
		t.Errorf("the second host has the rooms %v", other.Rooms())
	}
	one.Close()
	if err := <-other.actor(a.code).joins("bob"); err != nil {
		t.Errorf("at the second host bob hears %v", err)
	}
}

// TestFenced checks that a host that has lost a room shows none of its pending steps.
func TestFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, other, a := twoHosts(t)
		defer one.Close()
		defer other.Close()
		s.Dies()
		synctest.Wait()
		s.set(func() { s.takes = time.Second })
		ann := a.joins("ann")
		time.Sleep(2 * time.Second)
		s.isWell()
		isNeverSaid(t, ann, one, other, a)
	})
}

// TestStopped checks a host that has saved, was stopped before it said anything, and resumes when
// another host has the room. It must say nothing.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, other, a := twoHosts(t)
		defer one.Close()
		defer other.Close()
		s.set(func() { s.kept = func() { s.away["one"] = true } })
		ann := a.joins("ann")
		time.Sleep(time.Minute)
		if _, is := isDone(ann); is {
			t.Error("ann hears of a place from a host that cannot trust what it has")
		}
		s.Dies()
		time.Sleep(time.Second)
		s.Away(false)
		time.Sleep(time.Second)
		isNeverSaid(t, ann, one, other, a)
	})
}

// TestFirstAtTakenOver checks a player who arrives the moment a room has been taken over. The room
// learns of the host's return first, and then of the player.
func TestFirstAtTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := room.New(room.Keys{Code: "BAKODI", Link: "link", Secret: "secret"}, friday(0), time.Now())
		opened.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "the token of ann, of some length"}, room.Moment{Wall: time.Now()})
		data, err := opened.Save()
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			s := NewFakeStore()
			h, err := New(Config{Store: s, List: noServers})
			if err != nil {
				t.Fatal(err)
			}
			s.set(func() { s.Put("BAKODI", data) })
			for h.actor("BAKODI") == nil {
				runtime.Gosched()
			}
			a := h.actor("BAKODI")
			a.post(func() {
				a.room.Step(room.Join{Hello: wire.Hello{Name: "ann", Token: "the token of ann, of some length"}}, a.moment())
			})
			time.Sleep(time.Millisecond)
			connected, _ := ask(a, func() bool { return a.room.Snapshot().People[0].Connected })
			h.Close()
			if !connected {
				t.Fatal("the room has forgotten who came first")
			}
		}
	})
}

// TestHandedOverFirst checks that an ending host hands over all rooms before it tells anybody to come
// back. A store that hangs delays that for a moment only.
func TestHandedOverFirst(t *testing.T) {
	const rooms = 100
	for name, hangs := range map[string]time.Duration{"not": 0, "for a moment": handFirst / 2, "too long": 2 * handFirst} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := NewFakeStore()
				h, slow := onStore(t, kept)
				var others []*actor
				for range rooms {
					code, _, err := h.Open(friday(0))
					if err != nil {
						t.Fatal(err)
					}
					others = append(others, h.actor(code))
				}
				told := func() (n int) {
					synctest.Wait()
					for _, a := range others {
						select {
						case <-a.done:
							n++
						default:
						}
					}
					return n
				}
				slow.post(func() { slow.room.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "ann"}, slow.moment()) })
				synctest.Wait()
				release := kept.Hang() // only the slow room has something to save
				go h.Drain(t.Context())
				if n := told(); n > 0 {
					t.Errorf("%d rooms of %d are told before the last one is kept", n, rooms)
				}
				time.Sleep(min(hangs, handFirst))
				if hangs < handFirst {
					release()
				}
				if n := told(); n < rooms {
					t.Errorf("after %v only %d rooms of %d are told", min(hangs, handFirst), n, rooms)
				}
				release()
				h.Close()
				if r, err := room.Restore(kept.Of(slow.code), topology.New); err != nil || len(r.Snapshot().People) != 1 {
					t.Errorf("the slow room is not kept as it was: %v", err)
				}
			})
		})
	}
}

// troubled returns a store that fails or is slow.
func troubled(fails error, takes time.Duration) *FakeStore {
	s := NewFakeStore()
	s.fails, s.takes = fails, takes
	return s
}

// inTrouble returns a host with such a store, and a room of two players who measure.
func inTrouble(t *testing.T, store *FakeStore) (*Host, *actor) {
	h, err := New(Config{Store: store, List: func(context.Context, string) ([]discovery.Server, error) { return someServers(2), nil }})
	if err != nil {
		t.Fatal(err)
	}
	code, _, _ := h.Open(friday(0))
	a := h.actor(code)
	for _, name := range []string{"ann", "bob"} { // they have no connection
		a.post(func() { a.room.Step(room.Join{Hello: wire.Hello{Name: name}, Token: name}, a.moment()) })
	}
	h.Go(code)
	return h, a
}

func (a *actor) report(players ...string) {
	for _, name := range players {
		a.post(func() { a.step(room.Hear{Player: a.idOf(name), Message: reportOf(1)}, asker{}) })
	}
}

// TestUnsaved checks that a room that cannot be saved goes on, says so once, retries less and less
// often, and says when it is saved again.
func TestUnsaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := troubled(fmt.Errorf("store: %w", syscall.ENOSPC), 0)
		h, a := inTrouble(t, store)
		defer h.Close()
		time.Sleep(time.Second)
		before := store.count()
		for _, name := range []string{"ann", "bob"} { // so that the room comes to rest
			a.report(name)
			a.post(func() { a.step(room.Hear{Player: a.idOf(name), Message: wire.Done{Round: 1}}, asker{}) })
		}
		for range 300 { // five minutes
			a.report("ann", "bob")
			time.Sleep(time.Second)
		}
		if saves := store.count(); saves-before < 10 || saves-before > 20 {
			t.Errorf("it was tried %d times in five minutes", saves-before)
		}
		noted := func() (notes []string) {
			s, _ := h.Room(a.code)
			for _, note := range s.Log {
				if strings.Contains(note.String(), "save") {
					notes = append(notes, note.String())
				}
			}
			return notes
		}
		trouble := "the host can’t save the room: the disk is full. It goes on, but wouldn’t survive a restart; trying again"
		if got := fmt.Sprint(noted()); got != "["+trouble+"]" {
			t.Errorf("people read %s", got)
		}
		store.isWell()
		time.Sleep(longestRest + 5*time.Second)
		if got := fmt.Sprint(noted()); got != "["+trouble+" the room is saved again]" {
			t.Errorf("people read %s", got)
		}
		before = store.count()
		time.Sleep(time.Minute)
		if saves := store.count(); saves != before {
			t.Error("a room that nobody changes is saved again and again")
		}
	})
}

// TestSlowStore checks that a disk that takes half a minute for each write delays nobody. Saves in
// the background do not delay what players say, and the time of a binding save does not count
// against players.
func TestSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := troubled(nil, 33*time.Second)
		h, a := inTrouble(t, store)
		defer h.Close()
		stage := func() wire.Stage { s, _ := h.Room(a.code); return s.Room.Stage }
		for stage() != wire.Measuring {
			time.Sleep(time.Second)
		}
		a.report("ann", "bob") // once the binding save is done
		for range 40 {
			began := time.Now()
			a.report("ann", "bob")
			if took := time.Since(began); took > time.Second {
				t.Errorf("a report had to wait for %v", took)
			}
			time.Sleep(time.Second)
		}
		s, _ := h.Room(a.code)
		for _, p := range s.People {
			if p.LeftOut {
				t.Errorf("%s is left out: %v", p.Name, s.Log)
			}
		}
		if s.Room.Stage != wire.Measuring || s.Room.Round != 1 {
			t.Errorf("the room is %s in round %d: %v", s.Room.Stage, s.Room.Round, s.Log)
		}
		store.isWell()
	})
}

// TestFullDiskAtStart checks that a host starts although its store cannot forget ended rooms.
func TestFullDiskAtStart(t *testing.T) {
	store := troubled(errors.New("disk full"), 0)
	old, err := room.New(room.Keys{Code: "GAGAGA", Secret: "secret"}, friday(2), time.Now().Add(-25*time.Hour)).Save()
	if err != nil {
		t.Fatal(err)
	}
	store.Put("GAGAGA", old)
	store.Put("BAKODI", nil)
	store.rooms["BAKODI"].over = true
	h, err := New(Config{List: noServers, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if rooms := h.Rooms(); len(rooms) != 0 {
		t.Errorf("the host has the rooms %q", rooms)
	}
}

// TestUnkept checks that a room at rest is saved again once its store has lost what it kept.
func TestUnkept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := troubled(nil, 0)
		h, _ := inTrouble(t, store)
		defer h.Close()
		time.Sleep(6 * time.Hour) // it comes to rest
		before := store.count()
		time.Sleep(time.Hour)
		usual, before := store.count()-before, store.count()
		store.claimed[0].unkept <- struct{}{}
		time.Sleep(time.Hour)
		if saves := store.count() - before; saves != usual+1 {
			t.Errorf("%d saves, usually %d", saves, usual)
		}
	})
}

// TestNoOwner checks that a room without an owner is an error even if somebody looks at the very time at which
// patience ends: two timers are due then, and the context's may be the later one.
func TestNoOwner(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := NewFakeStore()
			s.Put("BAKODI", nil)
			s.Lock(store.ErrAway)
			h, err := New(Config{Store: s})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 5*lookEvery)
			defer cancel()
			if owner, err := h.owner(ctx, "BAKODI"); err == nil {
				t.Errorf("the owner is %q", owner)
			}
		})
	}
}

// TestClaimedUntrusted checks that a host that takes a room over and cannot be sure of it shows that it waits.
func TestClaimedUntrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		second := s.On("two")
		one, err := New(Config{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		two, err := New(Config{Store: second})
		if err != nil {
			t.Fatal(err)
		}
		defer two.Close()
		code, _, err := one.Open(friday(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, isAway := range []bool{true, false} {
			second.Away(isAway)
			s.Dies()
			time.Sleep(time.Second)
			if view, _ := two.actor(code).views.get(); view.Snapshot.Room.Held.IsZero() == isAway {
				t.Errorf("a host that is away: %v shows that the room waits: %v", isAway, !isAway)
			}
		}
	})
}

// TestLeaseEndsUnnoticed checks that a host shows at once that a room waits if its lease ended while the machine
// was suspended, when nothing could tell the room.
func TestLeaseEndsUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		h, err := New(Config{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		code, _, err := h.Open(friday(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, isOver := range []bool{false, true} {
			s.set(func() { s.away[s.name] = isOver })
			if shown, _ := h.Room(code); shown.Room.Held.IsZero() == isOver {
				t.Errorf("a host whose lease is over: %v shows that the room waits: %v", isOver, !isOver)
			}
		}
	})
}

// TestSaveRhythm checks how long after a save the next one begins, by the failures in a row.
func TestSaveRhythm(t *testing.T) {
	const s = time.Second
	noon := time.Unix(1_700_000_000, 0)
	for unsaved, want := range []time.Duration{2 * s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s} {
		if got := (&saving{savedAt: noon, unsaved: unsaved}).due(1).Sub(noon); got != want {
			t.Errorf("after %d failures the next save comes after %v, want %v", unsaved, got, want)
		}
	}
}
