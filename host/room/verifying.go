package room

import (
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/wire"
)

// Verifying is the second look: everyone looks at the best few servers again.
type Verifying struct{ base }

func (*Verifying) traits() traits {
	return traits{name: wire.PhaseVerifying, duty: attendance.Stay, isLooking: true}
}

func (*Verifying) joined(r *Room, player people.ID) { r.lookLate(player) }

func (*Verifying) expectsLook(people.ID, wire.Verified) bool { return true }

func (v *Verifying) lookCame(r *Room, _ people.ID, _ wire.Verified, heard finals.Heard) {
	if heard.Counts && heard.IsLast {
		v.settle(r)
	}
}

func (v *Verifying) lookMissing(r *Room) { v.settle(r) }

func (*Verifying) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	s.Look = r.decision.ViewLook(r.facts, r.passed(), r.clocks())
}

func (*Verifying) isValid(g *facts.Parts) bool { return g.Choice.Newest() != nil }

// begin begins a look of all players at servers, and tells people the reasons.
func (v *Verifying) begin(r *Room, servers []int, why []sentence.Sentence) {
	r.enter(v)
	r.out.say(why...)
	asks, note := r.decision.Look(r.facts, &r.probing, servers, false, r.passed(), r.now)
	r.out.say(note)
	r.sendLooks(asks)
}

// proceed cuts a long look short, unless a side of a match has asked for it, because the organiser
// may be on the other side.
func (v *Verifying) proceed(r *Room) error {
	if r.facts.IsLookOfSide() {
		return errCaptainsDecide
	}
	if stops, isCut := r.decision.Looks.CutShort(r.lookFacts()); isCut {
		r.out.say(sentence.Of("room.go-look"))
		r.sendLooks(stops)
		v.settle(r)
	}
	return nil
}

// tick stops waiting for players who take too long to look.
func (v *Verifying) tick(r *Room) {
	notes, isLate := r.decision.Looks.Tick(r.lookFacts())
	if r.out.say(notes...); isLate {
		v.settle(r)
	}
}

// settle ends the look and begins the next step, once the room waits for nobody.
func (*Verifying) settle(r *Room) {
	looks, isSettled := r.decision.Looks.Settle(r.lookFacts())
	if !isSettled {
		return
	}
	if r.probing.NoteMisses(looks.Lost); len(looks.Asks) > 0 {
		r.out.say(looks.Note)
		r.enter(&Verifying{})
		r.sendLooks(looks.Asks)
		return
	}
	out, notes := r.decision.Refine(r.facts, looks.LookedS)
	r.parts.Attendance.Apply([]attendance.Change{out}, r.now)
	r.out.say(notes...)
	r.carryOutChoice()
}

// acceptMisses gives up the servers that answered nobody's look.
func (r *Room) acceptMisses() { r.probing.NoteMisses(r.decision.Looks.AcceptMisses(r.lookFacts())) }

// lookLate asks a player who has come late for the look that the others were asked for.
func (r *Room) lookLate(player people.ID) {
	if g := &r.parts; g.Attendance.Of(player).Out == "" {
		r.out.brief(g, player)
		r.sendLooks(r.decision.LookOf(r.facts, player, r.passed(), r.now))
	}
}

// lookFacts returns the present facts for a look.
func (r *Room) lookFacts() finals.Facts { return r.decision.LookFacts(r.facts, r.passed(), r.now) }

// sendLooks asks players to look at servers, within the promised numbers.
func (r *Room) sendLooks(asks []finals.Ask) {
	shown, without := r.probing.LimitLooks(r.facts, asks)
	for _, player := range without {
		r.decision.Looks.StopAwaiting(player)
	}
	r.out.publish()
	for _, ask := range shown {
		r.out.brief(&r.parts, ask.Player)
		r.out.send(ask.Player, ask.Finalists)
	}
}

// verified takes a player's second look, if the phase expects one.
func (in Hear) verified(r *Room, v wire.Verified) error {
	switch {
	case v.Round != r.parts.Number:
		return nil
	case !r.phase.expectsLook(in.Player, v):
		r.phase.lookedAside(r, in.Player, v)
		return nil
	}
	for _, seen := range v.Servers {
		if seen.Server < 0 || seen.Server >= len(r.parts.Servers.List) {
			return nonsensef("a look at server %d of %d", seen.Server, len(r.parts.Servers.List))
		}
	}
	heard := r.decision.Hear(r.facts, in.Player, v, r.lookFacts())
	if heard.IsElsewhere {
		r.parts.Origins.Part(in.Player)
		r.out.say(heard.Note)
	}
	if heard.Counts {
		r.probing.NoteLooks(r.facts, in.Player, heard.Seen, r.now)
		r.parts.Attendance.Await(r.now, in.Player)
	}
	r.phase.lookCame(r, in.Player, v, heard)
	return nil
}

// withoutLook stops waiting for a player's look.
func (r *Room) withoutLook(player people.ID) {
	r.decision.Looks.StopAwaiting(player)
	r.phase.lookMissing(r)
}
