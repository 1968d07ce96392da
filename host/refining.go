package host

import (
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
)

const (
	// stragglers is how long a round waits for its last answers: a silent server
	// takes a peer three seconds, and the next round need not know of it.
	stragglers = 400 * time.Millisecond
	// fewAreLeft is the share of a round's answers, besides one of each player, that
	// is not waited for beyond that. longest is how long a round waits if more are
	// missing: enough for a server to be asked twice.
	fewAreLeft = 0.125
	longest    = 1500 * time.Millisecond
	// budget is how many servers a player is asked for at most, and enough the
	// gain that is not worth another round.
	budget = 650
	enough = 500 * time.Microsecond
	// shortList is how many servers a peer asks in two seconds at its default
	// rate.
	shortList = 500
	// refiningTime is how long a room refines at most; it has a good answer long
	// before.
	refiningTime = 45 * time.Second
)

// search is a room's coordinated measuring while it goes on. It can be made anew
// from the members' results at any time, and so is not saved.
type search struct {
	planner *coordinate.Planner
	// crews are the planner's players: those behind one address are one.
	crews []*crew
	// asked is when the newest round began, and questions how many it has.
	asked     time.Time
	questions int
	over      bool
	// further: the choice is made, and the search goes on while people vote; own is
	// what the players' own discovery was allowed then.
	further bool
	own     int
}

// isMeasuring: members measure, each on its own or as the host asks.
func (r *Room) isMeasuring() bool { return r.Stage == wire.Measuring || r.Stage == wire.Refining }

// strategy is how the members measure this round's list. A short one they
// measure whole: that takes no longer than asking them for the right part.
func (r *Room) strategy() string {
	if r.Settings.Strategy == wire.Coordinated && len(r.Servers) <= shortList {
		return string(discovery.Conventional)
	}
	return r.Settings.Strategy
}

// group are the members whom the search counts on now.
func (r *Room) group() []*Member {
	return r.activeWho(func(m *Member) bool { return m.Connected })
}

// searching is the search, made anew if the group is no longer the same.
func (r *Room) searching() *search {
	sites := r.sites(r.group())
	if r.search == nil || !areCrews(r.search.crews, sites) {
		var before []*crew
		if r.search != nil {
			before = r.search.crews
		}
		options := coordinate.Options{Seed: uint64(r.Round), Budget: budget, Enough: enough}
		heads, wish := r.heads(sites)
		r.search = &search{crews: crewsOf(sites, before), planner: coordinate.New(r.servers(), r.table(heads), wish, options)}
	}
	return r.search
}

// hidden are servers that the search takes to be better than they look.
func (r *Room) hidden() []int {
	if r.search == nil {
		return nil
	}
	return r.search.planner.Hidden(hiddenFinalists)
}

// heads are a player of each site, who stands for all of them, and what they
// wish: where a mean is taken, each counts as many times as it stands for players.
func (r *Room) heads(sites [][]*Member) ([]*Member, selection.Criteria) {
	var heads []*Member
	weights := map[string]float64{}
	for _, site := range sites {
		heads = append(heads, site[0])
		weights[site[0].Name] = float64(len(site))
	}
	wish := r.wish(heads)
	if len(heads) < len(r.group()) && wish.By != selection.Minimax {
		wish.Weights = weights
	}
	return heads, wish
}

// answered tells the search of a result; another of the site may have to ask a
// server that was silent before it counts as lost.
func (s *search) answered(r *Room, m *Member, result discovery.Result) []effect {
	c := crewOf(s.crews, m)
	if c == nil {
		return nil
	}
	effects := c.heard(r, m, result)
	if _, asked := c.waiting[result.Server]; !asked || result.State != discovery.Lost {
		s.planner.Observe(slices.Index(s.crews, c), result)
	}
	return effects
}

// players is how many the search is for.
func (s *search) players() int {
	n := 0
	for _, c := range s.crews {
		n += len(c.members)
	}
	return n
}

// isAnswered tells that the round has its answers, all but the last few.
func (s *search) isAnswered(now time.Time) bool {
	missing, waited := s.expected(), now.Sub(s.asked)
	return missing == 0 || waited >= stragglers && missing <= s.few() || waited >= longest
}

// few is how many missing answers a round need not wait for.
func (s *search) few() int { return len(s.crews) + int(fewAreLeft*float64(s.questions)) }

// mayGain tells that waiting is worth it although there is nothing to ask: answers
// come yet, or what servers say of themselves. Who says nothing at all is left out
// after a while.
func (s *search) mayGain(o coordinate.Progress, now time.Time) bool {
	missing := s.expected()
	return missing > s.few() || now.Sub(s.asked) < longest && (missing > 0 && !o.Done || o.Best < 0)
}

// expected is how many answers are likely to come yet.
func (s *search) expected() int {
	n := 0
	for player := range s.crews {
		n += s.planner.Expected(player)
	}
	return n
}

// refine asks for the next servers, or chooses if no other can plausibly win or
// there is nothing to ask.
func (r *Room) refine(now time.Time) []effect {
	r.distrust(r.activeWho(func(m *Member) bool { return m.Probed >= fullReport }), now)
	s := r.searching()
	o := s.planner.Progress()
	switch {
	case len(s.crews) == 0:
		return nil // everyone is away for a moment; see overdue
	case s.over:
		return r.chooseTogether(now)
	case !o.Done || o.Best < 0:
		if effects := r.ask(s.planner.Next(), now); len(effects) > 0 {
			return effects
		}
	}
	if s.mayGain(o, now) {
		return nil
	}
	s.over = true
	return r.chooseTogether(now)
}

func (r *Room) ask(batches []coordinate.Batch, now time.Time) []effect {
	var effects []effect
	questions := 0
	for _, b := range batches {
		questions += len(b.Servers)
		effects = append(effects, r.search.crews[b.Player].deal(r, b.Servers)...)
	}
	if questions > 0 {
		r.search.asked, r.search.questions = now, questions
	}
	return effects
}

// chooseTogether chooses when nobody is away: who is has not measured what the
// others were asked, and is back in a moment or left out.
func (r *Room) chooseTogether(now time.Time) []effect {
	if r.search.players() < len(r.active()) {
		return nil
	}
	o := r.search.planner.Progress()
	r.note(now, "%.0f servers each instead of %d; at most %.0f ms better is to be had, as far as one can tell",
		o.Probes*float64(len(r.search.crews))/float64(r.search.players()), len(r.Servers), math.Ceil(float64(o.Gain)/float64(time.Millisecond)))
	return r.choose(now)
}

// tells is after how many rounds the planner has an idea of what is still to be
// had.
const tells = 5

// searchView is how far the search is, nil if there is none.
func (r *Room) searchView() *wire.Search {
	if r.Stage != wire.Refining && r.Agreement == nil || r.search == nil {
		return nil
	}
	o := r.search.planner.Progress()
	v := &wire.Search{Rounds: o.Rounds, Found: o.Best >= 0}
	if !v.Found {
		return v
	}
	best := selection.Servers{List: r.Servers[o.Best : o.Best+1]}
	var group []*Member
	var rtts []time.Duration
	for player, c := range r.search.crews {
		rtt, _ := r.search.planner.Predict(player, o.Best)
		group = append(group, c.members...)
		rtts = append(rtts, slices.Repeat([]time.Duration{rtt}, len(c.members))...)
	}
	if len(group) == 0 {
		return &wire.Search{Rounds: o.Rounds} // all have just left
	}
	table := selection.NewTable(names(group), 1)
	for player := range group {
		table.Set(player, 0, discovery.Answered, rtts[player])
	}
	c := selection.Select(best, table, selection.Criteria{By: selection.Mean}).Chosen
	v.MeanMS, v.MaxMS, v.StdevMS = c.MeanMS, c.MaxMS, c.StdevMS
	if o.Rounds >= tells {
		gain := float64(o.Gain) / float64(time.Millisecond)
		v.GainMS = &gain
	}
	return v
}

// refineWhenAnswered goes on to the next round when this one has its answers.
func (r *Room) refineWhenAnswered(now time.Time) []effect {
	if r.Stage != wire.Refining || r.search == nil || !r.search.isAnswered(now) {
		return nil
	}
	return r.refine(now)
}

// tickRefining looks after who is gone, and whether it is time to go on.
func (r *Room) tickRefining(now time.Time) []effect {
	if r.search != nil {
		excuseTheIdle(r.search.crews, now)
	}
	r.leaveOutTheOverdue(now)
	switch {
	case len(r.active()) == 0:
		return r.fail(now, "nobody is left to measure")
	case now.Sub(r.Since) > refiningTime:
		r.note(now, "time is up after %v: choosing from what has been measured", refiningTime)
		return r.choose(now)
	case r.search == nil || !areCrews(r.search.crews, r.sites(r.group())):
		return r.refine(now)
	}
	return r.refineWhenAnswered(now)
}
