package coordinate

import (
	"math"
	"slices"

	"muster/discovery"
)

// row is a machine and what the players measured of it.
type row struct {
	// rtts are the lowest that each player measured, in ms; 0 is none.
	rtts []float64
	// waiting counts questions under way.
	waiting int
	// server is the one of the machine's that is asked for, -1 if none suits.
	server int
	// missing is how many of those who are here have not measured it.
	missing int
	// scouted: one player was asked for it, to see whether it is worth it.
	scouted bool
	// wanted: everybody is to measure it.
	wanted bool
	// doubts are the players whose RTT may be that of a full queue.
	doubts []int
	// score is that of the RTTs, predicted where there are none, and hope what it
	// is if those that are doubted are as their relatives.
	score, hope float64
	// promise is what that says of its neighbours, and off how far off it may be.
	promise, off float64
	// worst is the highest RTT behind the promise.
	worst float64
}

// heard tells a row that somebody measured.
func (r *row) heard() bool {
	return slices.ContainsFunc(r.rtts, func(ms float64) bool { return ms > 0 })
}

// whole tells a row that everybody measured.
func (r *row) whole() bool { return r.missing == 0 }

// row is that of a machine, made if need be.
func (p *Planner) row(at int32) *row {
	r := p.rows[at]
	if r == nil {
		r = &row{missing: p.present()}
		p.rows[at] = r
		p.known = append(p.known, at)
		p.represent(at, r)
	}
	if n := len(p.members); len(r.rtts) < n {
		r.rtts = append(r.rtts, make([]float64, n-len(r.rtts))...)
	}
	return r
}

// Observe takes what a player measured of a server, asked for or not. Several
// results of one server count as the lowest.
func (p *Planner) Observe(player int, result discovery.Result) {
	m, at := p.members[player], p.tree.of[result.Server]
	r := p.row(at)
	if round, asked := m.waiting[result.Server]; asked {
		m.heard = max(m.heard, round)
		delete(m.waiting, result.Server)
		r.waiting--
	}
	switch result.State {
	case discovery.Answered:
		m.met[result.Server] = true
		p.answered(player, at, r, max(0.001, result.RTT.Seconds()*1000))
	case discovery.Lost, discovery.Refused:
		if !m.met[result.Server] {
			p.ruin(m, result.Server)
		}
	default:
		return
	}
	m.mark(result.Server, true)
	if r.server < 0 || !p.usable(r.server) {
		p.represent(at, r)
	}
}

func (p *Planner) answered(player int, at int32, r *row, ms float64) {
	if before := r.rtts[player]; before > 0 {
		if ms < before {
			r.rtts[player] = ms
			p.relatives.correct(player, at, before-ms)
		}
		return
	}
	p.relatives.add(player, len(p.members), at, ms)
	r.rtts[player] = ms
	if !p.members[player].absent {
		r.missing--
	}
}

// ruin notes that a server does not answer a player.
func (p *Planner) ruin(m *member, server int) {
	if !m.failed[server] {
		m.failed[server] = true
		if !m.absent {
			p.ruined[server]++
		}
	}
}

// Inform notes that a server's Info came or changed.
func (p *Planner) Inform(server int) {
	p.filter.Update(server)
	if r := p.rows[p.tree.of[server]]; r != nil && (r.server < 0 || !p.usable(r.server)) {
		p.represent(p.tree.of[server], r)
	}
}

// represent picks the server that stands for a machine: rather one that suits for
// certain, then the one that most players have measured. A machine of which
// nobody heard but somebody heard nothing is taken to be dead.
func (p *Planner) represent(at int32, r *row) {
	r.server = -1
	most := -1
	for _, s := range p.tree.servers(at) {
		server := int(s)
		if p.ruined[server] > 0 && !r.heard() {
			r.server = -1
			return
		}
		if votes := p.votes(server); p.usable(server) && votes > most {
			most, r.server = votes, server
		}
	}
}

// votes counts who measured a server; that it suits for certain outweighs all.
func (p *Planner) votes(server int) int {
	votes := 0
	if !p.unknown(server) {
		votes = len(p.members)
	}
	for _, m := range p.members {
		if m.has(server) {
			votes++
		}
	}
	return votes
}

// usable tells a server that may be the group's, as far as is known.
func (p *Planner) usable(server int) bool {
	barred, _ := p.filter.Bars(server)
	return !barred && p.ruined[server] == 0
}

// unknown tells a server that has to say something of itself first.
func (p *Planner) unknown(server int) bool {
	_, unknown := p.filter.Bars(server)
	return unknown
}

// reconsider counts anew after players came or went.
func (p *Planner) reconsider() {
	p.spent = false
	clear(p.ruined)
	for _, m := range p.members {
		for server := range m.failed {
			if !m.absent {
				p.ruined[server]++
			}
		}
	}
	for _, at := range p.known {
		r := p.row(at)
		r.missing = 0
		for player, m := range p.members {
			if !m.absent && r.rtts[player] == 0 {
				r.missing++
			}
		}
		p.represent(at, r)
	}
}

// judge brings a row's score up to date. Where RTTs are missing the score is of
// predictions, and as far off as if all of them erred the same way.
func (p *Planner) judge(at int32, r *row) {
	r.doubts = r.doubts[:0]
	n := len(r.rtts)
	measured, low, middle, high := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for player, ms := range r.rtts {
		off := 0.0
		if p.members[player].absent {
			continue
		}
		if ms == 0 {
			ms, off = p.relatives.predict(player, at)
			measured[player] = ms
		} else {
			measured[player] = ms
			if likely, o, doubt := p.doubted(player, at, ms); doubt {
				ms, off = likely, o
				r.doubts = append(r.doubts, player)
			}
		}
		low[player], middle[player], high[player] = max(1, ms-off), ms, ms+off
	}
	r.worst = highest(middle)
	r.score, r.hope, r.promise = p.scorer.score(measured), p.scorer.score(middle), p.scorer.promise(middle)
	r.off = max(math.Abs(p.scorer.promise(high)-r.promise), math.Abs(p.scorer.promise(low)-r.promise))
}
