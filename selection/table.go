// Package selection chooses one server for a whole group: it culls the servers
// that are no use to someone, ranks the rest by a rule, and says why. It is
// pure: tables in, a verdict out.
//
//	reports ─▶ Table ─▶ cull ─▶ rank ─▶ Selection
//	                     │        │        │
//	                     └────────┴────────┴── reasons
package selection

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
)

// Table holds what each player measured of each server. The cells of a player
// lie side by side, so that a report is noted in one pass over the memory; what
// a ranking needs of a server is summed up while noting, so that ranking does
// not touch the cells at all.
type Table struct {
	players []string
	byName  []int // columns in the order of the players' names
	cells   []cell
	sums    []sums
	quality map[int][]Quality
}

// cell is an RTT in microseconds, or one of the states without one.
type cell uint32

const (
	unprobed cell = 0
	lost     cell = 1<<32 - 1
	refused  cell = 1<<32 - 2
	// maxRTT, 67 s, keeps the sum of the squares of 4,096 players in 64 bits.
	maxRTT cell = 1<<26 - 1
)

// NewTable is the table of players who have measured nothing yet.
func NewTable(players []string, servers int) *Table {
	return &Table{
		players: slices.Clone(players),
		byName:  byName(players),
		cells:   make([]cell, len(players)*servers),
		sums:    make([]sums, servers),
	}
}

func byName(players []string) []int {
	order := make([]int, len(players))
	for player := range order {
		order[player] = player
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(players[a], players[b]) })
	return order
}

// Players are the names of the table's columns.
func (t *Table) Players() []string { return t.players }

// Servers is the number of the table's rows.
func (t *Table) Servers() int { return len(t.sums) }

// Set notes what a player measured of a server. The RTT counts only for
// [discovery.Answered]; it is kept to the microsecond, at least one, and at
// most 67 s.
func (t *Table) Set(player, server int, state discovery.State, rtt time.Duration) {
	column := t.column(player)
	was, now := column[server], cellOf(state, rtt)
	column[server] = now
	if !t.sums[server].replace(was, now) {
		t.rescan(server)
	}
}

// At is what a player measured of a server.
func (t *Table) At(player, server int) (discovery.State, time.Duration) {
	return t.column(player)[server].value()
}

// column is what one player measured, server by server.
func (t *Table) column(player int) []cell {
	return t.cells[player*len(t.sums) : (player+1)*len(t.sums)]
}

// cell is what a player measured of a server.
func (t *Table) cell(player, server int) cell { return t.column(player)[server] }

// without is the sums as if one player were not there, or all of them.
func (t *Table) without(player int) []sums {
	if player == nobody {
		return t.sums
	}
	rest := slices.Clone(t.sums)
	for server, c := range t.column(player) {
		rest[server].drop(c)
	}
	return rest
}

// rescan finds the two highest RTTs of a server anew.
func (t *Table) rescan(server int) {
	s := &t.sums[server]
	s.worst, s.second = 0, 0
	for player := range t.players {
		if c := t.cell(player, server); c.answered() {
			s.raise(c)
		}
	}
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

func (c cell) answered() bool { return c-1 < maxRTT }

func (c cell) failed() bool { return c >= refused }
