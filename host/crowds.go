package host

import (
	"net/netip"
	"sync"
)

// crowds counts the rooms of this host that wait for seats, by server: a room alone asks a
// server gently, and all together have to.
type crowds struct {
	mu    sync.Mutex // guards rooms
	rooms map[netip.AddrPort]int
}

// moves has a room watch other servers than before, and returns how many rooms watch each
// of them.
func (c *crowds) moves(from, to []netip.AddrPort) map[netip.AddrPort]int {
	if len(from)+len(to) == 0 { // as nearly always
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, addr := range from {
		if c.rooms[addr]--; c.rooms[addr] <= 0 {
			delete(c.rooms, addr)
		}
	}
	for _, addr := range to {
		c.rooms[addr]++
	}
	counts := make(map[netip.AddrPort]int, len(to))
	for _, addr := range to {
		counts[addr] = c.rooms[addr]
	}
	return counts
}
