package host

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/host/room"
)

// This flag is for measuring what pages that request long lists cost a room, and how long its
// goroutine keeps others waiting:
//
//	go test ./host -run TestStall -v -stall 10s
var stallFor = flag.Duration("stall", 0, "how long TestStall has a room of 32 and 30,000 servers asked; 0 has one of 8 asked a few times")

// TestStall checks that a room goes on while pages request its culled servers. The room's goroutine
// once computed them, each time for as long as a choice takes, and everyone waited for all requests
// before. Now requests do not reach the room.
func TestStall(t *testing.T) {
	players, length, asksASecond := 8, 500*time.Millisecond, 200
	if *stallFor > 0 {
		players, length, asksASecond = 32, *stallFor, 26 // twice the rate that stalled a room
	}
	h, err := New(Config{List: noServers})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r := benchRoom(t, players)
	began := time.Now()
	if _, err := r.Step(room.Proceed{}, room.Moment{Wall: time.Unix(1_800_000_000, 0)}); err != nil {
		t.Fatal(err)
	}
	choice := time.Since(began)
	claim, err := h.store.Create(t.Context(), r.Keys().Code, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := h.rooms.start(r, room.Tick{}, claim, nil, netip.Addr{})
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	culled := func() {
		response, err := http.Get(server.URL + "/api/rooms/" + a.code + "/culled/unreachable")
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("the list is answered %v, %v", response, err)
			return
		}
		defer response.Body.Close()
		io.Copy(io.Discard, response.Body)
	}
	quiet := waits(a, length, 0, nil)
	asked := waits(a, length, asksASecond, culled)
	t.Logf("%d players, a choice takes %v; others wait %v at most in quiet, %v when lists are asked for %d times a second",
		players, choice, slices.Max(quiet), slices.Max(asked), asksASecond)
	if wait := slices.Max(asked); wait > choice {
		t.Errorf("others wait %v, a choice takes %v", wait, choice)
	}
}

// waits returns how long a room's goroutine keeps callers waiting while requests come at a rate.
func waits(a *actor, length time.Duration, rate int, something func()) (list []time.Duration) {
	var asking sync.WaitGroup
	defer asking.Wait()
	asked := 0
	for began := time.Now(); time.Since(began) < length; time.Sleep(time.Millisecond) {
		for ; asked < int(time.Since(began).Seconds()*float64(rate)); asked++ {
			asking.Go(something)
		}
		before := time.Now()
		ask(a, func() bool { return true })
		list = append(list, time.Since(before))
	}
	return list
}
