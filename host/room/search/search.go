// Package search directs a coordinated measuring. Players ask the servers that could still win,
// round after round, until no other server can plausibly win.
//
//	          ┌──────────── answers: Heard ◀───────────┐
//	          ▼                                        │
//	New ─▶ IsDue? ─▶ Turn ─▶ Ask ─▶ players ask ───────┘
//	                   │
//	                   └─▶ over: the room chooses ─▶ Behind ─▶ NextBehind, while people vote
//
// [muster/selection/coordinate] says what to ask. This package says which player to ask and when.
// Players behind one address measure as one, rounds wait for answers, and the time is limited. A
// search is not saved: another one begins from the results whenever the players change.
package search

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/rules"
)

const (
	// ahead is the number of questions that a player has left when the next ones go out. A home
	// line sends 250 a second, and answers come back within a third of a second. After the first
	// round, firstShare of the answers may be missing, because nobody knows yet what to ask next.
	// After roundsAhead rounds, laterShare may be missing, because by then the answers say best
	// what to ask (bench/experiments/choosing-speed.md).
	ahead       = 80
	firstShare  = 0.4
	roundsAhead = 8
	laterShare  = 0.3
	// shortList is the greatest length of a short list. A search asks for three quarters of such a
	// list, so waiting for answers saves few questions.
	shortList = 500
	// roundEvery is the least time between two rounds. A shorter time yields less than the
	// processor time is worth.
	roundEvery = 120 * time.Millisecond
	// behindEvery is the least time between two rounds while people vote.
	behindEvery = time.Second
	// lateAnswers is how long the search waits for its last answers. A program gives a silent server
	// up after three seconds, and the choice can do without that result.
	lateAnswers = 400 * time.Millisecond
	// A round ends although one answer of each group is missing, and this share of all answers. If
	// more are missing it waits for longestWait: most servers that have not replied by then are silent
	// (bench/experiments/memory.md).
	fewMissing  = 0.125
	longestWait = 900 * time.Millisecond
	// givenUp is the time after which every program has given up a silent server. A program needs
	// three seconds for that, and more on a busy machine. Only a search without any result waits so
	// long.
	givenUp = 10 * time.Second
	// Another round is not worth a gain below enough. untilSpent lets a search go on until its budget
	// is spent.
	enough     = 500 * time.Microsecond
	untilSpent = -time.Millisecond
	// Longest is the longest time of a search. It has a good answer long before.
	Longest = 45 * time.Second
	// lagsAhead is the most open questions of a slow player. The best finalists change from round
	// to round, so more questions would likely be wasted. longestLag is how long an otherwise
	// finished search may wait for slow players. The others wait six seconds more in all.
	lagsAhead  = 3
	longestLag = 4 * time.Second
	// claimAfter is the number of rounds after which the planner can estimate the possible gain.
	claimAfter = 5
	// ownShare is the number of servers that a player's own discovery may ask between two rounds
	// while people vote, and ownBudget the number in all.
	ownShare  = 25
	ownBudget = wire.VoteBudget / 2
)

// Search is a search under way.
type Search struct {
	*Groups
	planner *coordinate.Planner
	list    []discovery.Server
	// asked is when the newest questions went out, and questions is their number. instead is when a
	// player was last asked in place of another who heard nothing.
	asked     roomtime.Time
	questions int
	instead   roomtime.Time
	// ahead is the number of questions that each group has left when the next round begins, 0 if
	// rounds do not overlap. The field before is the number of questions of the round before, some
	// of them still open.
	ahead, before int
	// sides are the players' sides.
	sides map[string]selection.Side
	// more is the organiser's addition to each player's budget, if any.
	more int
	// ends says that nothing is left to ask, and the search waits for the last answers.
	ends, isOver bool
	// lagging is when slow players were first asked for finalists, zero before.
	lagging roomtime.Time
	// isBehind says that the choice is made, and the search goes on while people vote. own counts
	// the servers that each player's own discovery has been allowed since.
	isBehind bool
	own      int
}

// Setup is the task of a search.
type Setup struct {
	Topology *topology.Tree
	Servers  selection.Servers
	// Table has the knowledge of the first player of each group.
	Table    *selection.Table
	Criteria selection.Criteria
	// Options are the room's. A field that is 0 stands for the usual value.
	Options coordinate.Options
	// More is the organiser's addition to each player's budget. It is 0 in the round's own search.
	// IsBehind says that people vote during the search.
	More     int
	IsBehind bool
}

// New returns a search for groups of players. The players may have open questions, which are in
// out.
func New(groups [][]Member, out []Ask, setup Setup) *Search {
	options, criteria := setup.Options, setup.Criteria
	options.Budget, options.Enough = cmp.Or(options.Budget, wire.SearchBudget), cmp.Or(options.Enough, enough)
	// One player stands for each NAT group. In a mean that player counts once for each member.
	weights, isShared := map[string]float64{}, false
	for i, members := range groups {
		weights[string(members[0].ID)] = float64(len(members))
		if rules.Of(criteria.By).Sides {
			options.Guests = append(slices.Clip(options.Guests), opponents(i, members, criteria.Sides, weights)...)
		}
		isShared = isShared || len(members) > 1
		if most, few := fewLeft(members); few {
			if options.Few == nil {
				options.Few = map[int]int{}
			}
			options.Few[i] = most
		}
	}
	if isShared && rules.Of(criteria.By).Multiplies {
		criteria.Weights = weights
	}
	switch {
	case setup.More > 0:
		options.Budget, options.Beyond, options.Enough = left(setup.More, groups), true, untilSpent
	case !setup.IsBehind && options.Budget > 0: // other searches are in no hurry
		options.Ahead = ahead
	}
	return &Search{
		Groups: Form(groups, out), list: setup.Servers.List, sides: criteria.Sides, ahead: options.Ahead, more: setup.More,
		planner: coordinate.New(setup.Topology, setup.Servers, setup.Table, criteria, options),
	}
}

// opponents returns the members of a NAT group who are not on the side of its first member. They
// get the first member's RTTs. Each other side gets one guest, with the weight of all its members.
func opponents(group int, members []Member, sides map[string]selection.Side, weights map[string]float64) (all []coordinate.Guest) {
	head := string(members[0].ID)
	firsts := map[selection.Side]string{sides[head]: head}
	weights[head] = 1
	for _, m := range members[1:] {
		player := string(m.ID)
		first, is := firsts[sides[player]]
		if !is {
			first = player
			firsts[sides[player]] = first
			all = append(all, coordinate.Guest{
				Name: player, RTT: func(_ string, players []time.Duration) time.Duration { return players[group] },
			})
		}
		weights[first]++
	}
	return all
}

// IsShort reports whether the list is so short that the players are asked for most of it anyway.
// Then all rounds overlap. After the choice no search is short.
func (s *Search) IsShort() bool { return len(s.list) <= shortList && !s.isBehind }

// IsBehind reports whether the choice is made, and people vote.
func (s *Search) IsBehind() bool { return s.isBehind }

func (s *Search) players() int {
	n := 0
	for _, g := range s.groups {
		if !g.isBroken {
			n += len(g.players)
		}
	}
	return n
}

// expected returns the number of answers that are still likely to come.
func (s *Search) expected() int {
	n := 0
	for i, g := range s.groups {
		if !g.lags { // the search does not wait for a group that lags
			n += s.planner.Expected(i)
		}
	}
	return n
}

// dispensable returns the number of missing answers that a round need not wait for.
func (s *Search) dispensable() int {
	return len(s.groups) + int(fewMissing*float64(s.questions+s.before))
}

// isAnswered reports whether the round has almost all its answers, or has waited long enough.
func (s *Search) isAnswered(now roomtime.Time) bool {
	missing, waited := s.expected(), now.Sub(s.asked)
	return missing == 0 || waited >= lateAnswers && missing <= s.dispensable() || waited >= longestWait
}

// runsLow reports whether the players have so few questions left that the next round should begin.
// Later answers count in the round after that.
func (s *Search) runsLow(now roomtime.Time) bool {
	most := s.planner.Ahead() * len(s.groups)
	switch rounds := s.planner.Progress().Rounds; {
	case len(s.list) <= shortList:
	case rounds == 1:
		most = int(firstShare * float64(s.questions))
	case rounds >= roundsAhead:
		most = int(laterShare * float64(s.questions))
	}
	return s.ahead > 0 && now.Sub(s.asked) >= roundEvery && s.expected() <= most
}

// IsDue reports whether the next round of questions can begin. It can if the search is nil, because
// it has not begun, or if the groups have changed.
func (s *Search) IsDue(players [][]people.ID, now roomtime.Time) bool {
	if s == nil || !s.Are(players) {
		return true
	}
	if s.isBehind {
		return now.Sub(s.asked) >= behindEvery && s.isAnswered(now)
	}
	return s.isAnswered(now) || !s.ends && s.runsLow(now)
}

// IsTimeUp reports whether a search has taken too long. Nil is a search that has not begun. Waited
// is its time in the host's queue, which does not count until the search has had a few rounds.
func (s *Search) IsTimeUp(took, waited time.Duration) bool {
	hasIdea := s != nil && s.planner.Progress().Rounds >= claimAfter
	return took > Longest && (hasIdea || took-waited > Longest)
}

func (s *Search) next(groups [][]Member, now roomtime.Time) (asks []Ask) {
	for i, members := range groups {
		left := 0
		for _, of := range open(members) {
			left += members[of].Spare
		}
		if s.groups[i].lags {
			left = 0
		}
		s.planner.Limit(i, left)
	}
	questions := 0
	for _, b := range s.planner.Next() {
		questions += len(b.Servers)
		asks = append(asks, s.Deal(b.Player, groups[b.Player], b.Servers)...)
	}
	if questions > 0 {
		if s.ahead > 0 {
			s.before = s.questions
		}
		s.asked, s.questions = now, questions
		for i, members := range groups {
			if s.groups[i].lags {
				asks = append(asks, s.likeliest(i, members, false, now)...)
			}
		}
	}
	return asks
}

// Turn begins the next round of questions. The search is over if no other server can plausibly win,
// or nothing is left to ask. It is not over while its groups lack some of the players.
func (s *Search) Turn(groups [][]Member, players int, now roomtime.Time) (asks []Ask, over bool) {
	if len(s.groups) == 0 {
		return nil, false // everyone is away for a moment
	}
	if !s.isOver {
		progress := s.planner.Progress()
		settled := progress.Done && progress.Best >= 0
		if !settled {
			asks = s.next(groups, now)
		}
		if s.ends = len(asks) == 0; !s.ends {
			return asks, false
		}
		if !s.isAnswered(now) {
			return nil, false // answers are still to come
		}
		// Waiting may help even without open questions: late answers or servers' facts may come. A
		// player without any report is left out after a while.
		missing := s.expected()
		mayGain := missing > 0 && !progress.Done || progress.Best < 0
		if missing > s.dispensable() || mayGain && now.Sub(s.asked) < longestWait {
			return nil, false
		}
		if progress.Best < 0 && len(s.Out()) > 0 && s.MayHear(now) {
			return nil, false // a late answer is better than none
		}
		if asks, waits := s.finalists(groups, now); waits {
			return asks, false
		}
		s.isOver = true
	}
	// The search waits for a player who is away. That player is back in a moment, or left out.
	return nil, s.players() >= players
}

// finalists returns questions to slow players, about servers that are likely better than the best
// so far and that only they have not measured. It reports whether the search waits for answers.
func (s *Search) finalists(groups [][]Member, now roomtime.Time) (asks []Ask, waits bool) {
	for i, members := range groups {
		if !s.groups[i].lags {
			continue
		}
		asks = append(asks, s.likeliest(i, members, true, now)...)
		if now.Sub(s.lagging) >= longestLag {
			return nil, false
		}
		waits = waits || len(s.groups[i].out) > 0
	}
	return asks, waits
}

// likeliest returns the next questions to a group that lags, about the likely finalists.
func (s *Search) likeliest(at int, members []Member, better bool, now roomtime.Time) []Ask {
	if s.lagging.IsZero() {
		s.lagging = now
	}
	more := min(lagsAhead-len(s.groups[at].out), members[0].Spare)
	return s.Deal(at, members, s.planner.Likeliest(at, more, better))
}

// MayHear reports whether an answer may still come, because programs have not yet given up the
// newest questions.
func (s *Search) MayHear(now roomtime.Time) bool {
	return min(now.Sub(s.asked), now.Sub(s.instead)) < givenUp
}

// Behind lets the search go on behind a vote.
func (s *Search) Behind(now roomtime.Time) { s.isBehind, s.asked = true, now }

// Own is the number of servers that a player's own discovery may ask.
type Own struct {
	Player  people.ID
	Servers int
}

// NextBehind returns the next questions while people vote. It also allows servers to the own
// discovery of each group's first player.
func (s *Search) NextBehind(groups [][]Member, now roomtime.Time) (asks []Ask, own []Own) {
	if !s.planner.Progress().Done {
		asks = s.next(groups, now)
	}
	if s.own >= ownBudget {
		return asks, nil
	}
	s.own += ownShare
	for _, members := range groups {
		spare := members[0].Spare
		for _, ask := range asks {
			if ask.Player == members[0].ID {
				spare -= len(ask.Servers)
			}
		}
		if may := min(ownShare, spare); may > 0 {
			own = append(own, Own{members[0].ID, may})
		}
	}
	return asks, own
}

// Heard takes a player's result, along with those of the player's [Groups.NATMates]. It may return
// questions to mates, because the planner hears of a silence only after the whole group was asked.
func (s *Search) Heard(player people.ID, result discovery.Result, mates []NATMate, now roomtime.Time) (instead []Ask) {
	at, instead := s.Groups.Heard(player, result, mates)
	if len(instead) > 0 {
		s.instead = now
	}
	if at >= 0 {
		s.planner.Observe(at, result)
	}
	return instead
}

// Correct replaces a player's result.
func (s *Search) Correct(player people.ID, result discovery.Result) {
	if at, _ := s.find(player); at >= 0 {
		s.planner.Correct(at, result)
	}
}

// Inform notes that the facts about a server have changed.
func (s *Search) Inform(server int) { s.planner.Inform(server) }
