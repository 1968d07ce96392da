// Package lines keeps what the host sees of the players' connections, and says whose pings exceed
// what that and earlier evenings suggest.
//
//	host: round trips ─▶ Note ─▶ Found ─▶ what counts between the sides
//
// It is not saved: connections begin anew with the host.
package lines

import (
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/excess"
	"muster/selection/memory"
)

// Seen is what a host sees: the lowest round trips of players' connections, by player, and where it
// stands itself, as far as it knows.
type Seen struct {
	RoundTrips map[people.ID]time.Duration
	At         excess.Place
}

// Book has the lowest round trip of each player. Its zero value is empty.
type Book struct {
	lowest map[people.ID]time.Duration
	at     excess.Place
}

// Note takes what the host sees now.
func (b *Book) Note(seen Seen) {
	b.at = seen.At
	for player, rtt := range seen.RoundTrips {
		if before, known := b.lowest[player]; rtt > 0 && (!known || rtt < before) {
			if b.lowest == nil {
				b.lowest = map[people.ID]time.Duration{}
			}
			b.lowest[player] = rtt
		}
	}
}

// Forget drops a player.
func (b *Book) Forget(player people.ID) { delete(b.lowest, player) }

// landmarks is how many servers near the host everybody measures (bench/experiments/even-sides.md).
const landmarks = 12

// Landmarks returns servers near the host, if it knows where it is. Their pings tell what a line
// suggests.
func (b *Book) Landmarks(servers []discovery.Server) []int {
	return excess.Near(servers, b.at, landmarks)
}

// Found returns what the table's players have in excess. The lines of players who are not outside
// tell nothing, because they share the host's. Earlier is what a player's program remembers.
func (b *Book) Found(servers []discovery.Server, table *selection.Table, isOutside func(people.ID) bool, earlier func(people.ID) []memory.Cell) map[string]selection.Excess {
	round, before := make([]time.Duration, len(table.Players())), make([][]memory.Cell, len(table.Players()))
	for i, player := range table.Players() {
		before[i] = earlier(people.ID(player))
		if isOutside(people.ID(player)) {
			round[i] = b.lowest[people.ID(player)]
		}
	}
	found := map[string]selection.Excess{}
	for i, e := range excess.Find(servers, table, round, before, b.at) {
		if e != (selection.Excess{}) {
			found[table.Players()[i]] = e
		}
	}
	return found
}
