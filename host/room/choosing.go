package room

import (
	"muster/discovery/sentence"
	"muster/host/room/facts"
	"muster/host/room/trust"
	"muster/host/room/waiting"
	"muster/selection"
)

// choose chooses by the measurements, and begins the next step. Early says that the organiser wants
// a choice while some players still measure.
func (r *Room) choose(early bool, at trust.Moment) {
	chosen := r.decision.Choose(r.facts, early, at)
	r.parts.Attendance.Apply(chosen.Changes, r.now)
	r.out.say(chosen.Notes...)
	switch {
	case !chosen.Failure.IsZero():
		r.fail(true, chosen.Failure)
	case chosen.IsMade:
		r.carryOutChoice()
	}
}

// carryOutChoice begins the next step after the newest choice.
func (r *Room) carryOutChoice() {
	g := &r.parts
	next := r.decision.Decide(r.facts, &r.probing, r.phase.traits().isChosen())
	r.out.say(next.Notes...)
	switch {
	case len(next.Look) > 0:
		(&Verifying{}).begin(r, next.Look, next.Why)
	case len(next.Wait) > 0:
		(&Waiting{Wait: waiting.Begin(r.facts, next.Wait, r.now)}).begin(r)
	case !next.Failure.IsZero():
		r.fail(g.IsBroken, next.Failure)
	case next.Bans:
		(&Banning{}).begin(r)
	case next.Votes:
		r.goTo(&Voting{Looked: r.now}) // r.since remains the time of the choice
		r.out.say(r.decision.OpenVote(r.facts))
		r.probing.EndMainSearch() // another search goes on during the vote
	case next.Asks:
		g.Ballot.Offer(r.decision.Options(r.facts))
		(&Voting{Looked: r.now}).countDown(r, "room.countdown-over") // nobody waits for the answer
	default:
		r.goThere(next.Server)
	}
}

// rechoose makes another choice the newest, and begins its next step. It changes nothing once a
// match's captains decide.
func (r *Room) rechoose(s selection.Selection) {
	if r.phase.traits().isBanning {
		return // the captains decide about the servers that they have seen
	}
	r.decision.Replace(s)
	r.parts.Launches.Restart()
	if !r.phase.traits().isChosen() {
		r.since = r.now
	}
	r.carryOutChoice()
}

func hasChoice(g *facts.Parts) bool {
	return g.Choice.Newest() != nil && g.Choice.Newest().Chosen != nil
}

// chooseAgain chooses after the group has lost or won players, as why says. If the same server is
// still the best, the vote and the countdown go on.
func (r *Room) chooseAgain(why sentence.Sentence) {
	note, other := r.decision.ChooseAgain(r.facts, why)
	if r.out.say(note); other != nil {
		r.rechoose(*other)
	}
}
