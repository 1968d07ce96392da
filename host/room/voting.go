package room

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"muster/host/wire"
	"muster/selection"
)

const (
	// countdownTime is how long everyone sees the launch coming.
	countdownTime = 5 * time.Second
	// freshLook is how long what was seen of the finalists holds: a third look within
	// it would say the same.
	freshLook = 10 * time.Second
	// backgroundEvery is the time from one round of questions to the next while
	// people vote: with the players' own discovery it is a quarter of a home line's
	// rate.
	backgroundEvery = time.Second
	// ownShare is how many servers a player's own discovery may ask in that time,
	// and ownBudget how many in all.
	ownShare  = 25
	ownBudget = wire.VoteBudget / 2
	// worthAnother is how much lower a score has to be, in ms, for another server to
	// be looked at while people have begun to vote.
	worthAnother = 2
	// leastCandidates is how many servers people vote on, if so many suit them: more are
	// looked at for that.
	leastCandidates = 3
	// enoughPages is how many players have the page open where people vote without
	// anybody having decided that they do.
	enoughPages = 2
)

// votes reports whether people vote before the launch. Those who have begun go on, even
// if pages are closed meanwhile.
func (r *Room) votes() bool {
	if r.settings.Agree != wire.Undecided {
		return r.settings.Agree == wire.Yes
	}
	pages := 0
	for p, isPlayer := range r.everyone() {
		pages += count(isPlayer && r.isWatching(p))
	}
	return r.round.voted || pages >= enoughPages
}

// Voting is the time between the choice and the countdown, in rooms whose
// organiser wants one: people vote, veto and say that they are ready, and the
// search for something better goes on.
type Voting struct {
	// Looked is when everyone was last asked to look at the finalists; LookedAgain
	// that they were since people began to vote.
	Looked      time.Time `json:"looked"`
	LookedAgain bool      `json:"looked_again,omitempty"`
}

// Countdown is the moment before the launch. Any change of mind leads back to
// Voting.
type Countdown struct {
	Voting
	LaunchAt time.Time `json:"launch_at"`
}

func (*Voting) stage() wire.Stage { return wire.Chosen }

// proceed is the organiser, who does not wait.
func (v *Voting) proceed(r *Room)  { v.countDown(r, "the organiser says go") }
func (*Countdown) proceed(r *Room) {}

// isVoting reports whether people may still change their minds.
func (r *Room) isVoting() bool {
	switch r.phase.(type) {
	case *Voting, *Countdown:
		return true
	}
	return false
}

// ballot is what a person says about the round's choice.
type ballot struct {
	ready, vetoed, voted bool
	// vote is for a server, if voted.
	vote int
	// byHand: the person has joined the game server without Muster.
	byHand bool
}

// say changes what a person says.
func (r *round) say(p *person, change func(*ballot)) {
	b := r.ballots[p.name]
	change(&b)
	r.ballots[p.name] = b
}

// reballot has what somebody says go with another name.
func (r *round) reballot(from, to string) {
	if b, said := r.ballots[from]; said {
		delete(r.ballots, from)
		r.ballots[to] = b
	}
	r.vetoes = slices.Clone(r.vetoes) // others may be shown the old ones
	for i := range r.vetoes {
		if r.vetoes[i].Player == from {
			r.vetoes[i].Player = to
		}
	}
}

// unsay takes back what somebody said, the veto too: else whoever comes again under another
// name has one more each time.
func (r *round) unsay(name string) {
	delete(r.ballots, name)
	r.vetoes = slices.DeleteFunc(slices.Clone(r.vetoes), func(v selection.Veto) bool { return v.Player == name })
}

// candidates are what may be voted for: the first of those in the ranking that had
// their second look.
func (r *round) candidates() []selection.Ranked {
	seen := slices.DeleteFunc(slices.Clone(r.selection.Ranking), func(ranked selection.Ranked) bool {
		return !slices.Contains(r.look.Seen, ranked.Server)
	})
	return seen[:min(finalists, len(seen))]
}

// numberCandidates gives candidates that have none the next numbers, the best by the rule first.
// Nobody's vote goes elsewhere because another candidate has come or gone.
func (r *round) numberCandidates() {
	for _, ranked := range r.candidates() {
		if !slices.Contains(r.numbered, ranked.Server) {
			r.numbered = append(r.numbered, ranked.Server)
		}
	}
}

// moreCandidates are servers that suit everyone and had no second look yet, as long as
// too few had for a vote.
func (r *round) moreCandidates() (more []int) {
	if len(r.candidates()) >= leastCandidates {
		return nil
	}
	for _, ranked := range r.selection.Ranking {
		if !slices.Contains(r.look.Seen, ranked.Server) && len(more) < finalists {
			more = append(more, ranked.Server)
		}
	}
	return more
}

// beginVote forgets votes for servers that are no candidates any more.
func (r *round) beginVote() {
	r.voted = true
	for name, b := range r.ballots {
		if b.voted && !r.isCandidate(b.vote) {
			b.voted, b.vote = false, 0
			r.ballots[name] = b
		}
	}
}

// isCandidate reports whether a server may be voted for.
func (r *round) isCandidate(server int) bool {
	return slices.ContainsFunc(r.candidates(), func(ranked selection.Ranked) bool { return ranked.Server == server })
}

// favourite is the server most voted for, of several the one with the lowest number, and
// without votes the best by the rule; see [wire.MostVotes].
func (r *round) favourite() selection.Ranked {
	votes := map[int]int{}
	for _, b := range r.ballots {
		if b.voted {
			votes[b.vote]++
		}
	}
	best := *r.selection.Chosen
	number := func(server int) int { return slices.Index(r.numbered, server) }
	for _, ranked := range r.candidates() {
		n, most := votes[ranked.Server], votes[best.Server]
		if n > most || n == most && n > 0 && number(ranked.Server) < number(best.Server) {
			best = ranked
		}
	}
	return best
}

// isAwaited reports whether the countdown waits for somebody's word: a player or guest
// with a say who is asked for it, by an open page or at the terminal.
func (r *Room) isAwaited(p *person, isPlayer bool) bool {
	if !r.hasSay(p, isPlayer) {
		return false
	}
	if r.isWatching(p) {
		return true
	}
	at := r.round.player(p.name)
	return isPlayer && at.connected && at.isAsked
}

// say takes a player's word from the terminal, as the player's page gives it.
func (Hear) say(r *Room, p *player, m wire.Say) {
	if m.Round != r.round.number {
		return
	}
	var action Action
	switch m.What {
	case wire.SayVote:
		action = Vote{m.Addr}
	case wire.SayVeto:
		action = Veto{Addr: m.Addr}
	case wire.SayCome, wire.SayNotCome:
		comes := m.What == wire.SayCome
		action = Come{&comes}
	case wire.SayLiked, wire.SayDisliked:
		liked := m.What == wire.SayLiked
		action = Like{&liked}
	default:
		action = Ready{m.What == wire.SayReady}
	}
	if err := (Order{Credential: p.page, Action: action}).step(r); err != nil {
		r.send(p, wire.Answer{Message: err.Error()})
	}
}

// countDown begins the countdown.
func (v *Voting) countDown(r *Room, why string) {
	r.phase = &Countdown{Voting: *v, LaunchAt: r.now.Add(countdownTime)}
	r.note("%s: the launch is in %v", why, countdownTime)
}

// stopCountdown gives people time again.
func (r *Room) stopCountdown() {
	if c, counting := r.phase.(*Countdown); counting {
		r.phase = &c.Voting
		r.note("the countdown is stopped")
	}
}

// tick asks for a turn for the search that goes on, and goes on without who has left.
func (v *Voting) tick(r *Room) {
	if !r.pageClosed.IsZero() && r.now.Sub(r.pageClosed) >= leftAfter { // and was not merely loaded again
		r.pageClosed = time.Time{}
		r.isReady()
	}
	r.goOnWithout()
	if r.phase != v {
		return
	}
	if r.strategy() == wire.Coordinated && v.isDue(r) {
		r.plan(true)
	}
}

// isDue reports whether the search can go on.
func (*Voting) isDue(r *Room) bool {
	s := r.round.search
	return s == nil || !areOf(s.groups, r.round.natGroups(r.round.present())) || r.now.Sub(s.asked) >= backgroundEvery && s.isAnswered(r.now)
}

// turn has the search go on, and everyone look at a server that turned up and is worth
// it.
func (v *Voting) turn(r *Room) {
	if r.strategy() != wire.Coordinated || !v.isDue(r) {
		return
	}
	s := r.searching()
	s.background = true
	s.asked = r.now
	selected, chosen := r.selectFor(r.round.chosenFor()), *r.round.selection.Chosen
	for _, ranked := range selected.Ranking {
		if ranked.Server == chosen.Server {
			chosen.Score = ranked.Score // as far as is known now
		}
	}
	if selected.Chosen != nil && selected.Chosen.Server != chosen.Server && chosen.Score-selected.Chosen.Score >= worthAnother {
		r.note("%s has turned up, and is better than %s", r.round.serverName(selected.Chosen.Server), r.round.serverName(chosen.Server))
		r.rechoose(selected)
		return
	}
	if !s.planner.Progress().Done {
		s.ask(r)
	}
	if s.own < ownBudget { // of players behind one address one's own discovery
		s.own += ownShare
		for _, g := range s.groups {
			if own := min(ownShare, r.spare(g.players[0])); own > 0 {
				g.players[0].witness.Allow(own)
				r.send(g.players[0], wire.Ask{Round: r.round.number, Own: own})
			}
		}
	}
}

// tick has everyone look at what they vote on once more: minutes may have passed,
// and seats go quickly. Then it launches.
func (c *Countdown) tick(r *Room) {
	r.goOnWithout()
	if r.phase != c {
		return
	}
	away, _ := r.absent()
	switch {
	case len(away) > 0 && 2*len(away) <= len(r.round.chosenFor()) && !r.now.Before(c.LaunchAt): // back in a moment, or left
	case !r.now.Before(c.LaunchAt), c.LaunchAt.Sub(r.now) > countdownTime: // the clock was set back
		c.launchFavourite(r)
	case r.now.Sub(c.Looked) >= freshLook:
		c.Looked, c.LookedAgain = r.now, true
		r.round.look.Repeats++
		var servers []int
		for _, ranked := range r.round.candidates() {
			servers = append(servers, ranked.Server)
		}
		r.askToLook(servers)
	}
}

// launchFavourite sends everyone to what they agreed on. If that has filled up
// since, the next takes its place.
func (*Countdown) launchFavourite(r *Room) {
	r.round.concede()
	r.discredit()
	target := r.round.favourite()
	if r.against(target.Server, r.round.chosenFor()) == nil {
		r.launch(target.Server)
		return
	}
	selected := r.selectFor(r.round.chosenFor())
	r.round.selection = &selected
	r.noteChange(target.Server)
	if selected.Chosen == nil || !slices.Contains(r.round.look.Seen, selected.Chosen.Server) {
		r.verifyOrLaunch()
		return
	}
	r.launch(selected.Chosen.Server)
}

var (
	errNoVote          = errors.New("there is nothing to decide now")
	errNothingMeasured = errors.New("nothing has been measured yet")
)

// whatIf is what other settings would choose. Everyone sees it,
// the organiser may make it so.
type whatIf struct {
	Player string `json:"player"`
	// Patch makes those settings of the room's.
	Patch     json.RawMessage     `json:"patch"`
	Selection selection.Selection `json:"selection"`
}
