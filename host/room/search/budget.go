package search

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

const (
	// MaxMore is the most servers that one order adds for each player. They make a third of a usual
	// search, and take a few seconds.
	MaxMore = 200
	// maxInAll is the most servers that all orders of a round add. An organiser who clicks again
	// and again must not send programs through a list of tens of thousands.
	maxInAll = 5 * MaxMore
	// worthMore is a gain that is not worth more servers while people vote. The search never claims
	// less.
	worthMore = 2 * time.Millisecond
)

// Terms are a room's limits on the servers that each player may be asked for.
type Terms struct {
	// Servers is the budget of the search, 0 for the usual one and negative for the whole list.
	Servers int
	// Votes says that people vote while the search goes on.
	Votes bool
	// Listed is the length of the list.
	Listed int
}

// Spare returns how many servers the search may still ask a player for. Left is the rest of the
// promised number. The search keeps some of it for the looks, and for the time of a vote.
func (t Terms) Spare(left int, isVoting bool) int {
	left -= wire.SearchFinalists
	if t.Votes && !isVoting {
		left -= wire.VoteBudget
	}
	return max(0, left)
}

// Budget counts the servers that each player may be asked for in a round.
type Budget struct{ state BudgetState }

// BudgetState is the saved state of a budget.
type BudgetState struct {
	// Servers is the organiser's addition to the budget of the search.
	Servers int `json:"servers,omitempty"`
	// Dry says that a search ran out of servers before its budget.
	Dry bool `json:"dry,omitempty"`
}

// State returns the state, to save or restore it.
func (b *Budget) State() *BudgetState { return &b.state }

// Validate returns the first fault of a saved budget, or nil.
func (s BudgetState) Validate() error {
	if s.Servers < 0 || s.Servers > maxInAll {
		return fmt.Errorf("%d servers more than the search was allowed", s.Servers)
	}
	return nil
}

// Max returns the most servers of the list that each player is asked for, 0 for the whole list.
func (b *Budget) Max(t Terms) int {
	servers := cmp.Or(t.Servers, wire.SearchBudget)
	if servers < 0 {
		return 0
	}
	most := servers + wire.SearchFinalists + b.state.Servers
	if t.Votes {
		most += wire.VoteBudget
	}
	return t.bounded(most)
}

// MaxTold returns the most servers that a player was or will be promised, 0 for the whole list.
func (b *Budget) MaxTold(t Terms, promised []int) int {
	most := b.Max(t)
	if most == 0 {
		return 0
	}
	for _, n := range promised {
		most = max(most, n)
	}
	return t.bounded(most)
}

// bounded returns most, or 0 if that is the whole list.
func (t Terms) bounded(most int) int {
	if t.Listed > 0 && most >= t.Listed {
		return 0
	}
	return most
}

// Left returns how many more servers one order may add for each player, 0 for none.
func (b *Budget) Left() int {
	if b.state.Dry {
		return 0
	}
	return max(0, min(MaxMore, maxInAll-b.state.Servers))
}

// Grant grants the organiser's order of more servers for each player, but no more than most. It
// returns the number granted.
func (b *Budget) Grant(servers, most int) (int, error) {
	switch {
	case most == 0:
		return 0, errors.New("to ask more servers would help nobody now")
	case servers < 1 || servers > MaxMore:
		return 0, fmt.Errorf("between 1 and %d servers more can be asked at a time", MaxMore)
	}
	servers = min(servers, most)
	b.state.Servers += servers
	return servers, nil
}

// Offer returns the most servers that each player may be asked for after an order, 0 for the whole
// list.
func (b *Budget) Offer(t Terms, servers int) int {
	most := b.Max(t)
	if most == 0 || most+servers >= t.Listed {
		return 0
	}
	return most + servers
}

// Close notes whether a search ran out of servers before its budget.
func (b *Budget) Close(isDry bool) { b.state.Dry = isDry }

// Unasked counts the addresses in a list that some player has not measured, but that stayed silent
// to nobody. It counts addresses, because servers at one address are equally far. Hidden are the
// servers that some player cannot reach.
func Unasked(tree *topology.Tree, table *selection.Table, hidden []int) int {
	players := len(table.Players())
	// By address: known counts the players who know it, and last is the last such column plus 1.
	known, last := make([]int, tree.Nodes()), make([]int, tree.Nodes())
	for column := range players {
		for server := range table.Measured() {
			state, _ := table.At(column, server)
			switch at := tree.Of(server); {
			case state == discovery.Unprobed:
			case state != discovery.Answered:
				known[at] = players
			case last[at] <= column:
				known[at]++
				last[at] = column + 1
			}
		}
	}
	for _, server := range hidden {
		known[tree.Of(server)] = players
	}
	unasked := 0
	for server := range tree.List() {
		if at := tree.Of(server); known[at] < players {
			known[at] = players
			unasked++
		}
	}
	return unasked
}

// slowTurn is how long a room waits for its turn before it tells people.
const slowTurn = 5 * time.Second

// Turns is a room's wait for processor time. The rooms of a host that search take turns.
type Turns struct {
	// since is when the room asked for a turn, zero if it waits for none. isTold notes that people
	// know.
	since  roomtime.Time
	isTold bool
	// waited is how long the measuring has waited for earlier turns.
	waited time.Duration
}

// Await waits for a turn. It reports whether the room has to ask for one, and may return a note for
// people.
func (t *Turns) Await(isBackground bool, now roomtime.Time) (isNew bool, note sentence.Sentence) {
	if isNew = t.since.IsZero(); isNew {
		t.since = now
	}
	if !isBackground && !t.isTold && now.Sub(t.since) >= slowTurn {
		t.isTold = true
		note = sentence.Of("room.queue")
	}
	return isNew, note
}

// Take takes the turn.
func (t *Turns) Take(now roomtime.Time) { *t = Turns{waited: t.Waited(now)} }

// Waited returns how long the measuring has waited for turns.
func (t *Turns) Waited(now roomtime.Time) time.Duration {
	if t.since.IsZero() {
		return t.waited
	}
	return t.waited + now.Sub(t.since)
}

// Begin begins another measuring. The room still waits for a turn that it has asked for.
func (t *Turns) Begin() { t.waited = 0 }
