package room

import (
	"muster/discovery/sentence"
	"muster/host/room/bans"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Banning is the time between the choice and the launch of a match. Captains ban and pick in turn,
// and a countdown follows. People who come, leave or change their words change nothing, so neither
// side can use that against the other.
type Banning struct {
	base
	// lastSeconds begin with the last move. Before it they are zero.
	lastSeconds
	// Looked is when everyone was last asked to look at the finalists. LookedAgain says that the
	// captains had moved by then.
	Looked      roomtime.Time `json:"looked"`
	LookedAgain bool          `json:"looked_again,omitempty"`
}

func (*Banning) traits() traits { return traits{name: wire.PhaseBanning, isBanning: true} }

func (*Banning) joined(r *Room, player people.ID) { r.lookLate(player) }

func (b *Banning) expectsLook(people.ID, wire.Verified) bool { return b.LookedAgain }

func (b *Banning) move(r *Room, by caller, m Move) error {
	notes, err := r.decision.MakeMove(r.facts, by.ID, m.Number, m.What, r.clocks())
	if err != nil {
		return err
	}
	r.out.say(notes...)
	b.countDown(r)
	return nil
}

// refuseLongLook returns an error once a captain has moved.
func (*Banning) refuseLongLook(r *Room) error {
	if _, is := r.parts.Bans.Turn(); !is || r.parts.Bans.HasMoved() {
		return errLookNow
	}
	return nil
}

// beginLongLook begins a long look at the servers. The captains begin again after it.
func (*Banning) beginLongLook(r *Room, why sentence.Sentence) {
	servers := r.parts.Bans.Servers()
	r.parts.Bans = bans.Series{}
	r.decision.Looks.Retry()
	(&Verifying{}).begin(r, servers, []sentence.Sentence{why})
}

func (b *Banning) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	if !b.LaunchAt.IsZero() {
		b.lastSeconds.view(r, s, nil)
		return
	}
	if turn, is := r.parts.Bans.Turn(); is {
		s.Phase.Turn, s.Phase.LeftMS = turn.Number, turn.Until.Sub(r.now).Milliseconds()
	}
}

func (b *Banning) isValid(g *facts.Parts) bool {
	return hasChoice(g) && g.Bans.HasBegun() && g.Bans.IsOver() != b.LaunchAt.IsZero()
}

// resume gives the captain the whole time of a turn again.
func (*Banning) resume(r *Room) { r.parts.Bans.Restart(r.now) }

// proceed refuses: in a match the captains decide, and not the organiser.
func (*Banning) proceed(*Room) error { return errCaptainsDecide }

// begin begins the bans and picks. r.since stays the time of the choice.
func (b *Banning) begin(r *Room) {
	b.Looked = r.now
	r.goTo(b)
	r.probing.EndMainSearch()
	r.out.say(r.decision.BeginBans(r.facts, r.now)...)
	b.countDown(r)
}

// countDown begins the countdown once all moves are made.
func (b *Banning) countDown(r *Room) {
	if !r.parts.Bans.IsOver() || !b.LaunchAt.IsZero() {
		return
	}
	lasts := b.lastSeconds.begin(r, r.parts.Roster.IsWatched())
	r.out.mustSave = true
	r.out.say(sentence.Of("room.countdown-match", "seconds", lasts.Seconds()))
}

// tick moves for a captain who takes too long. In the countdown everyone looks at the servers once
// more, because bans take minutes, and seats fill up quickly.
func (b *Banning) tick(r *Room) {
	if b.LaunchAt.IsZero() {
		notes, left := r.decision.TickBans(r.facts, r.clocks())
		if left != "" {
			notes = r.facts.SideNotes(r.parts.Sides.Replace(left, decision.Captainable(r.facts)))
		}
		if len(notes) > 0 {
			r.out.mustSave = true
			r.out.say(notes...)
		}
		b.countDown(r)
		return
	}
	left := b.lastSeconds.tick(r)
	switch {
	case left <= 0:
		r.acceptMisses()
		server, notes := r.decision.Destination(r.facts)
		r.out.say(notes...)
		r.goThere(server)
	case b.LaunchAt.Sub(b.Looked) >= freshLook && left <= countdownTime:
		b.Looked, b.LookedAgain = r.now, true
		asks, note := r.decision.Look(r.facts, &r.probing, r.decision.Fallbacks(r.facts), true, r.passed(), r.now)
		r.out.say(note)
		r.sendLooks(asks)
	}
}

// next returns the end of the turn. If the captain is away, or the countdown runs, the room needs
// ticks before.
func (b *Banning) next(r *Room) (at roomtime.Time, isQuiet bool) {
	if turn, is := r.parts.Bans.Turn(); is && !r.decision.IsCaptainAway(r.facts) {
		return turn.Until, true
	}
	return r.now, true
}

// Move is a captain's ban or pick.
type Move struct {
	// Number is the number of the turn that the captain sees. What is the server's address, or the
	// map. To the server that was decided it is the address for an objection, [wire.AskDelay] or
	// [wire.Accept].
	Number int    `json:"number"`
	What   string `json:"what"`
}

func (a Move) do(r *Room, by caller) error {
	switch {
	case by.IsSomebody():
	case by.IsOrganiser: // who may decide without a place
		by.ID = r.facts.Organiser()
	default:
		return errNickname
	}
	return r.phase.move(r, by, a)
}

// errCaptainsDecide refuses an action that would decide in the captains' place.
var errCaptainsDecide = wire.Refuse(wire.ReasonAction, "refused.captains-decide")
