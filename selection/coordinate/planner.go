// Package coordinate finds the group's best server though nobody measured
// everything: round after round it says which servers each player should still
// ask, and how much better a server could yet be found. It is pure; whoever
// drives it carries questions and answers.
//
//	players' results ─▶ Observe ─▶ rows ──┬─▶ belief: a score for every machine,
//	                                      │   and how uncertain it is
//	Next ◀─ questions ◀─ imagined worlds ◀┘
//	Progress, Finalists ◀─ the best rows
//
// A row is a machine and what each player measured of it. Servers that nobody
// asked are taken to be like their relatives in a tree of countries, networks,
// blocks and sites, more or less. Each round imagines several worlds that fit
// what is known (Thompson sampling), and asks for the servers that are the best
// of them: where little is known worlds differ, and so many places are tried;
// where much is known they agree. One player looks first, and only if the server
// answers and suits do the others.
package coordinate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"muster/discovery"
	"muster/selection"
)

// Options tune a planner. The zero value is the default.
type Options struct {
	// Seed decides what is random.
	Seed uint64
	// Budget is how many servers a player is asked for in all: 650, which is 2 %
	// of a long list, and less where players had measured before; negative is no
	// limit.
	Budget int
	// Batch is how many servers a player has to do with at once: what spends the
	// budget in 14 rounds, 40 without one.
	Batch int
	// Enough is how much better a server may still be possible when the search
	// ends: 1 ms; negative goes on until the budget is spent.
	Enough time.Duration
}

func (o Options) withDefaults() Options {
	o.Budget = cmp.Or(o.Budget, 650)
	if o.Budget < 0 {
		o.Batch, o.Budget = cmp.Or(o.Batch, 40), math.MaxInt
	}
	if o.Batch <= 0 {
		o.Batch = max(8, o.Budget/14)
	}
	if o.Enough == 0 {
		o.Enough = time.Millisecond
	}
	return o
}

// knownShare of a budget is not needed by players who had measured as much before.
const knownShare = 0.8

// Planner coordinates a group. It is no place to keep measurements: it can be
// made anew from the table at any time. It is not safe for concurrent use.
type Planner struct {
	options   Options
	criteria  selection.Criteria
	filter    *selection.Filter
	tree      *tree
	belief    *belief
	relatives *relatives
	scorer    scorer
	rng       *rand.Rand

	members []*member
	// rows are of the machines that somebody was asked for, by node.
	rows  map[int32]*row
	known []int32 // their nodes, sorted by learn
	// ruined servers failed for somebody who is here.
	ruined []int32

	round int
	// before is how many servers every player had measured before, at least.
	before int
	// best is the score of the best row in ms, leader its machine, or -1.
	best   float64
	leader int32
	// lowest is the lowest score of a row, suit or not.
	lowest float64
	// base is what values are counted from, see value.
	base float64
	// clean are the values of countries without single bad routes.
	clean map[int32]float64
	// lands are the countries of which something is known.
	lands []land
	// hopeful is how much better than the best a country may be that was looked at
	// too rarely.
	hopeful float64
	// gains are how much better the best servers of imagined worlds were.
	gains []float64
	// history is the best score, round by round.
	history []float64
	// reviewed counts machines that one player looked at, passed those that all
	// were asked for then.
	reviewed, passed int
	// spent: there is nothing left to ask, or nobody may be asked any more.
	spent bool
}

// member is a player.
type member struct {
	name   string
	absent bool
	// asked are servers that were asked for or measured, a bit each.
	asked []uint64
	// waiting are those asked for and not yet answered, with the round of it, and
	// heard is the newest round of which anything was answered.
	waiting map[int]int
	heard   int
	load    int
	// met servers answered, failed ones did not.
	met, failed map[int]bool
}

// New is a planner for the players of a table, which may hold measurements
// already. It keeps the servers' slices, and reads a server's Info after
// [Planner.Inform].
func New(servers selection.Servers, table *selection.Table, criteria selection.Criteria, options Options) *Planner {
	t := newTree(servers.List)
	p := &Planner{
		options: options.withDefaults(), criteria: criteria, filter: selection.NewFilter(servers, criteria),
		tree: t, belief: newBelief(t), relatives: newRelatives(t), scorer: newScorer(criteria.Objective(table.Players())),
		rng:  rand.New(rand.NewPCG(options.Seed, 0x726566696e65)),
		rows: make(map[int32]*row), ruined: make([]int32, len(servers.List)),
		best: math.Inf(1), leader: -1,
	}
	for _, name := range table.Players() {
		p.Join(name)
	}
	p.before = math.MaxInt
	for player := range table.Players() {
		measured := 0
		for server := range table.Servers() {
			if state, rtt := table.At(player, server); state != discovery.Unprobed {
				p.Observe(player, discovery.Result{Server: server, State: state, RTT: rtt})
				measured++
			}
		}
		p.before = min(p.before, measured)
	}
	if len(table.Players()) == 0 {
		p.before = 0
	}
	p.options.Budget -= int(knownShare * float64(min(p.before, p.options.Budget)))
	for server, info := range servers.Infos {
		if info != nil {
			p.Inform(server)
		}
	}
	return p
}

// Join adds a player, who gets the next number. Everybody's best server may be
// another from now on.
func (p *Planner) Join(name string) (player int) {
	m := &member{name: name, asked: make([]uint64, (len(p.ruined)+63)/64), waiting: make(map[int]int), met: make(map[int]bool), failed: make(map[int]bool)}
	p.members = append(p.members, m)
	var names []string
	for _, m := range p.members {
		names = append(names, m.name)
	}
	p.scorer.objective = p.criteria.Objective(names)
	p.reconsider()
	return len(p.members) - 1
}

// Leave takes a player out: what they measured counts no more.
func (p *Planner) Leave(player int) {
	p.Forget(player)
	if m := p.members[player]; !m.absent {
		m.absent = true
		p.reconsider()
	}
}

// Return has a player back who left.
func (p *Planner) Return(player int) {
	if m := p.members[player]; m.absent {
		m.absent = false
		p.reconsider()
	}
}

// Forget gives up what a player was asked for and has not answered: it may be
// asked for again. It is for lost connections.
func (p *Planner) Forget(player int) {
	m := p.members[player]
	for server := range m.waiting {
		m.mark(server, false)
		p.row(p.tree.of[server]).waiting--
	}
	clear(m.waiting)
	p.spent = false
}

// Waiting is how many servers a player was asked for and has not answered.
func (p *Planner) Waiting(player int) int { return len(p.members[player].waiting) }

// Expected is how many of those a player is likely to answer yet. Players ask in
// order: what is missing of a round before one that was answered is silent.
func (p *Planner) Expected(player int) int { return p.members[player].expected() }

func (m *member) expected() int {
	n := 0
	for _, round := range m.waiting {
		if round >= m.heard {
			n++
		}
	}
	return n
}

// Round counts the calls of Next that asked for anything.
func (p *Planner) Round() int { return p.round }

func (m *member) has(server int) bool { return m.asked[server/64]&(1<<(server%64)) != 0 }

func (m *member) mark(server int, asked bool) {
	if asked {
		m.asked[server/64] |= 1 << (server % 64)
	} else {
		m.asked[server/64] &^= 1 << (server % 64)
	}
}

// present counts the players who are here.
func (p *Planner) present() int {
	n := 0
	for _, m := range p.members {
		if !m.absent {
			n++
		}
	}
	return n
}

// Predict is what a player's RTT to a server is or will be, and how far off that
// may be, as standard deviation: 0 if it was measured.
func (p *Planner) Predict(player, server int) (rtt, off time.Duration) {
	at := p.tree.of[server]
	if r := p.rows[at]; r != nil && r.rtts[player] > 0 {
		return milliseconds(r.rtts[player]), 0
	}
	ms, deviation := p.relatives.predict(player, at)
	return milliseconds(ms), milliseconds(deviation)
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
