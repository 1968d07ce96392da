package host

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// evened simulates hosts that give rooms by counts that are some ticks old, except for each host's
// own. It returns how many rooms moved, and how many ticks that took.
func evened(rooms map[string]int, lag int) (moved, ticks int) {
	deciding, seen := map[string]*balance{}, []map[string]int{}
	for name := range rooms {
		deciding[name] = &balance{}
	}
	for quiet := 0; quiet < 50 && ticks < 10_000; ticks++ {
		seen = append(seen, maps.Clone(rooms))
		quiet++
		for _, name := range slices.Sorted(maps.Keys(rooms)) {
			known := maps.Clone(seen[max(0, len(seen)-1-lag)])
			known[name] = rooms[name]
			if to, n := deciding[name].transfer(name, known); n > 0 {
				rooms[name] -= n
				rooms[to] += n
				moved += n
				quiet = 0
			}
		}
	}
	return moved, ticks - 50
}

func spread(rooms map[string]int) int {
	counts := slices.Collect(maps.Values(rooms))
	return slices.Max(counts) - slices.Min(counts)
}

// TestBalance checks that a rolling upgrade's imbalance is evened with few moves at a bounded pace,
// and that nothing moves afterwards. Small differences move nothing.
func TestBalance(t *testing.T) {
	for _, tt := range []struct {
		rooms map[string]int
		least int // the moves that are needed
	}{
		{map[string]int{"a": 154, "b": 90, "c": 0}, 81},
		{map[string]int{"a": 10_000, "b": 0}, 5000},
		{map[string]int{"a": 84, "b": 80, "c": 79}, 0},
		{map[string]int{"a": 7, "b": 0, "c": 0}, 0},
		{map[string]int{"a": 100}, 0},
	} {
		for _, lag := range []int{0, 1, 3} {
			rooms := maps.Clone(tt.rooms)
			moved, ticks := evened(rooms, lag)
			if moved < tt.least || moved > tt.least+tt.least/4 || tt.least == 0 && moved > 0 {
				t.Errorf("%v, seen %d ticks late: %d rooms move, %d have to", tt.rooms, lag, moved, tt.least)
			}
			most := 1
			if lag > 0 { // a host with old counts gives once too often
				most = lag*balancePace + 1
			}
			if tt.least > 0 && spread(rooms) > most {
				t.Errorf("%v, seen %d ticks late, becomes %v", tt.rooms, lag, rooms)
			}
			t.Logf("%v, seen %d ticks late: %v after %d s, %d moves", tt.rooms, lag, rooms, ticks, moved)
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		rooms := map[string]int{}
		for i := range 2 + random.IntN(6) {
			rooms[fmt.Sprint("host", i)] = random.IntN(300)
		}
		before := maps.Clone(rooms)
		if moved, ticks := evened(rooms, 1); ticks > 9000 || moved > 0 && spread(rooms) > balancePace+1 {
			t.Errorf("%v becomes %v with %d moves in %d ticks", before, rooms, moved, ticks)
		}
	}
}

// TestRoomsMove checks that gathering rooms move to the host with the fewest rooms, those without
// people first, and that a room that plays stays.
func TestRoomsMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		start := func(name string) *Host {
			t.Helper()
			own := s.On(name)
			h, err := New(Config{
				Store: own, List: func(context.Context, string) ([]discovery.Server, error) { return someServers(2), nil },
				Loads: func() (string, map[string]int, time.Duration) { return name, s.loads("one", "two"), time.Hour },
			})
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		one := start("one")
		defer one.Close()
		var plays string
		for i := range 30 {
			code, _, err := one.Open(friday(0))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				plays = code
				one.Sit(code, "ann", "")
				one.Go(code)
			}
		}
		time.Sleep(balanceEvery / 2)
		two := start("two")
		defer two.Close()
		time.Sleep(3 * balanceEvery)
		if n := len(two.Rooms()); n > 4*balancePace {
			t.Errorf("after 3 ticks %d rooms have moved", n)
		}
		time.Sleep(time.Minute)
		if a, b := len(one.Rooms()), len(two.Rooms()); a != 15 || b != 15 {
			t.Errorf("then the hosts have %d and %d rooms", a, b)
		}
		if stays, _ := one.Room(plays); stays.Room.Stage == wire.Gathering || one.actor(plays) == nil {
			t.Errorf("the room that plays is %s", stays.Room.Stage)
		}
	})
}
