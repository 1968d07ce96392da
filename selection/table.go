// Package selection chooses one server for a whole group: it culls the servers
// that are no use to someone, ranks the rest by a rule, and says why. It is
// pure: tables in, a verdict out.
//
//	reports ─▶ Table ─▶ cull ─▶ rank ─▶ Selection
//	                     │        │        │
//	                     └────────┴────────┴── reasons
package selection

import (
	"time"

	"muster/discovery"
)

// Table holds what each player measured of each server. The cells of a server
// lie side by side, so that one pass over the memory ranks everything.
type Table struct {
	players []string
	servers int
	cells   []cell
}

// cell is an RTT in microseconds, or one of the states without one.
type cell uint32

const (
	unprobed cell = 0
	lost     cell = 1<<32 - 1
	refused  cell = 1<<32 - 2
	maxRTT   cell = 1<<32 - 3
)

// NewTable is the table of players who have measured nothing yet.
func NewTable(players []string, servers int) *Table {
	return &Table{players: players, servers: servers, cells: make([]cell, len(players)*servers)}
}

// Players are the names of the table's columns.
func (t *Table) Players() []string { return t.players }

// Servers is the number of the table's rows.
func (t *Table) Servers() int { return t.servers }

// Set notes what a player measured of a server. The RTT counts only for
// [discovery.Answered] and is kept to the microsecond, at least one.
func (t *Table) Set(player, server int, state discovery.State, rtt time.Duration) {
	t.cells[server*len(t.players)+player] = cellOf(state, rtt)
}

// At is what a player measured of a server.
func (t *Table) At(player, server int) (discovery.State, time.Duration) {
	return t.cells[server*len(t.players)+player].value()
}

func cellOf(state discovery.State, rtt time.Duration) cell {
	switch state {
	case discovery.Answered:
		return cell(min(max(rtt.Microseconds(), 1), int64(maxRTT)))
	case discovery.Lost:
		return lost
	case discovery.Refused:
		return refused
	}
	return unprobed
}

func (c cell) value() (discovery.State, time.Duration) {
	switch c {
	case unprobed:
		return discovery.Unprobed, 0
	case lost:
		return discovery.Lost, 0
	case refused:
		return discovery.Refused, 0
	}
	return discovery.Answered, time.Duration(c) * time.Microsecond
}
