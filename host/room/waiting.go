package room

import (
	"net/netip"
	"slices"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/group"
	"muster/host/room/seats"
	"muster/host/room/waiting"
	"muster/host/wire"
	"muster/selection"
)

// AwaitSeats asks the room to wait until there are seats for everybody on a server or, without
// an address, on one of the best that are full. After a launch, Names are the players
// who are still outside.
type AwaitSeats struct {
	Addr  hostport.AddrPort `json:"addr,omitzero"`
	Names []string          `json:"names,omitempty"`
}

// Unwait ends a wait for seats. Instead goes on with servers that have seats.
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

func (a AwaitSeats) do(r *Room, _ caller) error {
	if l, launching := r.phase.(*Launching); launching {
		wait, err := waiting.BeginOutside(&r.group, a.Names, l.Server, r.now)
		if err != nil {
			return err
		}
		(&Waiting{Back: l, wait: wait}).begin(r)
		return nil
	}
	if !mayDecideAgain(r.phase, &r.group) {
		return errNoAdvice
	}
	full := decision.WorthWaiting(&r.group)
	if a.Addr.IsValid() {
		full = slices.DeleteFunc(decision.Suitable(&r.group), func(ranked selection.Ranked) bool { return ranked.Addr != a.Addr })
	}
	if len(full) == 0 {
		return errNothingFull
	}
	(&Waiting{wait: waiting.Begin(&r.group, full, r.now)}).begin(r)
	return nil
}

func (a Unwait) do(r *Room, _ caller) error {
	w, isWaiting := r.phase.(*Waiting)
	failed, hasFailed := r.phase.(*Failed)
	switch {
	case !isWaiting && !(hasFailed && failed.waited != nil && a.Instead):
		return errNotWaiting
	case !a.Instead:
		w.over(r, w.wait.GiveUp(&r.group, notWaiting))
		return nil
	case isWaiting && w.Back != nil:
		return errNoInstead
	}
	selected := r.group.Select(r.group.ChosenFor())
	if selected.Chosen == nil {
		return errNoInstead
	}
	r.out.says(sentence.Of("room.seats-instead"))
	r.decision.Forget() // the looks are old
	r.failures = 0
	r.rechoose(selected)
	return nil
}

// Waiting watches a few full servers until one has seats for all.
type Waiting struct {
	// Back is the launch after which some were left outside, nil if all wait.
	Back *Launching `json:"back,omitempty"`
	wait *waiting.Wait
}

func (*Waiting) stage() wire.Stage { return wire.Waiting }

// begin begins the wait.
func (w *Waiting) begin(r *Room) {
	r.group.Choice.Unsuppose()
	r.group.Ballot.Withdraw("", ballot.Ready)
	r.enter(w)
	r.out.says(w.wait.Describe(&r.group))
}

// Watches returns the servers that the room asks for seats, time and again; none if nobody is
// there to ask.
func (r *Room) Watches() []netip.AddrPort {
	if w, isWaiting := r.phase.(*Waiting); isWaiting {
		return w.wait.Watches(&r.group)
	}
	return nil
}

// proceed ends the wait for an organiser who does not want to wait.
func (w *Waiting) proceed(r *Room) error {
	if (Unwait{Instead: true}).do(r, caller{}) != nil {
		w.over(r, w.wait.GiveUp(&r.group, notWaiting))
	}
	return nil
}

// tick lets time pass.
func (w *Waiting) tick(r *Room) {
	note, isOver := w.wait.GoOnWithout(&r.group, r.now)
	if r.out.says(note); isOver {
		r.enter(w.Back)
		return
	}
	w.do(r, w.wait.Tick(&r.group, r.now)...)
}

// catchUp brings a player who comes up to date.
func (w *Waiting) catchUp(r *Room, player string) {
	w.wait.Readmit(&r.group, player, r.now)
	r.out.brief(&r.group, player)
	if r.group.Attendance.Of(player).Out == "" && w.wait.Asks(player) {
		r.sendLooks(r.decision.LookOf(&r.group, player, r.passed(), r.now))
	}
}

// do carries out the events of the wait.
func (w *Waiting) do(r *Room, events ...seats.Event) {
	g := &r.group
	for _, e := range events {
		switch e := e.(type) {
		case seats.Ask:
			r.sendLooks(r.decision.Glance(g, &r.probing, e.Servers, e.By, r.passed(), r.now))
		case seats.Open:
			r.out.binds = true
			r.out.says(e.News)
			seats := wire.Announcement{Kind: wire.AnnouncedSeats, Server: g.Announced(e.Server), Seats: e.Free}
			r.follow(r.calendar.Announce(seats, r.facts(r.wall))...)
			r.sendLooks(r.decision.Glance(g, &r.probing, []int{e.Server}, "", r.passed(), r.now))
		case seats.Filled:
			r.decision.Concede(g, r.lookFacts())
			r.out.binds = true
			r.out.says(e.News)
		case seats.Go:
			r.decision.Concede(g, r.lookFacts())
			r.out.binds = true
			w.goThere(r, e)
		case seats.Over:
			w.over(r, e)
		}
	}
}

// goThere sends everyone to a server that has seats, unless it suits them no more.
func (w *Waiting) goThere(r *Room, e seats.Go) {
	if w.Back != nil {
		w.relaunch(r)
		return
	}
	if why, suits := decision.Stay(&r.group, e.Server, e.HeardBy); !suits {
		r.out.says(sentence.Of("room.seats-useless", "server", r.group.Servers.Called(e.Server), "why", why))
		w.do(r, w.wait.Drop(&r.group, e.Server, why)...)
		return
	}
	(&Launching{Server: e.Server}).begin(r)
}

// relaunch sends those who were left outside where the others are.
func (w *Waiting) relaunch(r *Room) {
	l, outside := w.Back, w.wait.Outside()
	r.enter(l)
	r.out.says(sentence.Of("room.seats-outside", "players", outside, "server", l.Launch.Name))
	for _, player := range r.group.Attendance.Players() {
		if slices.Contains(outside, player) {
			r.group.Launches.Restart(player)
			r.group.Launches.Again(r.now, player)
			l.take(r, player)
		}
	}
}

// over goes back to the launch, or fails.
func (w *Waiting) over(r *Room, e seats.Over) {
	if w.Back != nil {
		r.enter(w.Back)
		r.out.says(e.Why)
		return
	}
	r.fail(false, e.Why)
	r.phase.(*Failed).waited = w.wait
}

// waitOf returns the wait that goes on in a phase, or that the room has just given up; nil without
// one.
func waitOf(p phase) *waiting.Wait {
	switch p := p.(type) {
	case *Waiting:
		return p.wait
	case *Failed:
		return p.waited
	}
	return nil
}

// isWhole reports whether a saved wait has what it needs.
func (w *Waiting) isWhole(g *group.Group) bool {
	l := w.Back
	return w.wait != nil && g.Choice.Newest() != nil && (l != nil) == (len(w.wait.Outside()) > 0) &&
		(l == nil || l.Server >= 0 && l.Server < len(g.Servers.List) && g.Choice.Newest().Chosen != nil)
}
