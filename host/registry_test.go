package host

import (
	"testing"

	"muster/host/page"
	"muster/host/public"
	"muster/host/wire"
)

func (r *registry) known(t *testing.T, code string, about wire.Head, isOpen bool) *actor {
	t.Helper()
	a := &actor{code: code, open: isOpen, views: newBoard(&page.View{Snapshot: wire.Snapshot{Room: about}})}
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
