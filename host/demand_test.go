package host

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
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
	r := room.New(room.Keys{Code: code, Secret: "secret"}, settings, time.Now())
	step := func(in room.Input) {
		t.Helper()
		if _, err := r.Step(in, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	infos, report := wire.Infos{Round: 1}, wire.Report{Round: 1}
	for i := range list {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: i, Info: discovery.Info{Map: "oa_dm1", Players: 16, MaxPlayers: 16}})
		report.Results = append(report.Results, discovery.Result{Server: i, State: discovery.Answered, RTT: 20 * time.Millisecond})
	}
	names := []string{"ann", "ben"}
	for _, name := range names {
		step(room.Join{Hello: wire.Hello{Version: wire.Version, Code: code, Name: name}, Token: "token of " + name})
	}
	step(room.Listed{List: topology.New(room.Shared(list, nil))})
	for _, said := range []wire.Message{infos, report, wire.Done{Round: 1}} {
		for _, name := range names {
			step(room.Hear{Player: name, Message: said})
		}
	}
	if r.Stage() != wire.Waiting {
		t.Fatalf("the room is %v", r.Stage())
	}
	return r
}
