package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

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
		time.Sleep(time.Hour)
		hour := func() int {
			before := store.count()
			time.Sleep(time.Hour)
			return store.count() - before
		}
		time.Sleep(5 * time.Hour) // it comes to rest
		usual := hour()
		store.claimed[0].unkept <- struct{}{}
		if saves := hour(); saves != usual+1 {
			t.Errorf("%d saves, usually %d", saves, usual)
		}
	})
}
