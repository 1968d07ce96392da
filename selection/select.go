package selection

import (
	"cmp"
	"slices"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/selection/rules"
)

// Select chooses the server for the players of a table, whose rows are the servers. It reads the
// table's sums once, whatever the number of players. Only weights, extras and the servers in the
// selection make it look at cells.
//
// The selection says why, too: see [Why].
func Select(servers Servers, table *Table, criteria Criteria) Selection {
	r := newRound(NewFilter(servers, criteria), table, nobody)
	doc := r.document()
	if !r.law.decides || doc.Chosen == nil { // the law says why
		doc.Decided, doc.Why = r.decided(&doc), r.why(&doc)
	}
	if criteria.Differing && criteria.Top != 1 && doc.Chosen != nil && !r.law.decides {
		for _, c := range r.extremes(doc.Chosen.Server) {
			doc.Ranking = append(doc.Ranking, r.ranked(c))
		}
	}
	return doc
}

// Select chooses among the servers of the filter, which are the table's rows. It does not say why,
// for callers that choose many times a second.
func (f *Filter) Select(table *Table) Selection {
	return newRound(f, table, nobody).document()
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
	// extra is what quality adds to the finalists' scores, and usual what it adds to the others'.
	extra map[int]float64
	usual float64
	// preference is set if one of the group's own servers suits. stranger is the best other server.
	preference *Preference
	stranger   int
	law        lawful
}

// candidate is a server that suits everyone.
type candidate struct {
	server int
	score  float64 // microseconds
	// order is the number that ranks the candidate: its score, or the rule's function of the score.
	order float64
}

// newRound chooses for all players but the dropped one. If no server is left that keeps the criteria's
// law, or if the law has no limit, it chooses by the law's own order.
func newRound(s *Filter, table *Table, dropped int) *round {
	s.note()
	r := &round{Filter: s, view: newView(table, s.criteria, dropped), fates: make([]Cause, table.Servers())}
	r.law = r.underLaw(false)
	if r.choose(); r.law.Law == nil || len(r.best) > 0 && len(r.law.Rules) > 0 {
		return r
	}
	r = &round{Filter: s, view: newView(table, s.criteria, dropped), fates: r.fates}
	r.law = r.underLaw(true)
	r.choose()
	r.rankByLaw()
	return r
}

// choose decides every server's fate, and ranks those that suit everyone by the rule.
func (r *round) choose() {
	r.restrict(r.cull())
	r.findOwn()
	r.qualify()
	r.rank()
}

// cull decides every server's fate, except for limits, and returns the lowest worst RTT among the
// survivors.
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

// against returns all causes against a server, except for limits.
func (r *round) against(server int, s *sums) causes {
	c := r.causes[server]
	switch {
	case s.failed > 0:
		c.add(Unreachable)
	case s.answered < r.view.needed && !r.isRuledOut(server, c):
		c.add(Unmeasured)
	}
	if len(r.pingLimits) > 0 {
		limits, limited := r.pingLimits[server]
		if limited && (limits.shuts(s.worst) || limits.least != 0 && len(r.view.playersWhere(server, limits.shuts)) > 0) {
			c.add(PingLimits)
		}
	}
	if c == 0 && r.law.Law != nil && !r.law.decides && len(r.judge(server)) > 0 {
		c.add(Lawless)
	}
	return c
}

// isRuledOut reports whether the list alone speaks against a server. Nobody measures such a server.
func (r *round) isRuledOut(server int, c causes) bool {
	return c&ofKind != 0 && r.servers.Infos[server] == nil
}

func (r *round) suits(server int) bool { return r.fates[server] == none }

// restrict culls the servers over the limit: the strictest that a server with the lowest worst RTT
// can keep, else the loosest. A group without a limit gets the rule's own, if it has one.
func (r *round) restrict(lowestWorst cell) {
	if r.view.objective.LimitsItself() && lowestWorst.answered() {
		r.limit = cell(min(r.view.objective.Limit(float64(lowestWorst), microseconds), float64(maxRTT)))
	}
	for _, limit := range r.view.objective.limits {
		if r.limit = cellOf(discovery.Answered, limit); lowestWorst <= r.limit {
			break
		}
	}
	if r.limit == 0 {
		return
	}
	for server, row := range r.view.table.rows {
		if r.suits(server) && r.view.sums[row].worst > r.limit {
			r.fates[server] = OverThreshold
			r.culled[OverThreshold]++
		}
	}
}

// findOwn finds each player's own best among the survivors. A server that only some players
// measured says nothing about the group's options, and nobody could check it.
func (r *round) findOwn() {
	if !r.view.objective.Sacrifices() || len(r.view.players) == 0 {
		return
	}
	var own []int
	for server := range r.fates {
		if !r.suits(server) {
			continue
		}
		if own == nil {
			own = slices.Repeat([]int{server}, len(r.view.players))
			continue
		}
		for i, player := range r.view.players {
			c, best := r.view.table.cell(player, server), r.view.table.cell(player, own[i])
			if c < best || c == best && r.servers.compare(server, own[i]) < 0 {
				own[i] = server
			}
		}
	}
	if own != nil {
		r.view.countFrom(own)
	}
}

// rank keeps the best of the survivors.
func (r *round) rank() {
	// the price, in microseconds, of a server that would be full with the group
	spare := float64(r.criteria.Spare.Microseconds())
	// The price of not being the group's own. One figure ranks each server, so that the order is
	// consistent.
	allowed := float64(r.criteria.Allowed.Microseconds())
	figure := func(c candidate) float64 {
		if r.tight != nil && r.tight[c.server] {
			c.order += spare
		}
		if len(r.ours) > 0 && !r.isOurs(c.server) {
			c.order += allowed
		}
		return c.order
	}
	compare := func(a, b candidate) int {
		if c := cmp.Compare(figure(a), figure(b)); c != 0 {
			return c
		}
		if c := cmp.Compare(r.rankOfOwner(a.server), r.rankOfOwner(b.server)); c != 0 {
			return c
		}
		return r.servers.compare(a.server, b.server)
	}
	best := top[candidate]{limit: max(0, r.criteria.Top), compare: compare}
	firsts := [2]*candidate{} // of the group's own, and of the others
	for server := range r.fates {
		if r.suits(server) {
			c := r.candidate(server)
			best.add(c)
			if first := &firsts[r.rankOfOwner(server)]; allowed > 0 && (*first == nil || compare(c, **first) < 0) {
				*first = &c
			}
		}
	}
	r.best = best.sorted()
	if r.preference = r.comparePreference(firsts[0], firsts[1]); firsts[1] != nil {
		r.stranger = firsts[1].server
	}
}

func (r *round) document() Selection {
	doc := Selection{
		Format: Format, By: r.criteria.By,
		Players: append([]string{}, r.view.table.players...), Sides: r.view.sides(),
		Ranking: make([]Ranked, 0, len(r.best)),
		Reasons: r.reasons(),
		LimitMS: millis(float64(r.limit)), Own: r.ownBests(), Preference: r.preference,
	}
	for cause, n := range doc.Culled.counts() {
		*n = r.culled[cause]
	}
	for _, c := range r.best {
		doc.Ranking = append(doc.Ranking, r.ranked(c))
	}
	var kept candidate
	if doc.Keep, kept = r.stay(); r.law.decides && doc.Keep != nil { // a law knows no last round
		doc.Keep.Stays, doc.Keep.Gain = false, 0
	}
	if len(r.best) == 0 {
		return doc
	}
	chosen := doc.Ranking[0]
	if doc.Keep != nil && doc.Keep.Stays {
		chosen = r.ranked(kept)
	}
	if doc.Chosen = &chosen; chosen.Law != nil {
		judged := *chosen.Law
		judged.Said, chosen.Law = r.law.said, &judged
	}
	doc.Excess = r.view.excessAt(chosen.Server)
	return doc
}

func (r *round) ranked(c candidate) Ranked {
	t, s := r.view.table, r.view.sumsOf(c.server)
	worstOff := r.view.playersWhere(c.server, func(c cell) bool { return c == s.worst })[0] // the first by name
	doc := Ranked{
		Addr: hostport.At(r.servers.List[c.server].Addr), Server: c.server,
		Score: millis(c.score), MeanMS: millis(s.mean()),
		MaxMS: millis(float64(s.worst)), StdevMS: millis(s.figure(rules.Of(Fairness))),
		SideMeanMS: r.view.sideMeans(c.server),
		RTT:        make(map[string]float64, len(t.players)), WorstOff: t.players[worstOff],
		Tight: r.tight != nil && r.tight[c.server], Ours: r.isOurs(c.server), Law: r.judged(c.server),
	}
	info := r.servers.Info(c.server)
	doc.SeatsUnknown = r.criteria.Seats > 0 && info != nil && info.Uncounted() && info.Players > 0
	qualities := t.quality[c.server]
	if qualities != nil {
		doc.Loss, doc.JitterMS = make(map[string]float64), make(map[string]float64)
	}
	if r.view.own != nil {
		doc.Extra = make(map[string]float64, len(t.players))
	}
	for i, player := range r.view.players {
		name := t.players[player]
		if rtt := t.cell(player, c.server); rtt.answered() {
			doc.RTT[name] = millis(float64(rtt))
			if doc.Extra != nil {
				doc.Extra[name] = millis(r.view.extra(i, c.server))
			}
		}
		if qualities != nil {
			doc.Loss[name] = qualities[player].Loss
			doc.JitterMS[name] = millis(float64(qualities[player].Jitter.Microseconds()))
			if q := qualities[player]; q.Sent > 0 && doc.RTT[name] > 0 {
				if doc.WorstMS == nil {
					doc.WorstMS = make(map[string]float64)
				}
				doc.WorstMS[name] = doc.RTT[name] + millis(float64(q.Worst.Microseconds()))
			}
		}
	}
	return doc
}

// A move to another server between two rounds has its price: it must gain at least 10 ms, and at
// least a third. Tailscale's netcheck keeps its relay by the same rule.
const (
	minGain  = 10_000 // microseconds
	minShare = 1.0 / 3
)

// Stay tells whether the group stays on the last round's server, and why.
type Stay struct {
	Addr hostport.AddrPort `json:"addr"`
	// Stays says that it is chosen again, though it may not be the first of the ranking.
	Stays bool `json:"stays"`
	// Gain is how much lower the best score is, in milliseconds.
	Gain float64 `json:"gain_ms"`
	// Culled is why it no longer suits everyone, if so. Unlisted says that it is not on the list
	// any more.
	Culled   *Cause `json:"culled,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"`
}

// stay decides whether the group stays on its server. It also returns the ranked candidate of this
// server.
func (r *round) stay() (*Stay, candidate) {
	if !r.criteria.Keep.IsValid() {
		return nil, candidate{}
	}
	s := &Stay{Addr: hostport.At(r.criteria.Keep)}
	server, listed := 0, false // if several have that address, the one that suits
	for place := range r.servers.List {
		if r.servers.List[place].Addr == s.Addr.AddrPort && (!listed || !r.suits(server)) {
			server, listed = place, true
		}
	}
	switch {
	case !listed:
		s.Unlisted = true
		return s, candidate{}
	case !r.suits(server):
		cause := r.fates[server]
		s.Culled = &cause
		return s, candidate{}
	}
	kept := r.candidate(server)
	gain := max(0, kept.score-r.best[0].score)
	s.Gain = millis(gain)
	s.Stays = gain < minGain || gain < kept.score*minShare
	if len(r.ours) > 0 && r.criteria.Allowed > 0 && r.isOurs(r.best[0].server) && !r.isOurs(server) {
		s.Stays = false // the group prefers its own server, whatever the milliseconds
	}
	return s, kept
}

// top keeps the first of many items in order, in whatever order they come.
type top[T any] struct {
	limit   int // how many; 0 is all
	compare func(a, b T) int
	items   []T
}

func (t *top[T]) add(item T) {
	if t.limit == 0 {
		t.items = append(t.items, item)
		return
	}
	if len(t.items) == t.limit {
		if t.compare(item, t.items[t.limit-1]) >= 0 {
			return
		}
		t.items = t.items[:t.limit-1]
	}
	i, _ := slices.BinarySearchFunc(t.items, item, t.compare)
	t.items = slices.Insert(t.items, i, item)
}

// sorted returns the kept items in order.
func (t *top[T]) sorted() []T {
	if t.limit == 0 {
		slices.SortFunc(t.items, t.compare)
	}
	return t.items
}
