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
func (t *Table) Move(code string, from, to []netip.AddrPort) map[netip.AddrPort]room.Crowd {
	if len(from)+len(to) == 0 { // nearly always
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, addr := range from {
		if slices.Contains(to, addr) {
			continue
		}
		t.rooms[addr] = slices.DeleteFunc(t.rooms[addr], func(other string) bool { return other == code })
		if len(t.rooms[addr]) == 0 {
			delete(t.rooms, addr)
		}
	}
	here := make(map[netip.AddrPort]room.Crowd, len(to))
	for _, addr := range to {
		if !slices.Contains(from, addr) {
			t.rooms[addr] = append(t.rooms[addr], code)
		}
		here[addr] = room.Crowd{Rooms: len(t.rooms[addr]), Place: slices.Index(t.rooms[addr], code)}
	}
	return here
}

// At returns how many rooms wait for seats on a server.
func (t *Table) At(server netip.AddrPort) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.rooms[server])
}
