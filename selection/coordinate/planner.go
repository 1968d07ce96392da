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
	"muster/selection/memory"
)

// Options tune a planner. The zero value is the default.
type Options struct {
	// Seed decides the random choices.
	Seed uint64
	// Budget is how many servers each player is asked for in all. The default is 650, which is 2 %
	// of a long list, and less if the players had measured before. Negative means no limit.
	Budget int
	// Few is the most servers that a player is asked for, for players who want few questions. The
	// others have the budget. Players with few questions only measure the best of what the others
	// found, and explore nothing.
	Few map[int]int
	// Beyond says that the budget, which may then be 0, excludes servers that players had measured
	// before.
	Beyond bool
	// Batch is how many servers a player works on at once. By default it is chosen so that the
	// budget lasts 14 rounds. Without a budget it is 40.
	Batch int
	// Ahead is how many questions a player still has when the next batch is handed out, so that
	// rounds overlap and nobody waits for the slowest reply. The default is none.
	Ahead int
	// Guests count, too, and measure nothing.
	Guests []Guest
	// Remembered are each player's forecasts from earlier sessions, in any order. They are doubted by
	// how far they are off, and never count as measurements.
	Remembered [][]memory.Forecast
	// Enough ends the search: it is the largest possible improvement that is not worth more
	// questions. The default is 1 ms. A negative value goes on until the budget is spent.
	Enough time.Duration
}

// Guest is a player who measures nothing, and whose RTTs follow from the players'.
type Guest struct {
	Name string
	// RTT returns the guest's RTT to a server of a country, given the players' measured or
	// predicted RTTs to it.
	RTT func(country string, players []time.Duration) time.Duration
}

const (
	defaultBudget, defaultEnough = 650, time.Millisecond
	// budgetRounds spend the budget. minBatch keeps a round worth its latency. endlessBatch is
	// the batch of a search without a budget: 0.3 s at 140 probes/s.
	budgetRounds, minBatch, endlessBatch = 14, 8, 40
	// knownShare is the share of earlier measurements that is taken off the budget.
	knownShare = 0.8
	// randomStream keeps the planner's random numbers apart from others with the same seed.
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
		o.Batch = max(minBatch, o.Budget/budgetRounds)
	}
	o.Enough = cmp.Or(o.Enough, defaultEnough)
	return o
}

// maxServers returns how many servers a player may be asked for in all.
func (o Options) maxServers(player int) int {
	if most, few := o.Few[player]; few {
		return most
	}
	return o.Budget
}

// Planner coordinates a group with a fixed set of players. Another group gets a new planner, made
// from the table of measurements. It is not safe for concurrent use.
type Planner struct {
	options    Options
	tree       *topology.Tree
	rng        *rand.Rand
	questions  questions
	candidates *candidates
	estimator  *estimator
	// variances are those of the last round's posterior.
	variances variances

	round int
	// isSurveyed says that players have been asked about every country, or that no forecasts could
	// make up for that.
	isSurveyed bool
	// before is the least number of servers that any player had measured before.
	before int
	// history is the incumbent's score, round by round.
	history []float64
	// better forecasts how much better than the incumbent servers may be that keep no stricter
	// limit. stricter forecasts whether any server keeps the next limit. Both hold for level, the
	// number of broken limits.
	better, stricter forecast
	level            int
	// nearer forecasts how many more milliseconds a player may lose because nobody has found a nearer
	// server yet. ownsThen has each player's own best of each round.
	nearer   forecast
	ownsThen [][]float64
	// reviewed counts addresses that one player explored, and passed those that everybody was then
	// asked for.
	reviewed, passed int
	// spent says that there is nothing left to ask, or nobody left to ask. Answers may still be
	// under way.
	spent bool
}

// New returns a planner over the servers of a tree for the players of a table, which may hold
// measurements already. While it works it reads the facts that the tree's servers report of
// themselves: see [Planner.Inform].
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
	if len(options.Remembered) > 0 {
		p.estimator.predictor.recalling(options.Remembered)
	}
	for server := range servers.List {
		if p.candidates.filter.Allowance(server) > 0 { // everybody measures the group's own servers
			c.at(tree.Of(server)).isWanted = true
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

// Observe takes a player's result for a server, asked for or not. The lowest of several results for
// one server counts.
func (p *Planner) Observe(player int, result discovery.Result) {
	c := p.candidates.at(p.tree.Of(result.Server))
	a := &p.questions[player]
	if a.answered(result) {
		c.waiting--
	}
	switch result.State {
	case discovery.Answered:
		p.estimator.measured(c, player, max(minRTT, milliseconds(result.RTT)))
	case discovery.Lost, discovery.Refused, discovery.Forbidden: // the group cannot use a server that one player cannot measure
		if !a.met.has(result.Server) {
			p.candidates.failed.add(result.Server)
		}
	default:
		return
	}
	p.candidates.check(c)
}

// Correct replaces a player's RTT to a server, because the player's own line was busy.
func (p *Planner) Correct(player int, result discovery.Result) {
	if c := p.candidates.of[p.tree.Of(result.Server)]; c != nil && c.rtts[player] > 0 && result.State == discovery.Answered {
		p.estimator.corrected(c, player, max(minRTT, milliseconds(result.RTT)))
	}
}

// Limit caps a player's further questions at more, whatever the budget has left.
func (p *Planner) Limit(player, more int) {
	q := &p.questions[player]
	q.limit = q.load + min(more, math.MaxInt-q.load)
}

// minRTT, in ms, distinguishes an RTT of nothing from none.
const minRTT = 0.001

// Inform tells the planner that a server's facts about itself came or changed.
func (p *Planner) Inform(server int) { p.candidates.inform(server) }

// Expected returns how many questions a player is still likely to answer. Players ask in order. So
// a question counts as unanswered for good once the player answered one of a later round, or of the
// round after that where rounds overlap.
func (p *Planner) Expected(player int) int { return p.questions[player].expected() }

// Predict returns a player's RTT to a server, predicted if it was not measured.
func (p *Planner) Predict(player, server int) time.Duration {
	at := p.tree.Of(server)
	if c := p.candidates.of[at]; c != nil && c.rtts[player] > 0 {
		return duration(c.rtts[player])
	}
	ms, _ := p.estimator.predictor.predictOn(player, p.estimator.predictor.line(at))
	return duration(ms)
}

// Forecast returns a player's likely RTT to a server that the player has not measured, from the
// nearest measured relatives. It is not known if the player measured none in the server's country:
// the player's RTTs to the rest of the world say little.
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
