package selection

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection/rules"
)

// Table holds what each player measured of each server. Only measured servers take up room, in
// order of their first result. Set keeps sums for the ranking up to date, so that ranking does not
// touch the cells at all.
type Table struct {
	players []string
	byName  []int // columns in the order of the players' names
	// rows are the servers' rows in sums and cells. Row 0 belongs to all servers that nobody
	// measured.
	rows    []int32
	sums    []sums
	columns [][]cell
	quality map[int][]Quality
	// late is how late each player's timers fire.
	late []time.Duration
}

// cell is an RTT in microseconds, or one of the states without one.
type cell uint32

const (
	unprobed cell = 0
	lost     cell = 1<<32 - 1
	refused  cell = 1<<32 - 2
	// forbidden says nothing of the server: for a choice it is as unprobed.
	forbidden cell = 1<<32 - 3
	// maxRTT, 67 s, keeps the sum of the squares of 4,096 players in 64 bits.
	maxRTT cell = 1<<26 - 1
)

// NewTable returns the table of players who have measured nothing yet.
func NewTable(players []string, servers int) *Table {
	t := &Table{
		players: slices.Clone(players),
		rows:    make([]int32, servers),
		sums:    make([]sums, 1),
		columns: make([][]cell, len(players)),
		late:    make([]time.Duration, len(players)),
	}
	for player := range players {
		t.byName, t.columns[player] = append(t.byName, player), make([]cell, 1)
	}
	slices.SortStableFunc(t.byName, func(a, b int) int { return cmp.Compare(players[a], players[b]) })
	return t
}

// Players returns the names of the table's columns.
func (t *Table) Players() []string { return t.players }

// Servers returns the number of the table's rows.
func (t *Table) Servers() int { return len(t.rows) }

// SetLate records how late a player's timers fire because the machine is busy.
func (t *Table) SetLate(player int, late time.Duration) { t.late[player] = late }

// Late returns how late a player's timers fire.
func (t *Table) Late(player int) time.Duration { return t.late[player] }

// Measured iterates over the servers that somebody measured, in order. Of a long list they are few.
func (t *Table) Measured() iter.Seq[int] {
	return func(yield func(int) bool) {
		for server, row := range t.rows {
			if row != 0 && !yield(server) {
				return
			}
		}
	}
}

// Set records a player's result for a server. The RTT counts only for [discovery.Answered]. It is
// kept to the microsecond, at least one, and at most 67 s.
func (t *Table) Set(player, server int, state discovery.State, rtt time.Duration) {
	now := cellOf(state, rtt)
	row := t.rows[server]
	if row == 0 {
		if now == unprobed {
			return
		}
		row = int32(len(t.sums))
		t.rows[server] = row
		t.sums = append(t.sums, sums{})
		for i, column := range t.columns {
			t.columns[i] = append(column, unprobed)
		}
	}
	column := t.columns[player]
	was := column[row]
	column[row] = now
	if s := &t.sums[row]; !s.replace(was, now) {
		t.rank(s, row, nobody)
	}
}

// rank finds the two highest RTTs of a row, leaving out one player's.
func (t *Table) rank(s *sums, row int32, dropped int) {
	s.worst, s.second = 0, 0
	for player, column := range t.columns {
		if c := column[row]; player != dropped && c.answered() {
			s.raise(c)
		}
	}
}

// At returns a player's result for a server.
func (t *Table) At(player, server int) (discovery.State, time.Duration) {
	switch c := t.cell(player, server); c {
	case unprobed:
		return discovery.Unprobed, 0
	case lost:
		return discovery.Lost, 0
	case refused:
		return discovery.Refused, 0
	case forbidden:
		return discovery.Forbidden, 0
	default:
		return discovery.Answered, time.Duration(c) * time.Microsecond
	}
}

func (t *Table) cell(player, server int) cell {
	return t.columns[player][t.rows[server]]
}

// without returns the sums, row by row, without one player. With nobody it returns all of them.
func (t *Table) without(player int) []sums {
	if player == nobody {
		return t.sums
	}
	rest := slices.Clone(t.sums)
	for row := range rest {
		if s := &rest[row]; !s.replace(t.columns[player][row], unprobed) {
			t.rank(s, int32(row), player)
		}
	}
	return rest
}

func cellOf(state discovery.State, rtt time.Duration) cell {
	switch state {
	case discovery.Answered:
		return cell(min(max(rtt.Microseconds(), 1), int64(maxRTT)))
	case discovery.Lost:
		return lost
	case discovery.Refused:
		return refused
	case discovery.Forbidden:
		return forbidden
	}
	return unprobed
}

func (c cell) answered() bool { return c-1 < maxRTT }

func (c cell) failed() bool { return c >= refused }

// sums holds what the rules need to know of one server's RTTs, all in microseconds. It is updated
// cell by cell, in whole numbers, so that the order of the reports leaves no trace.
type sums struct {
	total, squares   uint64
	worst, second    cell
	answered, failed int32
}

// replace exchanges one player's cell. It returns false if the two highest RTTs have to be searched
// again.
func (s *sums) replace(was, now cell) bool {
	known := true
	switch {
	case was.answered():
		s.subtract(was)
		known = was < s.second
	case was.failed():
		s.failed--
	}
	switch {
	case now.answered():
		s.add(now)
	case now.failed():
		s.failed++
	}
	return known
}

func (s *sums) add(c cell) {
	s.answered++
	s.total += uint64(c)
	s.squares += uint64(c) * uint64(c)
	s.raise(c)
}

func (s *sums) subtract(c cell) {
	s.answered--
	s.total -= uint64(c)
	s.squares -= uint64(c) * uint64(c)
}

func (s *sums) raise(c cell) {
	if c > s.worst {
		s.worst, s.second = c, s.worst
	} else if c > s.second {
		s.second = c
	}
}

// mean returns the average RTT in microseconds.
func (s *sums) mean() float64 { return float64(s.total) / float64(s.answered) }

// figure returns a rule's figure in microseconds.
func (s *sums) figure(rule *rules.Rule) float64 {
	return rule.Sum(rules.Sums{
		Players: int(s.answered), Total: s.total, Squares: s.squares, Worst: uint32(s.worst), Second: uint32(s.second),
	})
}
