package room

import (
	"slices"
	"time"

	"muster/host/room/podium"
	"muster/host/room/search"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/rules"
)

// judgedAfter is of how many servers a player must have told to be judged while others still
// measure.
const judgedAfter = 16

// Coordinating has the players ask the servers that could still win, round after
// round.
type Coordinating struct {
	// More is how many servers the organiser has each ask beyond what the round's search
	// was allowed, 0 while that goes on; see [More].
	More int `json:"more,omitempty"`
}

func (*Coordinating) stage() wire.Stage { return wire.Refining }
func (*Coordinating) proceed(r *Room)   { r.choose(true) }

// searching is the search, made anew if the group is no longer the same.
func (r *Room) searching() *search.Search {
	r.attend()
	natGroups := r.round.searchedBy()
	if s := r.round.search; s != nil && s.Are(namesOf(natGroups)) {
		return s
	}
	var heads []*player
	for _, group := range natGroups {
		heads = append(heads, group[0])
	}
	coordinating, is := r.phase.(*Coordinating)
	setup := search.Setup{
		Topology: r.round.list.Tree(), Servers: r.round.servers, Table: r.round.table(heads), Criteria: r.criteria(r.settings, heads), IsBehind: !is,
		Options: coordinate.Options{Seed: r.tuning.Seed + uint64(r.round.number), Budget: r.tuning.Budget, Enough: r.tuning.Enough},
	}
	if is {
		setup.More = coordinating.More
	}
	if !r.settings.AnyVersion {
		setup.Criteria.Editions = r.editions.Of(names(r.round.present()), r.settings.Game)
	}
	if rules.Of(setup.Criteria.By).Averages { // by other rules it was not found to help
		setup.Options.Guests = r.counted().Searched(r.round.placed(names(heads)))
	}
	r.round.search = search.New(r.members(natGroups), r.round.unreported(r.groups()), setup)
	return r.round.search
}

// tick looks after who is gone, and whether it is time to go on.
func (c *Coordinating) tick(r *Room) {
	idle := names(r.round.players) // nobody has been asked anything
	if r.round.search != nil {
		idle = r.round.search.Idle()
	}
	r.round.attendance.Excuse(r.now, idle...)
	r.leaveOutOverdue()
	switch {
	case len(r.round.active()) == 0:
		r.fail(true, "nobody is left to measure")
	case r.round.search.IsTimeUp(r.now.Sub(r.since), r.round.turns.Waited(r.now)):
		r.note("time is up after %v: choosing from what has been measured", search.Longest)
		r.choose(false)
	default:
		c.advance(r)
	}
}

// advance asks for a turn when the round has its answers, or there is none.
func (c *Coordinating) advance(r *Room) {
	if r.isSearchDue() {
		r.plan(false)
	}
}

// isSearchDue reports whether the next round of questions can begin.
func (r *Room) isSearchDue() bool {
	return r.round.search.IsDue(namesOf(r.round.searchedBy()), r.now)
}

// turn asks for the next servers, or chooses if the search is over.
func (*Coordinating) turn(r *Room) {
	if !r.isSearchDue() {
		return
	}
	r.judge(filtered(r.round.active(), func(p *player) bool { return len(p.witness.Probes()) >= judgedAfter }), trust.Searching)
	r.discredit()
	s := r.searching()
	groups := r.members(r.round.searchedBy())
	asks, over := s.Turn(groups, len(r.round.active()), r.now)
	if r.askAll(asks); over {
		text, isDry := s.Outcome(groups)
		r.round.budget.Close(isDry)
		r.note("%s", text)
		r.choose(false)
	}
}

// showLeaders puts who leads the search on the pages, if any is open.
func (r *Room) showLeaders() {
	_, isVerifying := r.phase.(*Verifying)
	isSeen := r.roster.IsWatched()
	if !r.isMeasuring() && !isVerifying || !isSeen || !r.round.podium.IsDue(r.now) {
		return
	}
	results := 0
	for _, p := range r.round.players {
		results += len(p.witness.Probes())
	}
	group := filtered(r.round.active(), r.round.hasMeasured)
	ranking := podium.Rank(selection.Basis{
		Servers: r.round.servers, Table: r.basisFor(group).Table, Criteria: r.criteria(r.settings, group),
	}, names(r.round.active()))
	forecasts := map[int]map[string]time.Duration{}
	if r.round.search != nil {
		for _, server := range ranking.Servers() {
			forecasts[server] = r.round.search.Forecast(server)
		}
	}
	nameless := r.round.podium.Show(ranking, forecasts, results, r.now)
	r.revision++
	for _, p := range r.round.present() {
		heard := slices.DeleteFunc(slices.Clone(nameless), func(server int) bool { return !p.witness.CanName(server) })
		if len(heard) > 0 {
			r.send(p, wire.Ask{Round: r.round.number, Servers: []int{}, Names: heard})
		}
	}
}

// Progress is how far the round's coordinated search has come, also after it led to a
// choice and until the launch; there need not be one.
func (r *Room) Progress() (progress coordinate.Progress, searches bool) {
	if r.round.search == nil {
		return coordinate.Progress{}, false
	}
	return r.round.search.Progress(), true
}
