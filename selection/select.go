package selection

import (
	"cmp"
	"slices"
)

// Select chooses the server for the players of a table, whose rows are the
// servers. It reads the table's sums once, whatever the number of players;
// only weights and the servers it tells of make it look at cells.
func Select(servers Servers, table *Table, wish Wish) Selection {
	r := newRound(servers, table, wish, nobody)
	r.run()
	return r.document()
}

// round is one choice in the making.
type round struct {
	servers Servers
	wish    Wish
	view    *view
	judge   *judge
	// fates holds why each server was culled, or none.
	fates  []Cause
	culled [none]int
	limit  cell
	best   []candidate
}

// candidate is a server that suits everyone.
type candidate struct {
	server int
	score  float64 // microseconds
}

func newRound(servers Servers, table *Table, wish Wish, dropped int) *round {
	v := newView(table, wish, dropped)
	return &round{
		servers: servers, wish: wish, view: v, judge: newJudge(servers, wish, v),
		fates: make([]Cause, table.Servers()),
	}
}

func (r *round) run() {
	lowest := r.cull()
	r.limit = r.wish.limit(lowest)
	r.rank()
}

// cull decides everyone's fate, limits apart, and returns the lowest worst RTT
// among the survivors.
func (r *round) cull() cell {
	lowest := lost
	for server := range r.fates {
		s := r.view.sums(server)
		fate := r.judge.causes(server, s).first()
		r.fates[server] = fate
		if fate != none {
			r.culled[fate]++
		} else {
			lowest = min(lowest, s.worst)
		}
	}
	return lowest
}

// rank culls who is over the limit and keeps the best of the rest.
func (r *round) rank() {
	measure := r.wish.By.measure()
	for server, fate := range r.fates {
		if fate != none {
			continue
		}
		s := r.view.sums(server)
		if r.limit != 0 && s.worst > r.limit {
			r.fates[server] = OverThreshold
			r.culled[OverThreshold]++
			continue
		}
		r.keep(candidate{server, r.view.score(measure, server, s)})
	}
	if r.wish.Top <= 0 {
		slices.SortFunc(r.best, r.compare)
	}
}

// keep takes a candidate among the best, of which there are no more than the
// wish wants; all of them stay unsorted if it wants all.
func (r *round) keep(c candidate) {
	top := r.wish.Top
	if top <= 0 {
		r.best = append(r.best, c)
		return
	}
	if len(r.best) == top && r.compare(c, r.best[top-1]) > 0 {
		return
	}
	if len(r.best) == top {
		r.best = r.best[:top-1]
	}
	i, _ := slices.BinarySearchFunc(r.best, c, r.compare)
	r.best = slices.Insert(r.best, i, c)
}

func (r *round) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(a.score, b.score)
	}
	return r.servers.compare(a.server, b.server)
}

func (r *round) document() Selection {
	doc := Selection{
		Format: Format, By: r.wish.By, Players: r.view.table.Players(),
		Ranking: make([]Ranked, 0, len(r.best)),
		Culled:  culledOf(r.culled),
		Reasons: r.reasons(),
		LimitMS: millis(float64(r.limit)),
	}
	for _, c := range r.best {
		doc.Ranking = append(doc.Ranking, r.ranked(c))
	}
	if len(doc.Ranking) > 0 {
		chosen := doc.Ranking[0]
		doc.Chosen = &chosen
	}
	return doc
}

func (r *round) ranked(c candidate) Ranked {
	s := r.view.sums(c.server)
	return Ranked{
		Addr: r.servers.List[c.server].Addr, Server: c.server,
		Score: millis(c.score), MeanMS: millis(s.mean()),
		MaxMS: millis(float64(s.worst)), StdevMS: millis(s.deviation()),
		RTT: r.rtts(c.server), WorstOff: r.worstOff(c.server, s.worst),
	}
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

// worstOff is the player with the worst RTT, the first by name.
func (r *round) worstOff(server int, worst cell) string {
	names := r.view.where(server, func(c cell) bool { return c == worst })
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}
