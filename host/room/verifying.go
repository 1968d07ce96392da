package room

import (
	"muster/host/room/choice"
	"muster/host/room/decision"
	"muster/host/room/finals"
	"muster/host/wire"
	"muster/selection"
)

// Verifying is the second look: everyone looks at the best few servers again.
type Verifying struct{}

func (*Verifying) stage() wire.Stage { return wire.Chosen }

// proceed cuts a long look short.
func (v *Verifying) proceed(r *Room) {
	if stops, isCut := r.decision.CutShort(r.lookFacts()); isCut {
		r.note("the organiser says go: what the look has shown so far counts")
		r.sendLooks(stops)
		v.settle(r)
	}
}

// tick stops waiting for players who do not look.
func (v *Verifying) tick(r *Room) {
	notes, isLate := r.decision.Tick(r.lookFacts())
	if r.tell(notes...); isLate {
		v.settle(r)
	}
}

// settle decides once nobody is waited for.
func (*Verifying) settle(r *Room) {
	settled := r.decision.Settle(&r.group, r.lookFacts())
	r.tell(settled.Notes...)
	switch {
	case settled.IsOver:
		r.verifyOrLaunch()
	case len(settled.Asks) > 0:
		r.enter(&Verifying{})
		r.sendLooks(settled.Asks)
	}
}

// verifyOrLaunch does what follows from the newest choice.
func (r *Room) verifyOrLaunch() {
	g := &r.group
	next := r.decision.Decide(g, &r.probing, r.phase.stage() == wire.Chosen, r.survey.Count(g.Settings.Places))
	if len(next.Look) > 0 {
		r.enter(&Verifying{})
		r.tell(next.Notes...)
		r.lookAt(next.Look, false)
		return
	}
	r.tell(next.Notes...)
	switch {
	case next.Failure != "":
		if !r.awaitSeats(next.Wait) {
			r.fail(g.IsBroken, "%s", next.Failure)
		}
	case next.Votes:
		r.phase = &Voting{Looked: r.now} // since is that of the choice
		r.tell(r.decision.OpenVote(g))
		r.probing.ForgetBest() // a search beyond the one that led to the choice begins
	default:
		r.launch(next.Server)
	}
}

// rechoose puts another choice in the place of the last one. Servers that had no
// second look get it.
func (r *Room) rechoose(s selection.Selection) {
	decision.Replace(&r.group, s)
	if r.phase.stage() != wire.Chosen {
		r.since = r.now
	}
	r.verifyOrLaunch()
}

// lookFacts returns what a look has to know now.
func (r *Room) lookFacts() finals.Facts { return r.decision.Facts(&r.group, r.passed(), r.now) }

// lookAt lets everyone look at servers again. If isLast a launch is near.
func (r *Room) lookAt(servers []int, isLast bool) {
	asks, note := r.decision.Look(&r.group, &r.probing, servers, isLast, r.passed(), r.now)
	r.tell(note)
	r.sendLooks(asks)
}

// sendLooks sends what players are asked to look at, as far as the servers may see their addresses.
func (r *Room) sendLooks(asks []finals.Ask) {
	shown, without := r.probing.Show(&r.group, asks)
	for _, player := range without {
		r.decision.Without(player)
	}
	for _, ask := range shown {
		r.send(ask.Player, ask.Finalists)
	}
}

// verified takes a player's second look. While people vote only one that was
// asked for since they began counts.
func (in Hear) verified(r *Room, v wire.Verified) error {
	isAwaited := false
	switch phase := r.phase.(type) {
	case *Verifying:
		isAwaited = true
	case *Voting:
		isAwaited = phase.LookedAgain
	case *Countdown:
		isAwaited = phase.LookedAgain
	case *Waiting:
		isAwaited = phase.watch.Asks(in.Player) && !v.More
	}
	if !isAwaited || v.Round != r.group.Number {
		return nil
	}
	heard, err := r.decision.Hear(&r.group, in.Player, v, r.lookFacts())
	if err != nil {
		return Nonsense(err.Error())
	}
	if heard.IsElsewhere {
		r.note("%s", heard.Note)
	}
	switch phase := r.phase.(type) {
	case *Waiting:
		if heard.Counts {
			phase.heard(r, in.Player, v)
		}
	case *Verifying:
		if heard.Counts && heard.IsLast {
			phase.settle(r)
		}
	}
	return nil
}

// withoutLook waits for a player's look no longer.
func (r *Room) withoutLook(player string) {
	r.decision.Without(player)
	if v, verifying := r.phase.(*Verifying); verifying {
		v.settle(r)
	}
}

// Record is that of [choice.Record].
type Record = choice.Record

// Record returns what the newest choice was made from, or nil before there is one.
func (r *Room) Record() *Record { return decision.Record(&r.group) }
