package search

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/wire"
	"muster/selection"
)

const (
	// MostMore is how many servers more each player can be asked for by one order: a third of what
	// a search may ask, and a few seconds.
	MostMore = 200
	// mostInAll is how many more that are in one round: nobody's program should go through a list
	// of tens of thousands because an organiser clicks again and again.
	mostInAll = 5 * MostMore
	// worthMore is what more servers must promise while people vote: the search never claims
	// less.
	worthMore = 2 * time.Millisecond
)

// Terms are what a room says of how many servers each player may be asked for.
type Terms struct {
	// Servers is how many the search may ask for, 0 for the usual number and negative for the
	// whole list.
	Servers int
	// Votes: people vote, and the search goes on meanwhile.
	Votes bool
	// Listed is how many servers the list has.
	Listed int
}

// Spare returns how many servers the search may still ask a player for, if left of the promised
// number remain. The looks need some of them, and so does the search that goes on while people
// vote.
func (t Terms) Spare(left int, isVoting bool) int {
	left -= wire.SearchFinalists
	if t.Votes && !isVoting {
		left -= wire.VoteBudget
	}
	return max(0, left)
}

// Budget is how many servers each player may be asked for in a round.
type Budget struct {
	// more is how many that are beyond what the search was allowed, by the organiser's word.
	more int
	// isDry: there was less to ask than that.
	isDry bool
}

// Most returns how many servers of the list each player is asked for at most, 0 for the whole
// list.
func (b *Budget) Most(t Terms) int {
	servers := cmp.Or(t.Servers, wire.SearchBudget)
	if servers < 0 {
		return 0
	}
	most := servers + wire.SearchFinalists + b.more
	if t.Votes {
		most += wire.VoteBudget
	}
	return t.bounded(most)
}

// MostTold returns the largest number that a player was promised already, or will be, 0 for the
// whole list.
func (b *Budget) MostTold(t Terms, promised []int) int {
	most := b.Most(t)
	if most == 0 {
		return 0
	}
	for _, n := range promised {
		most = max(most, n)
	}
	return t.bounded(most)
}

// bounded returns a number of servers, or 0 if it is the whole list.
func (t Terms) bounded(most int) int {
	if t.Listed > 0 && most >= t.Listed {
		return 0
	}
	return most
}

// Left returns how many servers more each player may be asked for at once, 0 if there is nothing
// more to ask.
func (b *Budget) Left() int {
	if b.isDry {
		return 0
	}
	return max(0, min(MostMore, mostInAll-b.more))
}

// Grant takes the organiser's order to ask each player for more servers, up to most that are worth
// it. It returns how many they are.
func (b *Budget) Grant(servers, most int) (int, error) {
	switch {
	case most == 0:
		return 0, errors.New("to ask more servers would help nobody now")
	case servers < 1 || servers > MostMore:
		return 0, fmt.Errorf("between 1 and %d servers more can be asked at a time", MostMore)
	}
	servers = min(servers, most)
	b.more += servers
	return servers, nil
}

// Offer returns the text of the organiser's button: how many servers more, and how many see
// everybody's address then.
func (b *Budget) Offer(t Terms, servers int) string {
	most := b.Most(t)
	if most == 0 || most+servers >= t.Listed {
		return "ask " + InWords(servers, "more ")
	}
	return fmt.Sprintf("ask %s: then %s", InWords(servers, "more "), discovery.Before(most+servers, 0, t.Listed))
}

// Close says whether a search that is over found less to ask than it was allowed.
func (b *Budget) Close(isDry bool) { b.isDry = isDry }

// SavedBudget is a budget at rest.
type SavedBudget struct {
	Servers int  `json:"servers,omitempty"`
	Dry     bool `json:"dry,omitempty"`
}

// Save returns the section of the saved room.
func (b *Budget) Save() SavedBudget { return SavedBudget{b.more, b.isDry} }

// RestoreBudget returns the budget that was saved.
func RestoreBudget(s SavedBudget) (Budget, error) {
	if s.Servers < 0 || s.Servers > mostInAll {
		return Budget{}, fmt.Errorf("%d servers more than the search was allowed", s.Servers)
	}
	return Budget{s.Servers, s.Dry}, nil
}

// Unasked returns the number of addresses in a list that some player of a table has not measured,
// and nobody in vain: servers at one address are equally far. Hidden are servers that some player
// cannot reach.
func Unasked(tree *topology.Tree, table *selection.Table, hidden []int) int {
	players := len(table.Players())
	// by address, how many players know it, and which did last
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
