package coordinate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
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
	// Few is how many servers a player is asked for at most who wants to be asked for few,
	// by player; missing is the budget. Such players are asked for the best of what the
	// others found, and explore nothing.
	Few map[int]int
	// Beyond: the budget, which may be 0 then, is of servers besides those that players had
	// measured before.
	Beyond bool
	// Batch is how many servers a player has to do with at once: what spends the
	// budget in 14 rounds, 40 without one.
	Batch int
	// Ahead is how many more a player has to do with when the next batch is handed
	// out, so that rounds overlap and nobody waits for the slowest reply: none.
	Ahead int
	// Guests count, too, and measure nothing.
	Guests []Guest
	// Enough is how much better a server may still be possible when the search
	// ends: 1 ms; negative goes on until the budget is spent.
	Enough time.Duration
}

// Guest is somebody who measures nothing, and whose RTTs follow from the players'.
type Guest struct {
	Name string
	// RTT is the guest's to a server of a country of which those of the players are known,
	// or likely.
	RTT func(country string, players []time.Duration) time.Duration
}

const (
	defaultBudget, defaultEnough = 650, time.Millisecond
	// budgetRounds spend the budget, leastBatch keeps a round worth its latency, and
	// endlessBatch is that of a search without a budget: 0.3 s at 140 probes/s.
	budgetRounds, leastBatch, endlessBatch = 14, 8, 40
	// knownShare of what players had measured before is taken off the budget.
	knownShare = 0.8
	// randomStream keeps the planner's random numbers apart from others of a seed.
	randomStream = 0x726566696e65
)

func (o Options) withDefaults() Options {
	if !o.Beyond {
		o.Budget = cmp.Or(o.Budget, defaultBudget)
	}
	if o.Budget < 0 {
		o.Batch, o.Budget = cmp.Or(o.Batch, endlessBatch), math.MaxInt
	}
	if o.Batch <= 0 {
		o.Batch = max(leastBatch, o.Budget/budgetRounds)
	}
	o.Enough = cmp.Or(o.Enough, defaultEnough)
	return o
}

// most is how many servers a player may be asked for in all.
func (o Options) most(player int) int {
	if most, few := o.Few[player]; few {
		return most
	}
	return o.Budget
}

// Planner coordinates a group, whose players never change: another group has
// another planner, made from the table of what was measured. It is not safe for
// concurrent use.
type Planner struct {
	options    Options
	tree       *topology.Tree
	rng        *rand.Rand
	questions  questions
	candidates *candidates
	estimator  *estimator
	// variances are the posterior's of the last round.
	variances variances

	round int
	// before is how many servers every player had measured before, at least.
	before int
	// history is the incumbent's score, round by round.
	history []float64
	// better is how much better than the incumbent servers may be that keep no stricter
	// limit, stricter whether any keeps the next one. level is the number of limits that
	// is broken, which both are for.
	better, stricter outlook
	level            int
	// nearer is how much more somebody may give up as a nearer server of theirs was not
	// found yet, and owns the own bests, round by round.
	nearer   outlook
	ownsThen [][]float64
	// reviewed counts addresses that one player explored, passed those that all
	// were asked for then.
	reviewed, passed int
	// spent: there is nothing left to ask, or nobody may be asked any more; answers may be
	// out.
	spent bool
}

// New is a planner over the servers of a tree for the players of a table, which
// may hold measurements already. It reads what the servers, which are the tree's, say
// of themselves while it works: see [Planner.Inform].
func New(tree *topology.Tree, servers selection.Servers, table *selection.Table, criteria selection.Criteria, options Options) *Planner {
	players := table.Players()
	servers.List = tree.List()
	q := newQuestions(len(players), table.Servers(), min(1, options.Ahead))
	c := newCandidates(tree, selection.NewFilter(servers, criteria), q)
	names := slices.Clone(players)
	for _, g := range options.Guests {
		names = append(names, g.Name)
	}
	p := &Planner{
		options: options.withDefaults(), tree: tree, rng: rand.New(rand.NewPCG(options.Seed, randomStream)),
		questions: q, candidates: c, variances: priorVariances(),
		estimator: newEstimator(c, newPredictor(tree, len(players)), criteria.Objective(names), options.Guests),
	}
	for server := range servers.List {
		if p.candidates.filter.Allowance(server) > 0 { // all measure those of the group's own
			c.at(tree.Of(server)).wanted = true
		}
	}
	for player := range players {
		measured := 0
		for server := range table.Servers() {
			if state, rtt := table.At(player, server); state != discovery.Unprobed {
				p.Observe(player, discovery.Result{Server: server, State: state, RTT: rtt})
				measured++
			}
		}
		if player == 0 || measured < p.before {
			p.before = measured
		}
	}
	if !p.options.Beyond {
		p.options.Budget -= int(knownShare * float64(min(p.before, p.options.Budget)))
	}
	return p
}

// Observe takes what a player measured of a server, asked for or not. Several
// results of one server count as the lowest.
func (p *Planner) Observe(player int, result discovery.Result) {
	c := p.candidates.at(p.tree.Of(result.Server))
	a := &p.questions[player]
	if a.answered(result) {
		c.waiting--
	}
	switch result.State {
	case discovery.Answered:
		p.estimator.measured(c, player, max(leastRTT, milliseconds(result.RTT)))
	case discovery.Lost, discovery.Refused, discovery.Forbidden: // a server that one cannot measure is no use to the group
		if !a.met.has(result.Server) {
			p.candidates.failed.add(result.Server)
		}
	default:
		return
	}
	p.candidates.check(c)
}

// Limit lets a player be asked for so many servers more, whatever the budget has left.
func (p *Planner) Limit(player, more int) {
	q := &p.questions[player]
	q.limit = q.load + min(more, math.MaxInt-q.load)
}

// leastRTT keeps an RTT of nothing, in ms, apart from none.
const leastRTT = 0.001

// Inform notes that what a server says of itself came or changed.
func (p *Planner) Inform(server int) { p.candidates.inform(server) }

// Expected is how many questions a player is likely to answer yet. Players ask in
// order: what is missing of a round before one that was answered is silent, or where
// rounds overlap of the round before that.
func (p *Planner) Expected(player int) int { return p.questions[player].expected() }

// Predict is what a player's RTT to a server is or will be.
func (p *Planner) Predict(player, server int) time.Duration {
	at := p.tree.Of(server)
	if c := p.candidates.of[at]; c != nil && c.rtts[player] > 0 {
		return duration(c.rtts[player])
	}
	ms, _ := p.estimator.predictor.predictOn(player, p.estimator.predictor.line(at))
	return duration(ms)
}

// Forecast is what a player's RTT to a server that they have not measured is likely to be, by
// what they measured of its nearest relatives. Nothing is known if they measured none in
// its country: what they see of the world as a whole says little.
func (p *Planner) Forecast(player, server int) (rtt time.Duration, known bool) {
	if p.tree.List()[server].Country == "" {
		return 0, false
	}
	ms, nearest, known := p.estimator.predictor.nearest(player, p.tree.Of(server))
	if !known || nearest < topology.Country {
		return 0, false
	}
	return duration(ms), true
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
