package host

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"muster/host/wire"
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

// evenOut gives rooms to hosts that have fewer, until ctx ends.
func (h *Host) evenOut(ctx context.Context) {
	var b balance
	for rest(ctx, balanceEvery) {
		own, rooms, settled := h.config.Loads()
		if settled < balanceAfter {
			continue
		}
		to, n := b.gives(own, rooms)
		for _, a := range h.movable(n) {
			a.post(func() {
				if isMovable(a.room.Stage()) && a.saving.binding == nil {
					a.heir = to
					a.end(errGiven)
				}
			})
		}
	}
}

// isMovable reports whether a room of a phase may go to another host for evenness alone: one
// that gathers, or sleeps until its next evening. Nobody measures, votes or plays there.
func isMovable(stage wire.Stage) bool { return stage == wire.Gathering }

// movable returns some rooms that may go to another host, those first in which the fewest
// people would have to come back.
func (h *Host) movable(n int) []*actor {
	if n == 0 {
		return nil
	}
	type candidate struct {
		*actor
		people int
	}
	var all []candidate
	h.mu.Lock()
	for _, a := range h.rooms {
		view, _ := a.views.get()
		if !isMovable(view.Snapshot.Room.Stage) || a.over.Load() {
			continue
		}
		c := candidate{actor: a}
		for _, p := range view.Snapshot.People {
			if p.Connected {
				c.people++
			}
		}
		all = append(all, c)
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.people-b.people, cmp.Compare(a.code, b.code)) })
	var some []*actor
	for _, c := range all[:min(n, len(all))] {
		some = append(some, c.actor)
	}
	return some
}
