package coordinate

import (
	"math"
	"slices"

	"muster/discovery/plan/topology"
)

// Batch is what one player should ask now, in this order.
type Batch struct {
	Player  int
	Servers []int
}

// acquisition hands out the questions of a round.
type acquisition struct {
	p         *Planner
	posterior *posterior
	// quotas are how many more servers each player may be asked for. players counts those with a
	// quota.
	quotas  []int
	players int
	asked   [][]int
	// twice lists all players two times over, so that a slice of it can start anywhere.
	twice []int
	// askers counts the players asked for each server in this round.
	askers map[int]int
	// surveys says that the round asks about every unknown country first, whatever the batch, which
	// is how many servers a player works on in other rounds.
	surveys bool
	batch   int
	// ways are those that would win if they have become shorter.
	ways []whatIf
}

const (
	// In a round, at most minAskers players are asked for one server, or one in askersShare of a
	// large group, which could not finish otherwise. The others follow in later rounds. Quake 3's
	// servers answer ten queries at once and then ten a second, over all askers.
	minAskers, askersShare = 5, 2
	// samples is the least number of worlds drawn in a round, and maxSamples bounds the search for
	// something to ask. One in boldEvery is bold.
	samples, maxSamples, boldEvery = 16, 64, 4
	// Everybody measures the best finalists servers.
	finalists = 10
	// An address is dropped if it is as good as the best only when the prediction is wrong by
	// hopeless standard deviations. An address that would have to keep a stricter limit is dropped
	// at hopelessClimb standard deviations.
	hopeless, hopelessClimb = 4, 2
	// passedBefore is a prior for the share of explored addresses that are worth everybody's look:
	// it assumes that so many were explored, and all were worth it.
	passedBefore = 4
	// againRound is how many countries everybody measures again in a round. detourRound is how many
	// countries the players with doubtful routes measure again.
	againRound, detourRound = 2, 8
	// One in suspectShare of a player's questions may go to neighbours of suspect addresses, and
	// maxNeighbours are tried at each level.
	suspectShare, maxNeighbours = 4, 50
	// If the rule looks for a deviation, somebody measures an address in every part of the list
	// that holds partShare of it, whatever is expected there. That is half of the smallest share
	// whose best server the search must not miss. A round looks at partsRound parts, and a part is
	// given up after partTries silent addresses.
	partShare, partsRound, partTries = 0.0025, 8, 3
	// maxDrawn is how many servers are drawn to find one that may be asked for.
	maxDrawn = 30
	// If a sample has too few addresses under the limit, the next sample's slack is twice as much
	// plus slackStep, in units of a value.
	slackStep = 0.02
)

func newAcquisition(p *Planner) *acquisition {
	a := &acquisition{p: p, askers: map[int]int{}, asked: make([][]int, len(p.questions))}
	trust, isGuided := p.trust(), p.isGuided()
	isUnsure := trust < surveyedTrust && !isGuided
	a.surveys = p.round == 0 || !p.isSurveyed && isUnsure
	p.isSurveyed = p.isSurveyed || isUnsure
	options := p.options.trusting(trust)
	if isGuided {
		options = p.guided()
	}
	a.batch = options.Batch
	if a.surveys {
		options.Batch = math.MaxInt
	}
	a.quotas, a.players = p.questions.quotas(options, p.options.Budget)
	for i := range 2 * len(a.asked) {
		a.twice = append(a.twice, i%len(a.asked))
	}
	return a
}

// Next returns what the players should ask now, by player. A player who has enough to do gets no
// batch. No batches at all mean that there is nothing to ask, at least until answers come: see
// [Progress].
//
// Call it when most questions have been answered. A late player holds nobody up.
func (p *Planner) Next() []Batch {
	a := newAcquisition(p)
	if a.players == 0 {
		p.spent = p.questions.waiting() == 0 || p.questions.spent(p.options)
		return nil
	}
	p.estimator.climbs, p.estimator.owns = p.climbs(), p.owns()
	a.posterior = newPosterior(p.estimator, p.rng, p.variances)
	p.variances = a.posterior.now
	a.ways = a.whatIfs()
	p.noteLevel()
	p.history = append(p.history, p.estimator.best)
	p.noteOwn()
	if p.round > 0 && p.round < countriesTried && p.estimator.objective.Sacrifices() {
		a.askEveryCountry() // a small one whose first server was silent may hold a player's own best
	}
	isSmall := p.round == 0 && len(p.tree.List()) <= p.options.Batch && len(p.options.Few) == 0
	if isSmall {
		a.askEveryAddress()
	} else if a.askRemembered(); !a.surveys || !a.askEveryCountry() {
		a.limit()
		a.askFew()
		a.finish()
		a.checkWays()
		a.askNeighbours()
		a.revisitCountries()
		a.exploreLargeParts()
		a.askUnseen()
		a.explore()
	}
	batches := a.batches()
	p.spent = len(batches) == 0 && (p.questions.waiting() == 0 || p.isExhausted())
	p.round++
	return batches
}

// isExhausted reports whether every player has been asked for every address that could suit, or has
// no budget left. Then no question follows, whatever answers come.
func (p *Planner) isExhausted() bool {
	for server := range p.tree.List() {
		c := p.candidates.of[p.tree.Of(server)]
		switch {
		case c == nil && p.candidates.usable(server):
			return false
		case c == nil || c.server != server:
			continue
		}
		for player := range p.questions {
			q := &p.questions[player]
			if !q.servers.has(server) && q.load < min(p.options.maxServers(player), q.limit) {
				return false
			}
		}
	}
	return true
}

// ask asks a player for a server, unless the player was asked before or has enough to do, or enough
// others are asked for it.
func (a *acquisition) ask(player, server int) bool {
	q := &a.p.questions[player]
	if a.quotas[player] <= 0 || q.servers.has(server) || a.askers[server] >= max(minAskers, len(a.asked)/askersShare) {
		return false
	}
	a.askers[server]++
	a.quotas[player]--
	q.ask(server, a.p.round)
	a.p.candidates.at(a.p.tree.Of(server)).waiting++
	a.asked[player] = append(a.asked[player], server)
	return true
}

// askAll asks every player who has not measured an address for it, and reports whether it could ask
// anybody.
func (a *acquisition) askAll(c *candidate) (asked bool) {
	c.isWanted = true
	for _, player := range a.inTurn() {
		if c.rtts[player] == 0 {
			asked = a.ask(player, c.server) || asked
		}
	}
	return asked
}

// inTurn returns the players, beginning with a random one.
func (a *acquisition) inTurn() []int {
	first := a.p.rng.IntN(len(a.asked))
	return a.twice[first : first+len(a.asked)]
}

// batches returns the questions by player, each player's in a random order, so that the players do
// not all query one server at once.
func (a *acquisition) batches() []Batch {
	var batches []Batch
	for player, servers := range a.asked {
		if len(servers) > 0 {
			a.p.rng.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
			batches = append(batches, Batch{player, servers})
		}
	}
	return batches
}

// askEveryAddress asks everybody for the whole list, which is no more than one batch.
func (a *acquisition) askEveryAddress() {
	for server := range a.p.tree.List() {
		if c := a.p.candidates.at(a.p.tree.Of(server)); c.server >= 0 {
			a.askAll(c)
		}
	}
}

// anyOf draws an address below a node that fits and may be asked for, weighted by its servers. It
// gives up after maxDrawn draws.
func (a *acquisition) anyOf(node topology.Node, fits func(at topology.Node) bool) (at topology.Node, found bool) {
	servers := a.p.tree.Servers(node)
	for range maxDrawn {
		at := a.p.tree.Of(int(servers[a.p.rng.IntN(len(servers))]))
		if fits(at) && a.p.candidates.open(at) {
			return at, true
		}
	}
	return 0, false
}

// finish asks the rest of the group for addresses that one player explored. It drops an address
// only if it is hopeless, because predictions of one player's RTTs from another's are poor.
func (a *acquisition) finish() {
	for _, c := range a.p.candidates.all {
		if !c.isWanted && c.explored && c.waiting == 0 {
			c.explored = false
			a.p.reviewed++
			if c.server >= 0 && !a.p.candidates.unknown(c.server) && c.hasResults() && a.p.estimator.hopeful(c) {
				c.isWanted = true
				a.p.passed++
			}
		}
		if c.isWanted && c.server >= 0 && !c.whole() {
			a.askAll(c)
		}
	}
	for _, c := range a.p.estimator.closer() {
		a.askAll(c)
	}
	for _, c := range a.p.estimator.leaders(finalists) { // some players know only other servers on their addresses
		for _, player := range a.inTurn() {
			a.ask(player, c.server)
		}
	}
}

// fewRounds is the least number of rounds over which the players who want few questions get all of
// theirs: the first rounds do not know yet what is best.
const fewRounds = 5

// askFew asks the players who want few questions only for the best servers that all others have
// measured, ranked by their predicted RTTs.
func (a *acquisition) askFew() {
	for player := range a.quotas {
		if _, is := a.p.options.Few[player]; !is {
			continue
		}
		found := a.p.estimator.ranked(func(c *candidate) float64 { return c.value }, func(c *candidate) bool {
			return c.rtts[player] == 0 && a.p.isForFew(c)
		})
		for _, c := range found[:min(a.quotas[player], len(found))] {
			a.ask(player, c.server)
		}
		a.players -= min(1, a.quotas[player])
		a.quotas[player] = 0
	}
	a.players = max(1, a.players)
}

// askNeighbours asks players whose RTTs are suspect for neighbours, where the group's best server
// may hide.
func (a *acquisition) askNeighbours() {
	left := slices.Clone(a.quotas)
	for player := range left {
		left[player] /= suspectShare
	}
	figure := func(c *candidate) float64 { ms, _ := a.p.estimator.figure(c); return ms }
	hidden := a.p.estimator.ranked(figure, func(c *candidate) bool {
		return len(c.suspects) > 0 && c.isWanted && figure(c) < a.p.estimator.target()
	})
	for _, c := range hidden {
		for _, player := range c.suspects {
			if left[player] > 0 && a.askNeighbour(player, c.at) {
				left[player]--
			}
		}
	}
}

// askNeighbour asks a player for a server as near to an address as possible, in its AS at most.
func (a *acquisition) askNeighbour(player int, at topology.Node) bool {
	for node := at; a.p.tree.Level(node) >= topology.AS; node = a.p.tree.Parent(node) {
		for _, s := range a.p.tree.Servers(node)[:min(a.p.tree.Size(node), maxNeighbours)] {
			c := a.p.candidates.of[a.p.tree.Of(int(s))]
			dead := c != nil && c.server < 0
			if !dead && a.p.candidates.usable(int(s)) && a.ask(player, int(s)) {
				return true
			}
		}
	}
	return false
}

// revisitCountries asks for another AS in hopeful countries. In a large country it asks everybody,
// because it has near and far parts. Elsewhere it asks the players whose RTT alone speaks against
// the country, because they may have had a detour. A country is settled once one AS is measured,
// and another for each power of four ASes that it has.
func (a *acquisition) revisitCountries() {
	var large, detoured []valued
	forecast := a.p.currentForecast()
	forecast.detour = 0
	for i := range a.posterior.countries {
		s := &a.posterior.countries[i]
		children := a.p.tree.Children(s.at)
		half := math.Log2(float64(children)) / 2
		some, all := 0, math.MaxInt // ASes that at least somebody measured, and that all did
		for _, rtts := range s.rtts {
			some, all = max(some, len(rtts)), min(all, len(rtts))
		}
		if float64(all) < 1+half {
			large = append(large, valued{topology.Node(i), s.bound - half + float64(all)/2})
		}
		// One RTT does not settle whether a detoured player has a better way. Nor do a few that
		// differ.
		unsettled := slices.ContainsFunc(s.detoured, func(player int) bool {
			rtts := s.rtts[player]
			return len(rtts) < 2 || float64(len(rtts)) < 2+half && slices.Max(rtts) > sameWay*slices.Min(rtts)
		})
		if some == children { // where no other AS is left, another address tells if a queue held one up
			unsettled = slices.ContainsFunc(s.detoured, func(player int) bool { return a.p.estimator.predictor.count(player, s.at) < 2 })
		}
		if unsettled {
			detoured = append(detoured, valued{topology.Node(i), s.bound + float64(some)/2})
			forecast.detour = max(forecast.detour, a.p.estimator.target()-a.p.estimator.score(s.bound))
		}
	}
	a.tryNewAS(large, againRound, func(_ *countryStats, c *candidate) { a.askAll(c) })
	a.tryNewAS(detoured, detourRound, func(s *countryStats, c *candidate) {
		for _, player := range s.detoured {
			a.ask(player, c.server)
		}
	})
}

// tryNewAS measures an unknown AS in each of the most hopeful countries, or an unknown address if
// there is no such AS.
func (a *acquisition) tryNewAS(countries []valued, most int, measure func(s *countryStats, c *candidate)) {
	sortValued(countries)
	for _, v := range countries {
		s := &a.posterior.countries[v.at]
		fresh := func(at topology.Node) bool { return a.p.candidates.of[at] == nil }
		at, found := a.anyOf(s.at, func(at topology.Node) bool {
			return a.posterior.find(a.p.tree.Above(at, topology.AS)) == nil && fresh(at)
		})
		if !found {
			at, found = a.anyOf(s.at, fresh)
		}
		if found && most > 0 {
			measure(s, a.p.candidates.at(at))
			most--
		}
	}
}

// exploreLargeParts asks one player each for an address in the largest unknown parts of the list:
// countries, ASes in them, /16s of these. If a rule does not look for the lowest RTTs, relatives
// and one player's RTT tell little about all players' RTTs. So the best part often seems hopeless,
// and no sample would try it.
func (a *acquisition) exploreLargeParts() {
	if !a.p.estimator.objective.Deviates() {
		return
	}
	a.p.candidates.sort()
	tree, seen := a.p.tree, a.underWay()
	least := partShare * float64(len(tree.List()))
	var parts []valued
	for node := topology.Root + 1; int(node) < tree.Nodes(); {
		size, known := float64(tree.Size(node)), a.posterior.find(node) != nil
		if tries := a.p.candidates.below(node); size >= least && !known && !seen[node] && tries < partTries {
			parts = append(parts, valued{node, float64(tries) - size/float64(len(tree.List()))}) // those never tried first
		}
		if size < least || !known || tree.Level(node) == topology.Prefix16 {
			node = tree.End(node)
		} else {
			node++
		}
	}
	sortValued(parts)
	left := partsRound
	for _, v := range parts {
		if left == 0 || slices.Max(a.quotas) <= 0 {
			return
		}
		if at, found := a.anyOf(v.at, func(topology.Node) bool { return true }); found && a.measure(a.p.candidates.at(at)) {
			left--
		}
	}
}

// explore asks one player each for the best addresses of samples. It leaves room for everybody's
// look at them in the next round, for the share that turned out to be worth it so far.
func (a *acquisition) explore() {
	left := a.left()
	share := float64(a.p.passed+passedBefore) / float64(a.p.reviewed+passedBefore)
	steady := float64(a.p.options.Batch*a.players) / (1 + float64(a.players-1)*share)
	fresh := min(left, int(math.Ceil(steady)))

	limit := a.p.estimator.value(a.p.estimator.target())
	slack, seen := 0.0, a.underWay()
	for n := 0; n < maxSamples && fresh > 0; n++ {
		most := max(1, (fresh+samples-1-n%samples)/samples)
		bold := n%boldEvery == boldEvery-1
		best, lowest := a.posterior.sample(limit+slack, bold, most, seen)
		if bold {
			a.p.noteGain(lowest, a.shorter())
		}
		if len(best) < most {
			slack = 2*slack + slackStep
		}
		for _, v := range best {
			seen[v.part] = true
			if a.measure(a.p.candidates.at(v.at)) {
				fresh--
			}
		}
	}
}

// left returns how many more servers the players may be asked for in this round.
func (a *acquisition) left() (left int) {
	for _, quota := range a.quotas {
		left += min(quota, a.p.options.Batch)
	}
	return left
}

// underWay returns the unknown parts of the tree that will be known soon: in the rounds that this
// one overlaps somebody was asked for one of their addresses.
func (a *acquisition) underWay() map[topology.Node]bool {
	seen := map[topology.Node]bool{}
	if a.p.options.Ahead > 0 {
		for player := range a.p.questions {
			for server := range a.p.questions[player].underWay {
				if at := a.p.tree.Of(server); a.posterior.find(at) == nil {
					seen[a.posterior.part(at)] = true
				}
			}
		}
	}
	return seen
}

// measure asks one player for an address, or everybody if somebody has measured it. It reports
// whether it asked anybody.
func (a *acquisition) measure(c *candidate) bool {
	if c.server >= 0 && !c.isWanted {
		a.p.candidates.represent(c)
	}
	switch {
	case c.server < 0:
		return false
	case c.hasResults() && a.p.estimator.owns && !c.whole():
		return a.askNearest(c)
	case c.hasResults() && !a.p.candidates.unknown(c.server):
		return a.askAll(c)
	}
	c.explored = true
	if a.p.estimator.owns && !a.p.candidates.unknown(c.server) {
		return a.askNearest(c)
	}
	return a.exploreBy(c.server)
}

// askNearest asks the player whose own best an address may be.
func (a *acquisition) askNearest(c *candidate) bool {
	by := a.p.estimator.nearestTo(c)
	return by >= 0 && a.ask(by, c.server)
}

// exploreBy asks the player with the fewest questions so far for a server. If the server may well
// not suit, nobody else will measure it. So it asks a player who knows nothing of its AS: several
// players' RTTs to several addresses also describe the AS.
func (a *acquisition) exploreBy(server int) bool {
	by, nearest := -1, topology.List
	for _, player := range a.inTurn() {
		q := &a.p.questions[player]
		if a.quotas[player] <= 0 || q.servers.has(server) {
			continue
		}
		l := topology.List
		if a.p.candidates.unknown(server) {
			_, l, _ = a.p.estimator.predictor.nearest(player, a.p.tree.Of(server))
			l = min(l, topology.Prefix16)
		}
		if by < 0 || l < nearest || l == nearest && q.load < a.p.questions[by].load {
			by, nearest = player, l
		}
	}
	return by >= 0 && a.ask(by, server)
}
