package selection

import (
	"cmp"

	"muster/discovery"
)

// Select chooses the server for the players of a table, whose rows are the
// servers. It reads the table's sums once, whatever the number of players;
// only weights and the servers it tells of make it look at cells.
//
// The selection tells why, too: see [Why].
func Select(servers Servers, table *Table, criteria Criteria) Selection {
	r := newRound(NewFilter(servers, criteria), table, nobody)
	doc := r.document()
	doc.Why = r.why(&doc)
	return doc
}

// Select chooses among the servers of the filter, which are the table's rows. It
// does not say why, for the sake of whoever chooses many times a second.
func (s *Filter) Select(table *Table) Selection {
	return newRound(s, table, nobody).document()
}

// round is one choice.
type round struct {
	*Filter
	view *view
	// fates holds why each server was culled, or none.
	fates  []Cause
	culled [none + 1]int
	limit  cell
	best   []candidate
	// extra is what quality adds to the finalists' scores, usual to the others'.
	extra map[int]float64
	usual float64
}

// candidate is a server that suits everyone.
type candidate struct {
	server int
	score  float64 // microseconds
}

// newRound chooses for all players but the dropped one.
func newRound(s *Filter, table *Table, dropped int) *round {
	s.note()
	r := &round{Filter: s, view: newView(table, s.criteria, dropped), fates: make([]Cause, table.Servers())}
	r.restrict(r.cull())
	r.qualify()
	r.rank()
	return r
}

// cull decides everyone's fate, limits apart, and returns the lowest worst RTT
// among the survivors.
func (r *round) cull() cell {
	lowest := lost
	for server, row := range r.view.table.rows {
		s := &r.view.sums[row]
		fate := r.against(server, s).first()
		r.fates[server] = fate
		r.culled[fate]++
		if fate == none {
			lowest = min(lowest, s.worst)
		}
	}
	return lowest
}

// against is everything that speaks against a server, limits apart.
func (r *round) against(server int, s *sums) causes {
	c := r.causes[server]
	switch {
	case s.failed > 0:
		c.add(Unreachable)
	case s.answered < r.view.needed:
		c.add(Unmeasured)
	}
	if len(r.pingLimits) > 0 && r.shutOut(server) {
		c.add(PingLimits)
	}
	return c
}

// shutOut tells a server that does not let in one of the players.
func (r *round) shutOut(server int) bool {
	d, ok := r.pingLimits[server]
	return ok && (d.shuts(r.view.of(server).worst) || d.least != 0 && r.view.any(server, d.shuts))
}

// suits tells a survivor.
func (r *round) suits(server int) bool { return r.fates[server] == none }

// restrict culls who is over the limit: the strictest that a server with the lowest
// worst RTT can keep, else the loosest.
func (r *round) restrict(lowestWorst cell) {
	for _, limit := range r.view.objective.limits {
		if r.limit = cellOf(discovery.Answered, limit); lowestWorst <= r.limit {
			break
		}
	}
	if r.limit == 0 {
		return
	}
	for server := range r.fates {
		if r.suits(server) && r.view.of(server).worst > r.limit {
			r.fates[server] = OverThreshold
			r.culled[OverThreshold]++
		}
	}
}

// rank keeps the best of the survivors.
func (r *round) rank() {
	best := top[candidate]{limit: max(0, r.criteria.Top), compare: r.prefer}
	for server := range r.fates {
		if r.suits(server) {
			best.add(candidate{server, r.score(server)})
		}
	}
	r.best = best.sorted()
}

// prefer orders candidates by their scores and by what it costs to leave no seat
// to spare.
func (r *round) prefer(a, b candidate) int {
	if r.tight != nil {
		a.score, b.score = a.score+r.tightness(a.server), b.score+r.tightness(b.server)
	}
	return r.compare(a, b)
}

// tightness is what a server loses for being full with the group, in
// microseconds.
func (r *round) tightness(server int) float64 {
	if r.tight[server] {
		return float64(r.criteria.Spare.Microseconds())
	}
	return 0
}

func (r *round) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(a.score, b.score)
	}
	return r.servers.compare(a.server, b.server)
}

func (r *round) document() Selection {
	doc := Selection{
		Format: Format, By: r.criteria.By,
		Players: append([]string{}, r.view.table.players...),
		Ranking: make([]Ranked, 0, len(r.best)),
		Culled:  culledOf(r.culled),
		Reasons: r.reasons(),
		LimitMS: millis(float64(r.limit)),
	}
	for _, c := range r.best {
		doc.Ranking = append(doc.Ranking, r.ranked(c))
	}
	var kept candidate
	doc.Keep, kept = r.stay()
	if len(r.best) == 0 {
		return doc
	}
	chosen := doc.Ranking[0]
	if doc.Keep != nil && doc.Keep.Stays {
		chosen = r.ranked(kept)
	}
	doc.Chosen = &chosen
	return doc
}

func (r *round) ranked(c candidate) Ranked {
	s := r.view.of(c.server)
	doc := Ranked{
		Addr: r.servers.List[c.server].Addr, Server: c.server,
		Score: millis(c.score), MeanMS: millis(s.mean()),
		MaxMS: millis(float64(s.worst)), StdevMS: millis(s.deviation()),
		RTT: r.rtts(c.server), WorstOff: r.worstOff(c.server),
		Tight: r.tight != nil && r.tight[c.server],
	}
	doc.Loss, doc.JitterMS = r.qualities(c.server)
	return doc
}

func (r *round) rtts(server int) map[string]float64 {
	t := r.view.table
	rtts := make(map[string]float64, len(t.players))
	for player, name := range t.players {
		if c := t.cell(player, server); player != r.view.dropped && c.answered() {
			rtts[name] = millis(float64(c))
		}
	}
	return rtts
}

// worstOff is the player with the highest RTT, of several the first by name.
func (r *round) worstOff(server int) string {
	worst := r.view.of(server).worst
	return r.view.where(server, func(c cell) bool { return c == worst })[0]
}

// qualities are each player's loss and jitter, for a finalist.
func (r *round) qualities(server int) (loss, jitter map[string]float64) {
	qualities := r.view.table.quality[server]
	if qualities == nil {
		return nil, nil
	}
	loss, jitter = make(map[string]float64), make(map[string]float64)
	for player, name := range r.view.table.players {
		if player != r.view.dropped {
			loss[name] = qualities[player].Loss
			jitter[name] = millis(float64(qualities[player].Jitter.Microseconds()))
		}
	}
	return loss, jitter
}
