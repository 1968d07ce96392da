package host

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/page"
	"muster/host/public"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

func (r *registry) known(t *testing.T, code string, about wire.Head, isOpen bool) *actor {
	t.Helper()
	a := &actor{code: code, open: isOpen, views: newBoard(&page.View{Snapshot: wire.Snapshot{Room: about}}), gone: make(chan struct{})}
	if !r.add(a, func() {}) {
		t.Fatalf("%s is not taken", code)
	}
	return a
}

// TestRegistry checks that a registry finds a room by its code as people type it, that only one
// goroutine can claim a room, and that only a single open room admits players without a code.
func TestRegistry(t *testing.T) {
	r := newRegistry()
	a := r.known(t, "BAKODI", wire.Head{Stage: wire.Gathering}, true)
	if r.find("ba ko-di") != a || r.onlyOpen() != a || r.count() != 1 {
		t.Error("the room is not found")
	}
	r.known(t, "DELUFI", wire.Head{Stage: wire.Measuring}, true)
	if r.onlyOpen() != nil {
		t.Error("one of two open rooms is let in without a code")
	}
	if moved := r.movable(2); len(moved) != 1 || moved[0] != a {
		t.Errorf("%d rooms may move, want the one that gathers", len(moved))
	}
	if r.beginClaim("BAKODI") != nil {
		t.Error("a room that is here is claimed")
	}
	done := r.beginClaim("MOTASI")
	if done == nil || r.beginClaim("MOTASI") != nil {
		t.Error("two claim a room at a time")
	}
	done()
	if done = r.beginClaim("MOTASI"); done == nil {
		t.Fatal("a room cannot be claimed again")
	}
	done()
	r.leaveAlone("MOTASI", errFell)
	if !r.isUnreadable("MOTASI") || r.beginClaim("MOTASI") != nil {
		t.Error("an unreadable room is claimed")
	}
	if r.notePanic("BAKODI") || !r.notePanic("BAKODI") {
		t.Error("panics are not counted by room")
	}
	if !r.drop(a) || r.drop(a) || r.find("BAKODI") != nil {
		t.Error("a room is dropped twice, or never")
	}
	r.close()
	if r.add(a, func() { t.Error("a room begins after the end") }) || r.beginClaim("KITENA") != nil {
		t.Error("a registry that is closed takes rooms")
	}
}

// TestPlacesOfRoomsThatStay checks that a place is reserved for a room that is about to become a
// standing one.
func TestPlacesOfRoomsThatStay(t *testing.T) {
	r, p := newRegistry(), &public.Limits{Standing: public.Standing{Rooms: 2}}
	r.known(t, "BAKODI", wire.Head{Settings: wire.Settings{Every: "fri 20:00 Europe/Berlin"}}, false)
	done, why := r.mayStay(p)
	if why != nil {
		t.Fatal(why)
	}
	if _, why := r.mayStay(p); why == nil || why.Reason != wire.ReasonFull {
		t.Errorf("a third room is told %+v", why)
	}
	done()
	if _, why := r.mayStay(p); why != nil {
		t.Errorf("the place is never free again: %v", why)
	}
	if _, why := r.mayStay(nil); why != nil {
		t.Errorf("at home a room may not stay: %v", why)
	}
	if _, why := r.mayStay(&public.Limits{}); why == nil {
		t.Error("a room stays where none does")
	}
}

// TestRoomsAreCounted checks that two rooms of a host that wait for seats on the same servers count
// there until they end.
func TestRoomsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := New(Config{List: noServers})
		if err != nil {
			t.Fatal(err)
		}
		list := someServers(2)
		counts := func(want int) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			for _, s := range list {
				if n := h.demand.At(s.Addr); n != want {
					t.Errorf("%v is watched by %d rooms, not by %d", s.Addr, n, want)
				}
			}
		}
		for n := range 2 {
			r := waitingRoom(t, fmt.Sprint("ROOM", n), list)
			claim, err := h.store.Create(t.Context(), r.Keys().Code, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			h.rooms.start(r, room.Tick{}, claim, nil, netip.Addr{})
		}
		counts(2)
		h.CloseRoom("ROOM0")
		counts(1)
		h.Close()
		counts(0)
	})
}

// waitingRoom returns a room of two players that waits for seats on all servers of a list.
func waitingRoom(t *testing.T, code string, list []discovery.Server) *room.Room {
	t.Helper()
	settings := friday(2)
	settings.Wait = discovery.Millis(10 * time.Minute)
	n := roomtest.Play(t, room.New(room.Keys{Code: code, Secret: "secret"}, settings, time.Now()), time.Now())
	n.Join("ann", "ben")
	n.Gets(list)
	for _, name := range []string{"ann", "ben"} {
		n.Informs(name, make([]int, len(list))...)
		n.Measures(name, slices.Repeat([]int{20}, len(list))...)
	}
	n.Done("ann", "ben")
	n.InStage(wire.Waiting)
	return n.Room
}
