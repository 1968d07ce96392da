package room

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/decision"
	"muster/host/room/nickname"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/selection"
)

// AwaitSeats asks the room to wait until there are seats for everybody on a server or, without
// an address, on one of the best that are full. After a launch, Names are the players
// who are still outside.
type AwaitSeats struct {
	Addr  netip.AddrPort `json:"addr,omitzero"`
	Names []string       `json:"names,omitempty"`
}

// Unwait ends a wait for seats. Instead goes on with servers that have seats.
type Unwait struct {
	Instead bool `json:"instead,omitempty"`
}

func (AwaitSeats) steers() {}
func (Unwait) steers()     {}

var (
	errNothingFull = errors.New("there is no full server that would suit everyone")
	errNotWaiting  = errors.New("nobody waits for seats now")
	errNoInstead   = errors.New("no other server has seats for everyone, as far as is known")
)

// notWaiting is what people read when the organiser ends a wait.
const notWaiting = "The organiser does not wait any longer."

func (a AwaitSeats) do(r *Room, _ caller) error {
	if launching, is := r.phase.(*Launching); is {
		return a.outside(r, launching)
	}
	if !r.mayDecideAgain() {
		return errNoAdvice
	}
	full := decision.WorthWaiting(&r.group)
	if a.Addr.IsValid() {
		full = slices.DeleteFunc(decision.Suitable(&r.group), func(ranked selection.Ranked) bool { return ranked.Addr != a.Addr })
	}
	if !r.awaitSeats(full) {
		return errNothingFull
	}
	return nil
}

// outside waits for seats for those who are left outside where the others are.
func (a AwaitSeats) outside(r *Room, l *Launching) error {
	g := &r.group
	var outside []string
	for _, name := range a.Names {
		player := g.Attendance.Find(name)
		if player == "" {
			return fmt.Errorf("%s is not here", nickname.Clean(name))
		}
		if !slices.Contains(outside, player) {
			outside = append(outside, player)
		}
		g.Ballot.Withdraw(player, ballot.ByHand)
	}
	if len(outside) == 0 {
		return errors.New("say who is still outside")
	}
	ranked := selection.Ranked{Server: l.Server, Addr: g.Servers.List[l.Server].Addr}
	for _, other := range g.Choice.Newest().Ranking {
		if other.Server == l.Server {
			ranked = other
		}
	}
	(&Waiting{Back: l}).begin(r, seats.BeginOutside(outside, ranked, g.Servers, time.Duration(g.Settings.Wait), r.now))
	return nil
}

// awaitSeats waits for seats for all on one of some full servers, if there are any.
func (r *Room) awaitSeats(full []selection.Ranked) bool {
	if len(full) > 0 {
		g := &r.group
		others := g.Select(g.ChosenFor()).Ranking
		(&Waiting{}).begin(r, seats.Begin(full, others, g.Servers, time.Duration(g.Settings.Wait), r.now))
	}
	return len(full) > 0
}

func (a Unwait) do(r *Room, _ caller) error {
	w, waiting := r.phase.(*Waiting)
	failed, hasFailed := r.phase.(*Failed)
	switch {
	case !waiting && !(hasFailed && failed.waited != nil && a.Instead):
		return errNotWaiting
	case !a.Instead:
		w.giveUp(r, notWaiting)
		return nil
	case waiting && w.Back != nil:
		return errNoInstead
	}
	selected := r.group.Select(r.group.ChosenFor())
	if selected.Chosen == nil {
		return errNoInstead
	}
	r.note("the organiser does not wait for seats: choosing from what has some")
	r.decision.Forget() // what was seen of them is old
	r.failures = 0
	r.rechoose(selected)
	return nil
}

// Waiting watches a few full servers until one has seats for all.
type Waiting struct {
	// Back is the launch after which some were left outside, nil if all wait.
	Back  *Launching `json:"back,omitempty"`
	watch *seats.Watch
}

func (*Waiting) stage() wire.Stage { return wire.Waiting }

// begin begins the wait.
func (w *Waiting) begin(r *Room, watch *seats.Watch) {
	w.watch = watch
	r.group.Choice.Unsuppose()
	r.group.Ballot.Withdraw("", ballot.Ready)
	r.enter(w)
	r.note("%s", w.watch.Describe(decision.Seats(&r.group, w.watch)))
}

// Watches returns the servers that the room asks for seats, time and again; none if nobody is
// there to ask.
func (r *Room) Watches() (servers []netip.AddrPort) {
	if w, waits := r.phase.(*Waiting); waits {
		for _, server := range w.watch.Watches(decision.Seats(&r.group, w.watch)) {
			servers = append(servers, r.group.Servers.List[server].Addr)
		}
	}
	return servers
}

// share notes which rooms of the host watch each server.
func (w *Waiting) share(r *Room, rooms map[netip.AddrPort]Crowd) {
	crowds := map[int]Crowd{}
	for _, server := range w.watch.Servers() {
		crowds[server] = rooms[r.group.Servers.List[server].Addr]
	}
	w.watch.Share(crowds)
}

// proceed ends the wait for an organiser who does not want to wait.
func (w *Waiting) proceed(r *Room) {
	if (Unwait{Instead: true}).do(r, caller{}) != nil {
		w.giveUp(r, notWaiting)
	}
}

// tick lets time pass.
func (w *Waiting) tick(r *Room) {
	if w.goOnWithout(r); r.phase == w {
		w.do(r, w.watch.Tick(decision.Seats(&r.group, w.watch), r.now)...)
	}
}

// next returns when tick has something to do.
func (w *Waiting) next(r *Room) time.Time {
	next := w.watch.Next(decision.Seats(&r.group, w.watch))
	if !w.watch.IsGoing() && len(w.inside(r)) > 0 {
		return r.now
	}
	if w.Back != nil {
		return next
	}
	players, attendance := r.group.ChosenFor(), &r.group.Attendance
	gone := attendance.NextGone(players)
	if isHere := func(name string) bool { return attendance.Of(name).Here }; !gone.IsZero() && slices.ContainsFunc(players, isHere) {
		next = earlier(next, gone) // else nobody goes on without anybody
	}
	return next
}

// goOnWithout keeps no seat for people who have been away for long, or are in by now.
func (w *Waiting) goOnWithout(r *Room) {
	if w.watch.Enter(w.inside(r)) {
		r.note("nobody is left outside: the wait for seats is over")
		r.enter(w.Back)
		return
	}
	if w.watch.IsGoing() || w.Back != nil {
		return
	}
	g, players := &r.group, r.group.ChosenFor()
	away := g.Attendance.Away(players, attendance.GoneAfter, r.now)
	if len(away) == 0 || len(away) == len(players) {
		return // nobody is there to go on
	}
	g.Attendance.LeaveOut(attendance.Left, away...)
	r.note("%s Now %s would do.", attendance.Sentence(away, "left"), seats.InWords(g.SeatsFor(g.ChosenFor())))
}

// inside returns the players that the wait was for and that need no seat any more.
func (w *Waiting) inside(r *Room) (inside []string) {
	for _, name := range w.watch.Outside() {
		if r.group.Evidence[name] == nil || r.group.Ballot.Paper(name).ByHand {
			inside = append(inside, name)
		}
	}
	return inside
}

// comesBack counts a player again that the wait went on without.
func (w *Waiting) comesBack(r *Room, player string) {
	g := &r.group
	if out := g.Attendance.Of(player).Out; out != "" && out != attendance.Odd && slices.Contains(g.Choice.Newest().Players, player) {
		g.Attendance.Recall(player, r.now)
	}
}

// catchUp tells a player who comes what is asked of them.
func (w *Waiting) catchUp(r *Room, player string) {
	w.comesBack(r, player)
	r.brief(player)
	if r.group.Attendance.Of(player).Out == "" && w.watch.Asks(player) {
		r.sendLooks(r.decision.LookOf(&r.group, player, r.passed(), r.now))
	}
}

// heard takes what a player saw.
func (w *Waiting) heard(r *Room, player string, v wire.Verified) {
	w.do(r, w.watch.Heard(player, v.Servers, decision.Seats(&r.group, w.watch), r.now)...)
}

// do does what the watch wants.
func (w *Waiting) do(r *Room, events ...seats.Event) {
	g := &r.group
	for _, e := range events {
		switch e := e.(type) {
		case seats.Ask:
			r.sendLooks(r.decision.Glance(g, &r.probing, e.Servers, e.By, r.passed(), r.now))
		case seats.Open:
			r.binds = true
			r.note("%s", e.News)
			seats := wire.Announcement{Kind: wire.AnnouncedSeats, Server: g.Announced(e.Server), Seats: e.Free}
			r.follow(r.calendar.Announce(seats, r.facts(r.now))...)
			asks := r.decision.Glance(g, &r.probing, []int{e.Server}, "", r.passed(), r.now)
			r.do(Publish{})
			r.sendLooks(asks)
		case seats.Filled:
			r.decision.Concede(g, r.lookFacts())
			r.binds = true
			r.note("%s; waiting on", e.News)
		case seats.Go:
			r.decision.Concede(g, r.lookFacts())
			r.binds = true
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
		r.note("%s has seats, but %s", r.group.Servers.Called(e.Server), why)
		w.do(r, w.watch.Drop(e.Server, why, decision.Seats(&r.group, w.watch))...)
		return
	}
	r.launch(e.Server)
}

// relaunch sends those who were left outside where the others are.
func (w *Waiting) relaunch(r *Room) {
	l, outside := w.Back, w.watch.Outside()
	r.enter(l)
	r.note("there is room now for %s: off to %s", strings.Join(outside, ", "), l.Launch.Name)
	r.do(Publish{})
	for _, player := range r.group.Attendance.Players() {
		if slices.Contains(outside, player) {
			r.group.Launches.Restart(player)
			r.group.Launches.Again(r.now, player)
			r.launchTo(player, l)
		}
	}
}

// giveUp ends the wait without a seat.
func (w *Waiting) giveUp(r *Room, why string) {
	w.over(r, w.watch.GiveUp(why, decision.Seats(&r.group, w.watch)))
}

// over goes back to the launch, or fails.
func (w *Waiting) over(r *Room, e seats.Over) {
	if w.Back != nil {
		r.enter(w.Back)
		r.note("%s", e.Text)
		return
	}
	r.fail(false, "%s", e.Text)
	r.phase.(*Failed).waited = w.watch
}

// waiting returns the wait that goes on, or that the room has just given up; nil without one.
func (r *Room) waiting() *Waiting {
	switch phase := r.phase.(type) {
	case *Waiting:
		return phase
	case *Failed:
		if phase.waited != nil {
			return &Waiting{watch: phase.waited}
		}
	}
	return nil
}

// view returns what everyone sees of it.
func (w *Waiting) view(r *Room) *wire.Seats {
	cards := map[int]wire.ServerCard{}
	for _, server := range w.watch.Servers() {
		cards[server] = r.group.Card(server)
	}
	return w.watch.View(r.group.SeatsFor(r.group.ChosenFor()), cards)
}

// resume goes on after the host was away.
func (w *Waiting) resume(r *Room) {
	w.watch.Resume(r.now)
	r.decision.Resume()
}

// restoreWait gives a phase the wait that was saved with it.
func restoreWait(phase phase, s seats.Saved, listed int) error {
	if s.Began.IsZero() {
		return nil
	}
	watch, err := seats.Restore(s, listed)
	switch phase := phase.(type) {
	case *Waiting:
		phase.watch = watch
	case *Failed:
		phase.waited = watch
	}
	return err
}

// isWhole reports whether a saved wait has what it needs.
func (w *Waiting) isWhole(r *Room) bool {
	l, g := w.Back, &r.group
	return w.watch != nil && g.Choice.Newest() != nil && (l != nil) == (len(w.watch.Outside()) > 0) &&
		(l == nil || l.Server >= 0 && l.Server < len(g.Servers.List) && g.Choice.Newest().Chosen != nil)
}
