package room

import (
	"errors"
	"fmt"
	"time"

	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/room/search"
	"muster/host/wire"
)

const (
	// moreServers is how many servers each player is asked for besides when the organiser
	// wants more: a third of what a search is allowed, and a few seconds.
	moreServers = 200
	// mostMore is how many that are in one round at most: nobody's program is to go
	// through a list of tens of thousands by an organiser's finger.
	mostMore = 5 * moreServers
	// Where no server more than worthMore better is expected people who vote are not told
	// that they could look for one: the search never claims less.
	worthMore = worthAnother * time.Millisecond
)

// more is what the organiser had everyone ask in a round beyond what its search was allowed.
type more struct {
	// Servers is how many that were of each player.
	Servers int `json:"servers,omitempty"`
	// Dry: there was less to ask than that.
	Dry bool `json:"dry,omitempty"`
}

// More has each player ask so many servers besides: those which could suit the group best,
// as far as can be told from what was measured, however it was. Then the room chooses again.
type More struct {
	Servers int `json:"servers"`
}

func (More) steers() {}

func (a More) do(r *Room, _ caller) error {
	most := r.worthAsking()
	switch {
	case !r.mayDecideAgain():
		return errNoAdvice
	case most == 0:
		return errors.New("to ask more servers would help nobody now")
	case a.Servers < 1 || a.Servers > moreServers:
		return fmt.Errorf("between 1 and %d servers more can be asked at a time", moreServers)
	}
	servers := min(a.Servers, most)
	r.round.more.Servers += servers
	r.note("the organiser has everyone ask %s", search.InWords(servers, "more "))
	if most := r.mostTold(); most > 0 {
		r.note("now %s", discovery.Before(most, 0, len(r.round.servers.List)))
	}
	r.do(Publish{}) // people read the new number before anybody is asked
	r.round.selection, r.round.whatIf, r.round.search, r.round.waited = nil, nil, nil, 0
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

// worthAsking is how many servers more each player could be asked for now, 0 where that
// would help nobody: where all have been asked, or everybody has what can be had. While
// people vote a coordinated search goes on by itself, and says what it expects when it is
// over.
func (r *Room) worthAsking() int {
	if !r.mayDecideAgain() || r.round.more.Dry {
		return 0
	}
	if r.isVoting() && r.strategy() == wire.Coordinated {
		s := r.round.search
		if s == nil || !s.IsBehind() {
			return 0
		}
		p := s.Progress()
		if !p.Done || p.Best < 0 || p.RegretBound <= worthMore && p.Reach == 0 {
			return 0
		}
	}
	most := min(moreServers, mostMore-r.round.more.Servers)
	if most <= 0 {
		return 0
	}
	return min(most, r.round.unasked(r.round.chosenFor()))
}

// askMoreText is what the organiser's button says: what is asked, and what everybody shows
// for it.
func (r *Room) askMoreText(n int) string {
	most, listed := r.mostShown(), len(r.round.servers.List)
	if most == 0 || most+n >= listed {
		return "ask " + search.InWords(n, "more ")
	}
	return fmt.Sprintf("ask %s: then %s", search.InWords(n, "more "), discovery.Before(most+n, 0, listed))
}

// unasked is how many addresses in the list not all of a group have measured, and nobody
// in vain: the servers of one are equally far.
func (r *round) unasked(group []*player) int {
	natGroups, tree := r.natGroups(group), r.list.Tree()
	// by address, how many NAT groups know it, and which did last
	known, last := make([]int, tree.Nodes()), make([]int, tree.Nodes())
	for i, players := range natGroups {
		k := r.knowledge(players[0])
		for server := range k.Servers() {
			switch at := tree.Of(server); {
			case k.At(server).State != discovery.Answered:
				known[at] = len(natGroups)
			case last[at] <= i:
				known[at]++
				last[at] = i + 1
			}
		}
	}
	for _, p := range group {
		for _, hidden := range r.nearby.HiddenFrom(p.name) {
			known[tree.Of(hidden)] = len(natGroups)
		}
	}
	unasked := 0
	for server := range r.servers.List {
		if at := tree.Of(server); known[at] < len(natGroups) {
			known[at] = len(natGroups)
			unasked++
		}
	}
	return unasked
}
