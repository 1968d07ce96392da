package room

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/seats"
	"muster/host/room/waiting"
	"muster/host/wire"
	"muster/selection"
)

// Waiting watches a few full servers until one has seats for everyone.
type Waiting struct {
	base
	// Back is the launch after which some players found no seat. It is nil if the whole group
	// waits.
	Back *Launching `json:"back,omitempty"`
	// Wait is the wait itself.
	Wait *waiting.Wait `json:"wait"`
}

func (w *Waiting) traits() traits {
	return traits{name: wire.PhaseWaiting, isSent: w.Back != nil}
}

func (w *Waiting) next(r *Room) (at roomtime.Time, isQuiet bool) {
	return w.Wait.Next(r.facts, r.now), true
}

func (w *Waiting) resume(r *Room) {
	w.Wait.Resume(r.now)
	r.decision.Looks.Resume()
}

func (w *Waiting) unwait(r *Room, u Unwait) error {
	switch {
	case !u.Instead:
		w.endWait(r, w.Wait.GiveUp(r.facts, notWaiting))
		return nil
	case w.Back != nil:
		return errNoInstead
	}
	return u.goInstead(r)
}

func (w *Waiting) expectsLook(player people.ID, look wire.Verified) bool {
	return w.Wait.Asks(player) && !look.More
}

func (w *Waiting) lookCame(r *Room, player people.ID, look wire.Verified, heard finals.Heard) {
	if heard.Counts {
		w.carryOut(r, w.Wait.Hear(r.facts, player, look, r.now)...)
	}
}

func (w *Waiting) shareDemand(r *Room, demand map[netip.AddrPort]Demand) {
	w.Wait.Share(r.facts, demand, time.Duration(r.wall.UnixNano())-time.Duration(r.now))
}

func (w *Waiting) watches(r *Room) []netip.AddrPort { return w.Wait.Watches(r.facts) }

func (w *Waiting) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	s.Seats = w.Wait.View(r.facts, r.clocks())
}

func (w *Waiting) begin(r *Room) {
	r.parts.Choice.ClearWhatIf()
	r.parts.Ballot.Withdraw("", ballot.Ready)
	r.enter(w)
	r.out.say(w.Wait.Describe(r.facts))
}

// proceed ends the wait for an organiser who does not want to wait.
func (w *Waiting) proceed(r *Room) error {
	if w.unwait(r, Unwait{Instead: true}) != nil {
		w.endWait(r, w.Wait.GiveUp(r.facts, notWaiting))
	}
	return nil
}

// tick stops waiting for people who are gone, and carries out the events of the wait.
func (w *Waiting) tick(r *Room) {
	left, note, isOver := w.Wait.GoOnWithout(r.facts, r.now)
	r.parts.Attendance.LeaveOut(attendance.Left, left...)
	if r.out.say(note); isOver {
		r.enter(w.Back)
		return
	}
	w.carryOut(r, w.Wait.Tick(r.facts, r.now)...)
}

func (w *Waiting) joined(r *Room, player people.ID) {
	if w.Wait.CanReadmit(r.facts, player) {
		r.parts.Attendance.Recall(player, r.now)
	}
	r.out.brief(&r.parts, player)
	if r.parts.Attendance.Of(player).Out == "" && w.Wait.Asks(player) {
		r.sendLooks(r.decision.LookOf(r.facts, player, r.passed(), r.now))
	}
}

func (w *Waiting) carryOut(r *Room, events ...seats.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case seats.Ask:
			r.sendLooks(r.decision.QuickCheck(r.facts, &r.probing, e.Servers, e.By, r.passed(), r.now))
		case seats.Open:
			r.out.mustSave = true
			r.out.say(e.News)
			seats := wire.Announcement{Kind: wire.AnnouncedSeats, Server: r.facts.Announced(e.Server), Seats: e.Free}
			r.follow(r.calendar.Announce(seats, r.dates(r.wall))...)
			r.sendLooks(r.decision.QuickCheck(r.facts, &r.probing, []int{e.Server}, "", r.passed(), r.now))
		case seats.Filled:
			r.acceptMisses()
			r.out.mustSave = true
			r.out.say(e.News)
		case seats.Go:
			r.acceptMisses()
			r.out.mustSave = true
			w.goThere(r, e)
		case seats.Over:
			w.endWait(r, e)
		}
	}
}

// goThere sends everyone to a server with free seats, if the server still suits everyone.
func (w *Waiting) goThere(r *Room, e seats.Go) {
	if w.Back != nil {
		w.relaunch(r)
		return
	}
	r.parts.Heard.Keep(e.Server, e.HeardBy) // only the last look at its seats counts
	if why, suits := r.decision.ChooseServer(r.facts, e.Server); !suits {
		r.out.say(sentence.Of("room.seats-useless", "server", r.parts.Servers.Called(e.Server), "why", why))
		w.carryOut(r, w.Wait.Drop(r.facts, e.Server, why)...)
		return
	}
	r.goThere(e.Server)
}

// relaunch sends the players without a seat to the server where the others are.
func (w *Waiting) relaunch(r *Room) {
	l, outside := w.Back, w.Wait.Outside()
	r.enter(l)
	r.out.say(sentence.Of("room.seats-outside", "players", people.Texts(outside), "server", l.Launch.Name))
	for _, player := range r.parts.Attendance.Players() {
		if slices.Contains(outside, player) {
			r.parts.Launches.Restart(player)
			r.parts.Launches.Again(r.now, player)
			l.sendThere(r, player)
		}
	}
}

// endWait ends the wait: the room goes back to the launch, or fails.
func (w *Waiting) endWait(r *Room, e seats.Over) {
	if w.Back != nil {
		r.enter(w.Back)
		r.out.say(e.Why)
		return
	}
	r.fail(false, e.Why).Wait = w.Wait
}

// isValid reports whether a saved wait has what it needs.
func (w *Waiting) isValid(g *facts.Parts) bool {
	l := w.Back
	return w.Wait.IsValid(len(g.Servers.List)) && g.Choice.Newest() != nil && (l != nil) == (len(w.Wait.Outside()) > 0) &&
		(l == nil || l.Server >= 0 && l.Server < len(g.Servers.List) && g.Choice.Newest().Chosen != nil)
}

// AwaitSeats makes the room wait for seats for everybody: on the server with the address or,
// without one, on any of the best full servers. After a launch, Names are the players who found no
// seat.
type AwaitSeats struct {
	Addr  hostport.AddrPort `json:"addr,omitzero"`
	Names []string          `json:"names,omitempty"`
}

// Unwait ends a wait for seats. With Instead the group then takes a server that has seats.
type Unwait struct {
	Instead bool `json:"instead,omitempty"`
}

func (AwaitSeats) steers() {}
func (Unwait) steers()     {}

var (
	errNothingFull = wire.Refuse(wire.ReasonAction, "refused.nothing-full")
	errNotWaiting  = wire.Refuse(wire.ReasonAction, "refused.not-waiting")
	errNoInstead   = wire.Refuse(wire.ReasonAction, "refused.no-instead")
)

// notWaiting tells people that the organiser ends a wait.
var notWaiting = sentence.Of("seats.not-waiting")

func (a AwaitSeats) do(r *Room, _ caller) error { return r.phase.awaitSeats(r, a) }

// beginWait begins a wait although there is a choice, or none suits.
func (a AwaitSeats) beginWait(r *Room) error {
	if !r.canDecideAgain() {
		return errNoAdvice
	}
	full := decision.WorthWaiting(r.facts)
	if a.Addr.IsValid() {
		full = slices.DeleteFunc(decision.Suitable(r.facts), func(ranked selection.Ranked) bool { return ranked.Addr != a.Addr })
	}
	if len(full) == 0 {
		return errNothingFull
	}
	(&Waiting{Wait: waiting.Begin(r.facts, full, r.now)}).begin(r)
	return nil
}

func (a Unwait) do(r *Room, _ caller) error { return r.phase.unwait(r, a) }

// goInstead chooses among the servers that have seats.
func (Unwait) goInstead(r *Room) error {
	selected := r.facts.Select(r.facts.ChosenFor())
	if selected.Chosen == nil {
		return errNoInstead
	}
	r.out.say(sentence.Of("room.seats-instead"))
	r.decision.Looks.Forget() // the looks are old
	r.failures = 0
	r.rechoose(selected)
	return nil
}

// Watches returns the servers that the room keeps asking for seats; none if nobody is there to ask.
func (r *Room) Watches() []netip.AddrPort { return r.phase.watches(r) }
