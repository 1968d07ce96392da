// Package demand counts the rooms of a host that wait for seats on the same servers. A room asks a
// server gently, and all rooms together must do so, too.
package demand

import (
	"net/netip"
	"slices"
	"sync"

	"muster/host/room"
)

// Table holds the rooms that wait for seats, by server.
type Table struct {
	mu    sync.Mutex                  // guards rooms
	rooms map[netip.AddrPort][]string // by their codes
}

// New returns an empty table.
func New() *Table { return &Table{rooms: map[netip.AddrPort][]string{}} }

// Move notes that a room now watches other servers, and returns how many rooms watch each of them.
func (c *Table) Move(code string, from, to []netip.AddrPort) map[netip.AddrPort]room.Demand {
	if len(from)+len(to) == 0 { // nearly always
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, addr := range from {
		if slices.Contains(to, addr) {
			continue
		}
		c.rooms[addr] = slices.DeleteFunc(c.rooms[addr], func(other string) bool { return other == code })
		if len(c.rooms[addr]) == 0 {
			delete(c.rooms, addr)
		}
	}
	here := make(map[netip.AddrPort]room.Demand, len(to))
	for _, addr := range to {
		if !slices.Contains(from, addr) {
			c.rooms[addr] = append(c.rooms[addr], code)
		}
		here[addr] = room.Demand{Rooms: len(c.rooms[addr]), Place: slices.Index(c.rooms[addr], code)}
	}
	return here
}

// At returns how many rooms wait for seats on a server.
func (c *Table) At(server netip.AddrPort) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.rooms[server])
}
