package coordinate

import (
	"math"
	"slices"
)

const (
	// lookRound is how many countries everybody looks at again in a round, and
	// suspectRound how many those do whose routes are in doubt.
	lookRound    = 2
	suspectRound = 8
)

// lookAround has everybody measure one server in each country that nobody knows,
// and tells whether there are any.
func (p *Planner) lookAround(a *asking) (unknown bool) {
	for c := int32(1); int(c) < p.tree.nodes(); c = p.tree.end[c] {
		if p.belief.precision[c] > 0 {
			continue
		}
		if at := p.anyOf(c, func(int32) bool { return true }); at > 0 {
			p.row(at).wanted = true
			a.everybody(at)
			unknown = true
		}
	}
	return unknown
}

// lookAgain has another network of hopeful countries measured: by everybody if
// the country is large, as it has near and far parts; else by those whose RTT
// alone speaks against it, as their way may have been a detour.
func (p *Planner) lookAgain(a *asking) {
	var large, suspect []guess
	p.hopeful = 0
	for i := range p.lands {
		l := &p.lands[i]
		size := math.Log2(float64(p.tree.children[l.node]))
		some, all := l.seen(p)
		if float64(all) < 1+size/2 {
			large = append(large, guess{int32(i), l.hope - size/2 + float64(all)/2})
		}
		doubtful := slices.ContainsFunc(l.suspects, func(player int) bool { return l.doubtful(player, 2+size/2) })
		if doubtful && some < int(p.tree.children[l.node]) {
			suspect = append(suspect, guess{int32(i), l.hope + float64(some)/2})
			p.hopeful = max(p.hopeful, p.best-p.score(l.hope))
		}
	}
	p.lookInto(large, lookRound, func(l *land, at int32) {
		p.row(at).wanted = true
		a.everybody(at)
	})
	p.lookInto(suspect, suspectRound, func(l *land, at int32) {
		for _, player := range l.suspects {
			a.ask(player, p.row(at).server)
		}
	})
}

// lookInto looks at networks that nobody knows of the most hopeful countries.
func (p *Planner) lookInto(lands []guess, most int, look func(l *land, at int32)) {
	sortGuesses(lands)
	for _, g := range lands {
		l := &p.lands[g.machine]
		at := p.anyOf(l.node, func(at int32) bool { return p.belief.precision[p.tree.above(at, network)] == 0 && p.rows[at] == nil })
		if at > 0 && most > 0 {
			look(l, at)
			most--
		}
	}
}

// anyOf is some machine below a node that may be asked for, drawn by servers, or
// 0 if there is hardly any.
func (p *Planner) anyOf(node int32, fits func(machine int32) bool) int32 {
	servers := p.tree.servers(node)
	for range 30 {
		at := p.tree.of[servers[p.rng.IntN(len(servers))]]
		if fits(at) && p.open(at) {
			return at
		}
	}
	return 0
}
