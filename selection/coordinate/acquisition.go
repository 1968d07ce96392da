package coordinate

import (
	"math"
	"slices"

	"muster/discovery/plan/topology"
)

// Batch is what one player is to ask now, in this order.
type Batch struct {
	Player  int
	Servers []int
}

// acquisition hands out the questions of a round.
type acquisition struct {
	p         *Planner
	posterior *posterior
	// quotas are how many more servers each player may be asked for, players those
	// who may be asked for any.
	quotas  []int
	players int
	asked   [][]int
	// twice are all players, and all again.
	twice []int
	// crowd counts who is asked for a server.
	crowd map[int]int
}

const (
	// At most leastCrowd players are asked for one server in a round, or one in
	// crowdShare of a large group, which could not finish otherwise; the others' turn
	// is in the next ones. Quake 3's servers answer ten at once and then ten a
	// second, whoever asks.
	leastCrowd, crowdShare = 5, 2
	// samples is how many worlds are drawn in a round, at least, and mostSamples
	// bounds the search for something to ask. One in boldEvery is bold.
	samples, mostSamples, boldEvery = 16, 64, 4
	// finalists are kept measured by everybody.
	finalists = 10
	// hopeless is how many standard deviations a prediction must be wrong by for an
	// address to be as good as the best, if nobody else is to measure it; or to keep a
	// stricter limit, hopelessClimb.
	hopeless, hopelessClimb = 4, 2
	// passedBefore explored addresses, all of them worth everybody's look, are taken
	// for granted in the share of those that are.
	passedBefore = 4
	// againRound is how many countries everybody measures again in a round, and
	// detourRound how many those do whose routes are in doubt.
	againRound, detourRound = 2, 8
	// suspectShare: one in so many of a player's questions may go to neighbours of
	// what is suspect, and mostNeighbours are tried at each level.
	suspectShare, mostNeighbours = 4, 50
	// Of every part of the list that holds partShare of it somebody measures an address,
	// whatever is expected there, if a deviation is looked for: half of the share whose
	// best is not to be missed. partsRound of them are looked at in a round, and partTries
	// silent addresses are tried.
	partShare, partsRound, partTries = 0.0025, 8, 3
	// mostDrawn servers are drawn to find one that may be asked for.
	mostDrawn = 30
	// A sample that has too few addresses under the limit raises it for the next one:
	// to twice as much as before and slackStep, in units of a value.
	slackStep = 0.02
)

func newAcquisition(p *Planner) *acquisition {
	a := &acquisition{p: p, crowd: map[int]int{}, asked: make([][]int, len(p.questions))}
	a.quotas, a.players = p.questions.quotas(p.options, p.round)
	for i := range 2 * len(a.asked) {
		a.twice = append(a.twice, i%len(a.asked))
	}
	return a
}

// Next is what the players are to ask now, by player; who has enough to do has no
// batch. None at all means that there is nothing to ask, at least until answers
// come: see [Progress].
//
// Call it when most of what was asked has been answered; who is late holds nobody
// up.
func (p *Planner) Next() []Batch {
	a := newAcquisition(p)
	if a.players == 0 {
		p.spent = p.questions.waiting() == 0 || p.questions.spent(p.options)
		return nil
	}
	p.estimator.climbs, p.estimator.owns = p.climbs(), p.owns()
	a.posterior = newPosterior(p.estimator, p.rng, p.variances)
	p.variances = a.posterior.now
	p.noteLevel()
	p.history = append(p.history, p.estimator.best)
	p.noteOwn()
	if p.round > 0 && p.round < countriesTried && p.estimator.objective.Sacrifices() {
		a.everyCountry() // a small one whose first server was silent may have somebody's own best
	}
	isSmall := p.round == 0 && len(p.tree.List()) <= p.options.Batch && len(p.options.Few) == 0
	if isSmall {
		a.everyAddress()
	} else if p.round > 0 || !a.everyCountry() {
		a.askFew()
		a.finish()
		a.askNeighbours()
		a.countriesAgain()
		a.largeParts()
		a.explore()
	}
	batches := a.batches()
	p.spent = len(batches) == 0 && (p.questions.waiting() == 0 || p.isExhausted())
	p.round++
	return batches
}

// isExhausted reports whether every player has been asked for every address that could
// suit, or may not be asked for more: whatever answers come, no question follows.
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
			if !q.servers.has(server) && q.load < min(p.options.most(player), q.limit) {
				return false
			}
		}
	}
	return true
}

// ask has a player asked for a server, unless they were before or have enough to
// do.
func (a *acquisition) ask(player, server int) bool {
	q := &a.p.questions[player]
	if a.quotas[player] <= 0 || q.servers.has(server) || a.crowd[server] >= max(leastCrowd, len(a.asked)/crowdShare) {
		return false
	}
	a.crowd[server]++
	a.quotas[player]--
	q.ask(server, a.p.round)
	a.p.candidates.at(a.p.tree.Of(server)).waiting++
	a.asked[player] = append(a.asked[player], server)
	return true
}

// everybody has all measure an address who have not, and reports whether there is
// one who may.
func (a *acquisition) everybody(c *candidate) (asked bool) {
	c.wanted = true
	for _, player := range a.inTurn() {
		if c.rtts[player] == 0 {
			asked = a.ask(player, c.server) || asked
		}
	}
	return asked
}

// inTurn are the players, beginning with another one each time.
func (a *acquisition) inTurn() []int {
	first := a.p.rng.IntN(len(a.asked))
	return a.twice[first : first+len(a.asked)]
}

// batches are the questions by player, each in another order, so that no server is
// asked by everybody at once.
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

// everyCountry has everybody measure one server in each country that nobody knows,
// and reports whether there are any.
func (a *acquisition) everyCountry() (unknown bool) {
	for c := topology.Root + 1; int(c) < a.p.tree.Nodes(); c = a.p.tree.End(c) {
		if a.posterior.find(c) != nil {
			continue
		}
		if at, found := a.anyOf(c, func(topology.Node) bool { return true }); found {
			a.everybody(a.p.candidates.at(at))
			unknown = true
		}
	}
	return unknown
}

// everyAddress has everybody measure the whole list, which is no more than one batch.
func (a *acquisition) everyAddress() {
	for server := range a.p.tree.List() {
		if c := a.p.candidates.at(a.p.tree.Of(server)); c.server >= 0 {
			a.everybody(c)
		}
	}
}

// anyOf is some address below a node that may be asked for, drawn by servers, if
// there are enough.
func (a *acquisition) anyOf(node topology.Node, fits func(at topology.Node) bool) (at topology.Node, found bool) {
	servers := a.p.tree.Servers(node)
	for range mostDrawn {
		at := a.p.tree.Of(int(servers[a.p.rng.IntN(len(servers))]))
		if fits(at) && a.p.candidates.open(at) {
			return at, true
		}
	}
	return 0, false
}

// finish has the rest of the group measure what was begun. What one player found
// is dropped only if it is hopeless: predictions of one player's RTTs from
// another's are poor.
func (a *acquisition) finish() {
	for _, c := range a.p.candidates.all {
		if !c.wanted && c.explored && c.waiting == 0 {
			c.explored = false
			a.p.reviewed++
			if c.server >= 0 && !a.p.candidates.unknown(c.server) && c.heard() && a.p.estimator.hopeful(c) {
				c.wanted = true
				a.p.passed++
			}
		}
		if c.wanted && c.server >= 0 && !c.whole() {
			a.everybody(c)
		}
	}
	for _, c := range a.p.estimator.closer() {
		a.everybody(c)
	}
	for _, c := range a.p.estimator.leaders(finalists) { // some know only others on their addresses
		for _, player := range a.inTurn() {
			a.ask(player, c.server)
		}
	}
}

// fewRounds is in how many rounds at least those are asked for all they want to be who
// want to be asked for few: what is best is not known in the first ones.
const fewRounds = 5

// askFew has those who are asked for few servers only measure the best of what all others
// have measured, by what is expected of their RTTs, and nothing else.
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

// askNeighbours has players whose RTTs are suspect asked for neighbours, where the
// group's best server may be hidden.
func (a *acquisition) askNeighbours() {
	left := slices.Clone(a.quotas)
	for player := range left {
		left[player] /= suspectShare
	}
	figure := func(c *candidate) float64 { ms, _ := a.p.estimator.figure(c); return ms }
	hidden := a.p.estimator.ranked(figure, func(c *candidate) bool {
		return len(c.suspects) > 0 && c.wanted && figure(c) < a.p.estimator.target()
	})
	for _, c := range hidden {
		for _, player := range c.suspects {
			if left[player] > 0 && a.askNeighbour(player, c.at) {
				left[player]--
			}
		}
	}
}

// askNeighbour has a player asked for a server as near to an address as possible,
// in its AS at most.
func (a *acquisition) askNeighbour(player int, at topology.Node) bool {
	for node := at; a.p.tree.Level(node) >= topology.AS; node = a.p.tree.Parent(node) {
		for _, s := range a.p.tree.Servers(node)[:min(a.p.tree.Size(node), mostNeighbours)] {
			c := a.p.candidates.of[a.p.tree.Of(int(s))]
			dead := c != nil && c.server < 0
			if !dead && a.p.candidates.usable(int(s)) && a.ask(player, int(s)) {
				return true
			}
		}
	}
	return false
}

// countriesAgain has another AS of hopeful countries measured: by everybody if the
// country is large, as it has near and far parts; else by those whose RTT alone
// speaks against it, as their way may have been a detour. A country is settled once
// one AS of it is measured, and another for each power of four ASes that it has.
func (a *acquisition) countriesAgain() {
	var large, detoured []valued
	outlook := a.p.outlook()
	outlook.detour = 0
	for i := range a.posterior.countries {
		s := &a.posterior.countries[i]
		children := a.p.tree.Children(s.at)
		half := math.Log2(float64(children)) / 2
		some, all := 0, math.MaxInt // ASes that somebody at least measured, and all did
		for _, rtts := range s.rtts {
			some, all = max(some, len(rtts)), min(all, len(rtts))
		}
		if float64(all) < 1+half {
			large = append(large, valued{topology.Node(i), s.bound - half + float64(all)/2})
		}
		// one RTT does not settle if a detoured player has a better way, nor do few
		// that differ
		unsettled := slices.ContainsFunc(s.detoured, func(player int) bool {
			rtts := s.rtts[player]
			return len(rtts) < 2 || float64(len(rtts)) < 2+half && slices.Max(rtts) > sameWay*slices.Min(rtts)
		})
		if some == children { // where no other AS is left another address tells if a queue held one up
			unsettled = slices.ContainsFunc(s.detoured, func(player int) bool { return a.p.estimator.predictor.count(player, s.at) < 2 })
		}
		if unsettled {
			detoured = append(detoured, valued{topology.Node(i), s.bound + float64(some)/2})
			outlook.detour = max(outlook.detour, a.p.estimator.target()-a.p.estimator.score(s.bound))
		}
	}
	a.newAS(large, againRound, func(_ *countryStats, c *candidate) { a.everybody(c) })
	a.newAS(detoured, detourRound, func(s *countryStats, c *candidate) {
		for _, player := range s.detoured {
			a.ask(player, c.server)
		}
	})
}

// newAS measures an AS that nobody knows of each of the most hopeful countries, or an
// address that nobody knows if there is none.
func (a *acquisition) newAS(countries []valued, most int, measure func(s *countryStats, c *candidate)) {
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

// largeParts has one player each measure an address of the largest parts of the list of
// which nothing is known: countries, ASes in them, /16s of these. What relatives and one
// player's RTT tell of all players' is little where it is not the lowest RTTs that count,
// so the best part is often one that seems hopeless, and no sample would try it.
func (a *acquisition) largeParts() {
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

// explore has one player each measure the best addresses of samples, as many as
// leave room for everybody's look at as many of them in the next round as turned
// out to be worth it so far.
func (a *acquisition) explore() {
	left := 0
	for _, quota := range a.quotas {
		left += min(quota, a.p.options.Batch)
	}
	share := float64(a.p.passed+passedBefore) / float64(a.p.reviewed+passedBefore)
	steady := float64(a.p.options.Batch*a.players) / (1 + float64(a.players-1)*share)
	fresh := min(left, int(math.Ceil(steady)))

	limit := a.p.estimator.value(a.p.estimator.target())
	slack, seen := 0.0, a.underWay()
	for n := 0; n < mostSamples && fresh > 0; n++ {
		most := max(1, (fresh+samples-1-n%samples)/samples)
		bold := n%boldEvery == boldEvery-1
		best, lowest := a.posterior.sample(limit+slack, bold, most, seen)
		if bold {
			a.p.noteGain(lowest)
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

// underWay are the parts of the tree of which nothing is known, but will be: somebody has
// been asked for one of their addresses in the rounds that this one overlaps.
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

// measure has one player measure an address, or everybody if somebody has. It
// reports whether anyone is asked.
func (a *acquisition) measure(c *candidate) bool {
	if c.server >= 0 && !c.wanted {
		a.p.candidates.represent(c)
	}
	switch {
	case c.server < 0:
		return false
	case c.heard() && a.p.estimator.owns && !c.whole():
		return a.askNearest(c)
	case c.heard() && !a.p.candidates.unknown(c.server):
		return a.everybody(c)
	}
	c.explored = true
	if a.p.estimator.owns && !a.p.candidates.unknown(c.server) {
		return a.askNearest(c)
	}
	return a.exploreBy(c.server)
}

// askNearest has the one measure an address for whom it may be an own best.
func (a *acquisition) askNearest(c *candidate) bool {
	by := a.p.estimator.nearestTo(c)
	return by >= 0 && a.ask(by, c.server)
}

// exploreBy has the one measure a server who was asked least. Where it may well not
// suit, so that nobody else will, it is one who knows nothing of its AS: what
// several find of several addresses says what the AS is like, too.
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
