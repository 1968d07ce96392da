package room

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/rules"
)

const (
	// ahead is how many questions a player has in hand when the next are handed out:
	// those that a home line's 250 a second take in the third of a second in which
	// answers come in and questions go out. After the first round, of which nobody
	// knows what to ask next, firstShare of its answers may be missing; and after
	// roundsAhead rounds laterShare, as what is asked from then on is best known from
	// the answers (docs/experiments/choosing-speed.md).
	ahead       = 80
	firstShare  = 0.4
	roundsAhead = 8
	laterShare  = 0.3
	// shortList is up to how many servers a list is short. A search asks for three
	// quarters of such a list, so that waiting for answers saves few questions.
	shortList = 500
	// roundEvery is the least time between two rounds: what is learnt in less is not
	// worth the processor's.
	roundEvery = 120 * time.Millisecond
	// lateAnswers is how long the search waits for its last answers: a silent server
	// takes a peer three seconds, and the choice need not know of it.
	lateAnswers = 400 * time.Millisecond
	// fewMissing is the share of a round's answers, besides one of each player, that
	// is not waited for beyond that. longestWait is how long a round waits if more
	// are missing: enough for a server to be asked twice.
	fewMissing  = 0.125
	longestWait = 1500 * time.Millisecond
	// givenUp is when each peer has given a silent server up, three seconds after it asked.
	givenUp = 4 * time.Second
	// budget is how many servers a player is asked for at most, and enough the
	// gain that is not worth another round.
	budget = wire.SearchBudget
	enough = 500 * time.Microsecond
	// coordinatingTime is how long a room searches at most; it has a good answer
	// long before.
	coordinatingTime = 45 * time.Second
	// claimAfter is after how many rounds the planner has an idea of what is still
	// to be gained.
	claimAfter = 5
	// judgedAfter is of how many servers a player must have told to be judged while
	// others still measure.
	judgedAfter = 16
)

// Coordinating has the players ask the servers that could still win, round after
// round.
type Coordinating struct {
	// More is how many servers the organiser has each ask beyond what the round's search
	// was allowed, 0 while that goes on; see [More].
	More int `json:"more,omitempty"`
}

func (*Coordinating) stage() wire.Stage { return wire.Refining }
func (*Coordinating) proceed(r *Room)   { r.choose(true) }

// search leads the questions of a coordinated measuring.
type search struct {
	planner *coordinate.Planner
	// groups are the planner's players: those behind one address are one.
	groups []*probeGroup
	// asked is when the newest questions went out, and questions how many.
	asked     time.Time
	questions int
	// ahead is that where rounds overlap, and before is how many questions went out the
	// time before then, some of which are still on their way.
	ahead, before int
	// isShort: the players are asked for most of the list anyway, so every round overlaps.
	isShort bool
	// ends: there was nothing more to ask, and the last answers are waited for.
	ends bool
	over bool
	// background: the choice is made, and the search goes on while people vote; own
	// is what the players' own discovery was allowed then.
	background bool
	own        int
}

// searching is the search, made anew if the group is no longer the same.
func (r *Room) searching() *search {
	r.attend()
	natGroups := r.round.natGroups(r.round.present())
	s := r.round.search
	if s != nil && areOf(s.groups, natGroups) {
		return s
	}
	var before []*probeGroup
	if s != nil {
		before = s.groups
	}
	// One player of each NAT group stands for all of them: where a mean is taken,
	// as many times as there are.
	var heads []*player
	weights := map[string]float64{}
	for _, group := range natGroups {
		heads = append(heads, group[0])
		weights[group[0].name] = float64(len(group))
	}
	criteria := r.criteria(r.settings, heads)
	if len(heads) < len(r.round.present()) && rules.Of(criteria.By).Multiplies {
		criteria.Weights = weights
	}
	if !r.settings.AnyVersion {
		criteria.Editions = r.editions(r.round.present())
	}
	options := coordinate.Options{
		Seed: r.tuning.Seed + uint64(r.round.number), Budget: cmp.Or(r.tuning.Budget, budget), Enough: cmp.Or(r.tuning.Enough, enough),
	}
	if rules.Of(criteria.By).Averages { // by other rules it was not found to help
		for _, g := range r.counted() {
			options.Guests = append(options.Guests, searchedFor(g, heads))
		}
	}
	groups := probeGroups(natGroups, before)
	for i, g := range groups {
		if most, few := g.few(); few {
			if options.Few == nil {
				options.Few = map[int]int{}
			}
			options.Few[i] = most
		}
	}
	switch c, is := r.phase.(*Coordinating); {
	case is && c.More > 0:
		options.Budget, options.Beyond, options.Enough = c.left(groups), true, untilSpent
	case is && options.Budget > 0: // without a budget there is no hurry, nor while people vote
		options.Ahead = ahead
	}
	r.round.search = &search{
		groups: groups, ahead: options.Ahead, isShort: len(r.round.servers.List) <= shortList,
		planner: coordinate.New(r.round.topology, r.round.servers, r.round.table(heads), criteria, options),
	}
	return r.round.search
}

// players is how many the search is for.
func (s *search) players() int {
	n := 0
	for _, g := range s.groups {
		n += len(g.players)
	}
	return n
}

// expected is how many answers are likely to come yet.
func (s *search) expected() int {
	n := 0
	for i := range s.groups {
		n += s.planner.Expected(i)
	}
	return n
}

// isOut reports whether anybody has been asked for a server and has not reported it.
func (s *search) isOut() bool {
	return slices.ContainsFunc(s.groups, func(g *probeGroup) bool { return len(g.waiting) > 0 })
}

// few is how many missing answers a round need not wait for.
func (s *search) few() int { return len(s.groups) + int(fewMissing*float64(s.questions+s.before)) }

// isAnswered reports whether the round has its answers, all but the last few.
func (s *search) isAnswered(now time.Time) bool {
	missing, waited := s.expected(), now.Sub(s.asked)
	return missing == 0 || waited >= lateAnswers && missing <= s.few() || waited >= longestWait
}

// runsLow reports whether the players have so little left to ask that it is time for the
// next round: it takes a moment to reach them, and answers that come later count in the
// one after that.
func (s *search) runsLow(now time.Time) bool {
	most := s.ahead * len(s.groups)
	switch rounds := s.planner.Progress().Rounds; {
	case s.isShort:
	case rounds == 1:
		most = int(firstShare * float64(s.questions))
	case rounds >= roundsAhead:
		most = int(laterShare * float64(s.questions))
	}
	return s.ahead > 0 && now.Sub(s.asked) >= roundEvery && s.expected() <= most
}

// ask sends the planner's next questions, and reports whether there were any.
func (s *search) ask(r *Room) bool {
	questions := 0
	for i, g := range s.groups {
		left := 0
		for _, of := range g.open() {
			left += r.spare(g.players[of])
		}
		s.planner.Limit(i, left)
	}
	for _, b := range s.planner.Next() {
		questions += len(b.Servers)
		s.groups[b.Player].deal(r, b.Servers)
	}
	if questions > 0 {
		if s.ahead > 0 {
			s.before = s.questions
		}
		s.asked, s.questions = r.now, questions
	}
	return questions > 0
}

// tick looks after who is gone, and whether it is time to go on.
func (c *Coordinating) tick(r *Room) {
	s := r.round.search
	if s != nil {
		excuseIdle(s.groups, r.now)
	} else {
		r.excuseAll()
	}
	r.leaveOutOverdue()
	switch {
	case len(r.round.active()) == 0:
		r.fail(true, "nobody is left to measure")
	case r.now.Sub(r.since) > coordinatingTime && !r.isStarved():
		r.note("time is up after %v: choosing from what has been measured", coordinatingTime)
		r.choose(false)
	default:
		c.advance(r)
	}
}

// isStarved reports whether the host had so little time for the room that the search has
// hardly begun when it should be over: a few rounds it is to have in any case.
func (r *Room) isStarved() bool {
	s := r.round.search
	return (s == nil || s.planner.Progress().Rounds < claimAfter) && r.now.Sub(r.since)-r.waited() <= coordinatingTime
}

// excuseAll has nobody's silence count: nobody has been asked anything.
func (r *Room) excuseAll() {
	for _, p := range r.round.players {
		if p.connected {
			p.isHeard(r.now)
		}
	}
}

// advance asks for a turn when the round has its answers, or there is none.
func (c *Coordinating) advance(r *Room) {
	if c.isDue(r) {
		r.plan(false)
	}
}

// isDue reports whether the next round of questions can begin.
func (*Coordinating) isDue(r *Room) bool {
	s := r.round.search
	return s == nil || !areOf(s.groups, r.round.natGroups(r.round.present())) || s.isAnswered(r.now) || !s.ends && s.runsLow(r.now)
}

// turn goes on to the next round of questions.
func (c *Coordinating) turn(r *Room) {
	if c.isDue(r) {
		c.search(r)
	}
}

// search asks for the next servers, or chooses if no other can plausibly win or
// there is nothing to ask.
func (c *Coordinating) search(r *Room) {
	r.exclude(filtered(r.round.active(), func(p *player) bool { return len(p.witness.Probes()) >= judgedAfter }), false)
	r.discredit()
	s := r.searching()
	if len(s.groups) == 0 {
		return // everyone is away for a moment; see overdue
	}
	progress := s.planner.Progress()
	settled := progress.Done && progress.Best >= 0
	if !s.over {
		if s.ends = settled || !s.ask(r); !s.ends {
			return
		}
		if !s.isAnswered(r.now) {
			return // answers come yet
		}
		// Waiting may be worth it although there is nothing to ask: answers come yet, or
		// what servers say of themselves. Who says nothing at all is left out after a
		// while.
		missing := s.expected()
		mayGain := missing > 0 && !progress.Done || progress.Best < 0
		if missing > s.few() || mayGain && r.now.Sub(s.asked) < longestWait {
			return
		}
		if progress.Best < 0 && s.isOut() && r.now.Sub(s.asked) < givenUp {
			return // what answers late is better than nothing, and who is silent is told
		}
		s.over = true
	}
	// Who is away has not measured what the others were asked, and is back in a
	// moment or left out.
	if s.players() < len(r.round.active()) {
		return
	}
	progress = s.planner.Progress()
	each := progress.Probes * float64(len(s.groups)) / float64(s.players())
	within := ""
	if progress.Reach > 0 {
		within = fmt.Sprintf(", or a server within %v for everyone", progress.Reach)
	}
	claim := fmt.Sprintf("at most %.0f ms better%s could be found, as far as one can tell", math.Ceil(rttMS(progress.RegretBound)), within)
	if s.asksFew() {
		claim = "what somebody who asks few servers was not asked may be better"
	}
	switch listed := len(r.round.servers.List); {
	case c.More > 0:
		c.over(r, s, claim)
	case int(math.Round(max(each, progress.Probes))) >= listed: // who shares an address shares the questions
		r.note("everyone was asked for all %s", serversInWords(listed))
	default:
		r.note("%s each instead of %d; %s", serversInWords(int(math.Ceil(each))), listed, claim)
	}
	r.choose(false)
}

// Progress is how far the round's coordinated search has come, also after it led to a
// choice and until the launch; there need not be one.
func (r *Room) Progress() (progress coordinate.Progress, searches bool) {
	if r.round.search == nil {
		return coordinate.Progress{}, false
	}
	return r.round.search.planner.Progress(), true
}

// view is how far the search is.
func (s *search) view(list []discovery.Server, by selection.Rule) *wire.Search {
	progress := s.planner.Progress()
	v := &wire.Search{Rounds: progress.Rounds, Found: progress.Best >= 0}
	if !v.Found {
		return v
	}
	best := selection.Servers{List: list[progress.Best : progress.Best+1]}
	var players []*player
	var rtts []time.Duration
	for i, g := range s.groups {
		rtt := s.planner.Predict(i, progress.Best)
		players = append(players, g.players...)
		rtts = append(rtts, slices.Repeat([]time.Duration{rtt}, len(g.players))...)
	}
	if len(players) == 0 {
		return &wire.Search{Rounds: progress.Rounds} // all have just left
	}
	table := selection.NewTable(names(players), 1)
	for column, rtt := range rtts {
		table.Set(column, 0, discovery.Answered, rtt)
	}
	chosen := selection.Select(best, table, selection.Criteria{By: selection.Mean}).Chosen
	v.MeanMS, v.MaxMS, v.StdevMS = chosen.MeanMS, chosen.MaxMS, chosen.StdevMS
	v.FigureMS = chosen.Figure(by)
	if rules.Of(by).OwnBests {
		v.FigureMS = max(0, progress.Score)
		v.ExtraMS = &v.FigureMS
	}
	if progress.Rounds >= claimAfter && !s.asksFew() {
		v.OwnMS = rttMS(progress.Own)
		gain := rttMS(progress.RegretBound)
		v.GainMS, v.ReachMS = &gain, rttMS(progress.Reach)
	}
	return v
}
