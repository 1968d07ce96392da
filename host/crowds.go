package host

import (
	"net/netip"
	"slices"
	"sync"

	"muster/host/room"
)

// crowds are the rooms of this host that wait for seats, by server: a room alone asks a
// server gently, and all together have to.
type crowds struct {
	mu    sync.Mutex // guards rooms
	rooms map[netip.AddrPort][]*actor
}

// moves has a room watch other servers than before, and returns the crowd at each of them.
func (c *crowds) moves(a *actor, from, to []netip.AddrPort) map[netip.AddrPort]room.Crowd {
	if len(from)+len(to) == 0 { // as nearly always
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, addr := range from {
		if slices.Contains(to, addr) {
			continue
		}
		c.rooms[addr] = slices.DeleteFunc(c.rooms[addr], func(other *actor) bool { return other == a })
		if len(c.rooms[addr]) == 0 {
			delete(c.rooms, addr)
		}
	}
	here := make(map[netip.AddrPort]room.Crowd, len(to))
	for _, addr := range to {
		if !slices.Contains(from, addr) {
			c.rooms[addr] = append(c.rooms[addr], a)
		}
		here[addr] = room.Crowd{Rooms: len(c.rooms[addr]), Place: slices.Index(c.rooms[addr], a)}
	}
	return here
}
