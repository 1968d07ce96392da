package selection

import (
	"maps"
	"slices"
)

// Basis holds all that a choice is made from: the servers, every player's measurements of them, and
// the group's criteria. It is never changed once made. So a caller may try choices for some of the
// players without the rest of a room.
type Basis struct {
	Servers Servers
	// Table has a column for each player whom a choice could count.
	Table *Table
	// Criteria have the editions of all these players. Their Seats are the fewest that the group
	// wants, however small it is.
	Criteria Criteria
	// Along are the players who come along wherever the group goes, whether the choice counts them
	// or not. Guests is how many others do.
	Along  []string
	Guests int
	// Estimated maps the players whose pings are estimates to the error of those, in milliseconds.
	Estimated map[string]float64
}

// For returns the basis of a choice for some of the players: their columns, in this order,
// their editions, and seats for them and for all who come along.
func (b Basis) For(players []string) Basis {
	if !slices.Equal(players, b.Table.players) {
		b.Table = b.Table.Of(players)
	}
	b.Criteria.Editions = slices.DeleteFunc(slices.Clone(b.Criteria.Editions), func(e Edition) bool {
		return !slices.Contains(players, e.Player)
	})
	seats := len(players) + b.Guests
	for _, name := range b.Along {
		if !slices.Contains(players, name) {
			seats++
		}
	}
	b.Criteria.Seats = max(b.Criteria.Seats, seats)
	return b
}

// Measured returns the basis without the players whose pings are estimates.
func (b Basis) Measured() Basis {
	if len(b.Estimated) == 0 {
		return b
	}
	players := slices.DeleteFunc(slices.Clone(b.Table.players), func(name string) bool { return b.Estimated[name] > 0 })
	b.Estimated = nil
	return b.For(players)
}

// Select chooses from the basis for all players of its table. Players with estimates have no loss
// and no jitter, because nobody measured those.
func (b Basis) Select() Selection {
	s := Select(b.Servers, b.Table, b.Criteria)
	if len(b.Estimated) == 0 {
		return s
	}
	s.Estimated = maps.Clone(b.Estimated)
	ranked := slices.Clone(s.Ranking)
	if s.Chosen != nil {
		ranked = append(ranked, *s.Chosen)
	}
	for _, one := range ranked {
		for name := range b.Estimated {
			delete(one.Loss, name)
			delete(one.JitterMS, name)
		}
	}
	return s
}

// Objective returns the criteria's objective for the table's players.
func (b Basis) Objective() *Objective { return b.Criteria.Objective(b.Table.players) }

// Of returns a table of some of the players, in this order. A player without a column gets an empty
// one.
func (t *Table) Of(players []string) *Table {
	some := NewTable(players, len(t.rows))
	columns := make([]int, len(players))
	for i, name := range players {
		if columns[i] = slices.Index(t.players, name); columns[i] >= 0 {
			some.late[i] = t.late[columns[i]]
		}
	}
	for server := range t.Measured() {
		for i, column := range columns {
			if column >= 0 {
				state, rtt := t.At(column, server)
				some.Set(i, server, state, rtt)
			}
		}
	}
	for server, qualities := range t.quality {
		for i, column := range columns {
			if column >= 0 && column < len(qualities) {
				some.SetQuality(i, server, qualities[column])
			}
		}
	}
	return some
}
