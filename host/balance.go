package host

import (
	"context"
	"maps"
	"slices"
	"time"
)

const (
	// balanceEvery is how often a host checks whether it has too many rooms. balancePace is how
	// many rooms it gives away at most per check, because each costs some writes, and its people
	// have to reconnect.
	balanceEvery = time.Second
	balancePace  = 4
	// balanceAfter is how long the set of hosts must stay unchanged before rooms move. In a rolling
	// upgrade the next host leaves soon, and rooms that had moved to it would move again.
	balanceAfter = 15 * time.Second
	// unevenRooms and unevenShare are how far apart the hosts with the most and the fewest rooms
	// must be before rooms move: a number, and a part of each host's fair share. Ordinary coming
	// and going of rooms does not differ that much.
	unevenRooms, unevenShare = 8, 4
)

// balance decides which host gives rooms to which. Every host decides alike. Only the one with the
// most rooms gives, and only to the one with the fewest, so two hosts never give at once more than
// needed. Once rooms move, they move until all is even.
type balance struct{ evens bool }

// transfer returns the host that should get rooms from this one, and how many, given the rooms of
// each.
func (b *balance) transfer(own string, rooms map[string]int) (to string, n int) {
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

// evenOut gives rooms to hosts with fewer, until ctx ends. loads is [Config.Loads].
func (r *registry) evenOut(ctx context.Context, loads func() (own string, rooms map[string]int, settled time.Duration)) {
	var b balance
	for rest(ctx, balanceEvery) {
		own, rooms, settled := loads()
		if settled < balanceAfter {
			continue
		}
		to, n := b.transfer(own, rooms)
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
