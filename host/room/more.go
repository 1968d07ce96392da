package room

import (
	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/room/search"
	"muster/host/wire"
)

// More has each player ask so many servers besides: those which could suit the group best,
// as far as can be told from what was measured, however it was. Then the room chooses again.
type More struct {
	Servers int `json:"servers"`
}

func (More) steers() {}

func (a More) do(r *Room, _ caller) error {
	if !r.mayDecideAgain() {
		return errNoAdvice
	}
	servers, err := r.round.budget.Grant(a.Servers, r.worthAsking())
	if err != nil {
		return err
	}
	r.note("the organiser has everyone ask %s", search.InWords(servers, "more "))
	if most := r.mostTold(); most > 0 {
		r.note("now %s", discovery.Before(most, 0, len(r.round.servers.List)))
	}
	r.do(Publish{}) // people read the new number before anybody is asked
	r.round.choice, r.round.search = r.round.choice.Forget(), nil
	r.round.turns.Begin()
	// Nobody has said of the next choice that they are ready.
	r.round.ballot.Withdraw("", ballot.Ready|ballot.ByHand)
	r.enter(&Coordinating{More: servers})
	r.round.attendance.Again(r.now)
	r.round.launches.Restart()
	for _, p := range r.round.players {
		p.witness.AskMore()
		p.shares = false
		if p.briefed != r.round.number {
			r.send(p, r.round.listFor(p))
		}
		r.measure(p)
	}
	return nil
}

// asksMore reports whether players ask more because the organiser wants it: for a choice
// among those for whom the last one was made.
func (r *Room) asksMore() bool {
	c, coordinating := r.phase.(*Coordinating)
	return coordinating && c.More > 0
}

// worthAsking returns how many servers more each player could be asked for now, 0 where that
// would help nobody: where all have been asked, or everybody has what can be had. While people
// vote a coordinated search goes on by itself, and says what it expects when it is over.
func (r *Room) worthAsking() int {
	left := r.round.budget.Left()
	if left == 0 || !r.mayDecideAgain() {
		return 0
	}
	if r.isVoting() && r.strategy() == wire.Coordinated && !r.round.search.IsWorthMore() {
		return 0
	}
	var heads []*player
	var hidden []int
	for _, group := range r.round.natGroups(r.round.chosenFor()) {
		heads = append(heads, group[0])
		for _, p := range group {
			hidden = append(hidden, r.round.nearby.HiddenFrom(p.name)...)
		}
	}
	return min(left, search.Unasked(r.round.list.Tree(), r.round.table(heads), hidden))
}
