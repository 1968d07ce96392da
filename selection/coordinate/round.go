package coordinate

import (
	"slices"
)

// Batch is what one player is to ask now, in this order.
type Batch struct {
	Player  int
	Servers []int
}

const (
	// worlds is how many are imagined in a round, at least.
	worlds = 16
	// boldEvery is how often one of them is bold.
	boldEvery = 4
	// mostWorlds bounds the search for something to ask.
	mostWorlds = 64
)

// Next is what the players are to ask now, by player; who has enough to do, or is
// not here, has no batch. None at all means that there is nothing to ask, at
// least until answers come: see [Progress.Done].
//
// Call it when most of what was asked has been answered; who is late holds
// nobody up.
func (p *Planner) Next() []Batch {
	a := p.newAsking()
	if len(a.quota) == 0 {
		p.spent = !p.busy()
		return nil
	}
	p.learn()
	p.history = append(p.history, p.best)
	if p.round > 0 || !p.lookAround(a) {
		p.finish(a)
		p.askAround(a)
		p.lookAgain(a)
		p.lookAhead(a)
	}
	batches := a.batches()
	p.spent = len(batches) == 0 && !p.busy()
	p.round++
	return batches
}

func (p *Planner) busy() bool {
	return slices.ContainsFunc(p.members, func(m *member) bool { return !m.absent && len(m.waiting) > 0 })
}

// finish has the rest of the group measure what was begun.
func (p *Planner) finish(a *asking) {
	for _, at := range p.known {
		r := p.rows[at]
		if !r.wanted && r.scouted && r.waiting == 0 {
			p.review(at, r)
		}
		if r.wanted && r.server >= 0 && !r.whole() {
			a.everybody(at)
		}
	}
	for _, at := range p.leaders(finalists) {
		a.verify(p.rows[at].server)
	}
}

// hopeless is how many standard deviations a prediction must be wrong by for a
// machine to be as good as the best, if nobody else is to look at it.
const hopeless = 4

// review decides whether what one player found is worth everybody's look. It
// drops only what is hopeless: predictions of one player's RTTs from another's
// are poor.
func (p *Planner) review(at int32, r *row) {
	r.scouted = false
	p.reviewed++
	if r.server < 0 || p.unknown(r.server) || !r.heard() {
		return
	}
	if r.promise-hopeless*(r.off+noise) < p.best+margin(p.best) {
		r.wanted = true
		p.passed++
	}
}

// lookAhead has one player each look at the best servers of imagined worlds.
func (p *Planner) lookAhead(a *asking) {
	fresh := a.fresh()
	limit := p.value(p.best)
	if p.leader < 0 {
		limit = p.value(p.lowest)
	}
	slack, seen := 0.0, make(map[int32]bool)
	for n := 0; n < mostWorlds && fresh > 0; n++ {
		most := max(1, (fresh+worlds-1-n%worlds)/worlds)
		bold := n%boldEvery == boldEvery-1
		guesses := p.imagine(limit+slack, bold)
		if bold {
			p.dreamt(guesses)
		}
		kept := p.apart(guesses, most, seen)
		if len(kept) < most {
			slack = 2*slack + 0.02
		}
		for _, g := range kept {
			if p.look(a, g.machine) {
				fresh--
			}
		}
	}
}

// look has one player look at a machine; everybody, if somebody has. It tells
// whether anyone is asked.
func (p *Planner) look(a *asking, at int32) bool {
	r := p.row(at)
	if r.server >= 0 && !r.wanted {
		p.represent(at, r)
	}
	if r.server < 0 {
		return false
	}
	if r.heard() && !p.unknown(r.server) {
		r.wanted = true
		return a.everybody(at)
	}
	r.scouted = true
	return a.scout(r.server)
}
