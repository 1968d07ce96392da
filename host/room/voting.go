package room

import (
	"errors"
	"slices"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/outage"
	"muster/host/wire"
)

const (
	// countdownTime is how long everyone sees the launch coming.
	countdownTime = 5 * time.Second
	// freshLook is how long what was seen of the finalists holds: a third look within
	// it would say the same.
	freshLook = 10 * time.Second
	// worthAnother is how much lower a score has to be, in ms, for another server to
	// be looked at while people have begun to vote.
	worthAnother = 2
)

// electorate returns everybody who might have a say in the choice.
func (r *Room) electorate() ballot.Electorate {
	e := ballot.Electorate{GuestsVote: r.settings.GuestsVote}
	for one := range r.roster.People() {
		person := ballot.Person{
			Name: one.Name, Organiser: one.IsOrganiser, Guest: !one.IsPlayer, From: one.From, Page: one.HasPage,
		}
		if p := r.round.player(one.Name); p != nil {
			person.LeftOut, person.Asked = r.round.mark(p).Out != "" && r.phase.stage() == wire.Chosen, r.round.mark(p).Here && one.IsAsked
		} else {
			person.Counted = r.estimates.IsCounted(one.Name)
		}
		e.People = append(e.People, person)
	}
	return e
}

// options returns what people choose between, or would.
func (r *round) options() ballot.Options { return ballot.Among(r.choice.Newest(), r.looks.Seen()) }

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
	if err := (Order{Credential: r.roster.PageOf(p.name), Action: action}).step(r); err != nil {
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
	if r.roster.TakeClosed(attendance.LeftAfter, r.now) {
		r.isReady()
	}
	r.goOnWithout()
	if r.phase != v {
		return
	}
	if r.strategy() == wire.Coordinated && r.isSearchDue() {
		r.plan(true)
	}
}

// turn has the search go on, and everyone look at a server that turned up and is worth
// it.
func (v *Voting) turn(r *Room) {
	if r.strategy() != wire.Coordinated || !r.isSearchDue() {
		return
	}
	s := r.searching()
	s.Behind(r.now)
	selected, chosen := r.selectFor(r.round.chosenFor()), *r.round.choice.Newest().Chosen
	for _, ranked := range selected.Ranking {
		if ranked.Server == chosen.Server {
			chosen.Score = ranked.Score // as far as is known now
		}
	}
	if selected.Chosen != nil && selected.Chosen.Server != chosen.Server && chosen.Score-selected.Chosen.Score >= worthAnother {
		r.note("%s has turned up, and is better than %s", r.round.servers.Called(selected.Chosen.Server), r.round.servers.Called(chosen.Server))
		r.rechoose(selected)
		return
	}
	asks, own := s.NextBehind(r.members(r.round.searchedBy()), r.now)
	r.askAll(asks)
	for _, own := range own { // of players behind one address one's own discovery
		p := r.round.player(own.Player)
		p.witness.Allow(own.Servers)
		r.send(p, wire.Ask{Round: r.round.number, Own: own.Servers})
	}
}

// tick has everyone look at what they vote on once more: minutes may have passed,
// and seats go quickly. Then it launches.
func (c *Countdown) tick(r *Room) {
	r.goOnWithout()
	if r.phase != c {
		return
	}
	group := names(r.round.chosenFor())
	away, _ := r.round.attendance.Absent(group, outage.LongestPause, r.now)
	switch {
	case len(away) > 0 && 2*len(away) <= len(group) && !r.now.Before(c.LaunchAt): // back in a moment, or left
	case !r.now.Before(c.LaunchAt), c.LaunchAt.Sub(r.now) > countdownTime: // the clock was set back
		c.launchFavourite(r)
	case r.now.Sub(c.Looked) >= freshLook:
		c.Looked, c.LookedAgain = r.now, true
		var servers []int
		for _, ranked := range r.round.options().Candidates {
			servers = append(servers, ranked.Server)
		}
		r.lookAt(servers, true)
	}
}

// launchFavourite sends everyone to what they agreed on. If that has filled up
// since, the next takes its place.
func (*Countdown) launchFavourite(r *Room) {
	r.round.lose(r.round.looks.Concede(r.lookFacts()))
	r.discredit()
	target := r.round.ballot.Favourite(r.round.options())
	if r.against(target, r.round.chosenFor()) == nil {
		r.launch(target)
		return
	}
	selected := r.selectFor(r.round.chosenFor())
	r.round.choice.Refine(selected)
	r.noteChange(target)
	if selected.Chosen == nil || !slices.Contains(r.round.looks.Seen(), selected.Chosen.Server) {
		r.verifyOrLaunch()
		return
	}
	r.launch(selected.Chosen.Server)
}

// goOnWithout chooses again for the others if somebody has left.
func (r *Room) goOnWithout() {
	left, isComplete := r.round.attendance.GoOnWithout(names(r.round.chosenFor()), outage.LongestPause, r.now)
	if len(left) == 0 {
		return
	}
	for _, name := range left {
		r.round.ballot.Withdraw(name, ballot.Vote|ballot.Ready)
	}
	r.chooseAgain(attendance.Sentence(left, "left"))
	if isComplete {
		r.isReady()
	}
}

// chooseAgain chooses for those who are left of the group, or are more by now: what says
// in a sentence why. If the same server is the best the vote goes on, and the countdown.
func (r *Room) chooseAgain(what string) {
	group := r.round.chosenFor()
	selected := r.selectFor(group)
	before := r.round.choice.Newest().Chosen
	if selected.Chosen == nil || before == nil || selected.Chosen.Server != before.Server {
		r.note("%s Choosing again for %s.", what, attendance.Headcount(names(group)))
		r.rechoose(selected)
		return
	}
	r.note("%s %s is still the best for %s.", what, r.round.servers.Called(before.Server), attendance.Headcount(names(group)))
	selected.Doubts = r.round.choice.Newest().Doubts
	r.round.choice.Take(selected)
	r.round.choice.Weigh(r.basisFor(r.round.chosenFor()))
	r.round.ballot.Open(r.round.options())
}

// comesBack counts a player again who was left out for having left while people vote.
func (r *Room) comesBack(p *player) {
	if !r.isVoting() {
		return
	}
	group := r.round.chosenFor()
	r.round.attendance.Follow(p.name, names(group), r.now)
	if !r.round.attendance.CanReturn(p.name) || !r.round.hasMeasured(p) {
		return
	}
	r.round.attendance.Recall(p.name, r.now)
	selected := r.selectFor(append(group, p))
	if selected.Chosen == nil {
		r.round.attendance.LeaveOut(attendance.Left, p.name)
		return
	}
	before := *r.round.choice.Newest()
	before.Players = selected.Players
	r.round.choice.Refine(before)
	r.chooseAgain(attendance.Sentence([]string{p.name}, "is back"))
}

// isReady counts down if people are ready: nobody need say it again because another has left.
func (r *Room) isReady() {
	if v, voting := r.phase.(*Voting); voting && r.round.ballot.IsReady(r.electorate()) {
		v.countDown(r, "everyone is ready")
	}
}

var (
	errNoVote          = errors.New("there is nothing to decide now")
	errNothingMeasured = errors.New("nothing has been measured yet")
)
