package host

import (
	"context"
	"maps"
	"slices"
	"time"
)

const (
	// balanceEvery is how often a host looks whether it has too many rooms, and balancePace
	// how many it gives away then at most: each is some writes, and its people come back by
	// themselves.
	balanceEvery = time.Second
	balancePace  = 4
	// balanceAfter is how long the hosts have to be the same ones before: in a rolling
	// upgrade the next one is about to go, and takes its rooms along.
	balanceAfter = 15 * time.Second
	// unevenRooms and unevenShare are how far the hosts with most and fewest rooms have to
	// be apart for rooms to move: so many, and such a part of what each should have. Rooms
	// that come and go by themselves make no such difference.
	unevenRooms, unevenShare = 8, 4
)

// balance decides which host gives rooms to which. Every host decides alike: only the one
// with most gives, and only to the one with fewest, so that no two give at once what one
// of them should keep. Once rooms move they do so until all is even.
type balance struct{ evens bool }

// gives returns to which host this one gives how many rooms now, by what each has.
func (b *balance) gives(own string, rooms map[string]int) (to string, n int) {
	if len(rooms) < 2 {
		return "", 0
	}
	names, all := slices.Sorted(maps.Keys(rooms)), 0
	most, least := names[0], names[0]
	for _, name := range names {
		all += rooms[name]
		if rooms[name] > rooms[most] {
			most = name
		}
		if rooms[name] < rooms[least] {
			least = name
		}
	}
	apart := rooms[most] - rooms[least]
	switch {
	case apart >= max(unevenRooms, all/len(rooms)/unevenShare):
		b.evens = true
	case apart < 2:
		b.evens = false
	}
	if !b.evens || own != most {
		return "", 0
	}
	return least, min(balancePace, apart/2)
}

// evenOut gives rooms to hosts that have fewer, until ctx ends. Loads is that of [Config].
func (r *registry) evenOut(ctx context.Context, loads func() (own string, rooms map[string]int, settled time.Duration)) {
	var b balance
	for rest(ctx, balanceEvery) {
		own, rooms, settled := loads()
		if settled < balanceAfter {
			continue
		}
		to, n := b.gives(own, rooms)
		for _, a := range r.movable(n) {
			a.post(func() {
				if isMovable(a.room.Stage()) && a.saving.binding == nil {
					a.heir = to
					a.end(errGiven)
				}
			})
		}
	}
}
