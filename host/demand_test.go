package host

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

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
