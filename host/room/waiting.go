package room

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/finals"
	"muster/host/room/nickname"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/selection"
)

// AwaitSeats asks the room to wait until there are seats for everybody on a server or, without
// an address, on one of the best that are full. After a launch the seats are for those whose
// names are given, who are still outside.
type AwaitSeats struct {
	Addr  netip.AddrPort `json:"addr,omitzero"`
	Names []string       `json:"names,omitempty"`
}

// Unwait ends a wait for seats. Instead goes on with what has seats.
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
	full := r.worthWaiting()
	if a.Addr.IsValid() {
		suitable := seats.Suitable(r.basisFor(r.round.chosenFor()))
		full = slices.DeleteFunc(suitable, func(ranked selection.Ranked) bool { return ranked.Addr != a.Addr })
	}
	if !r.awaitSeats(full) {
		return errNothingFull
	}
	return nil
}

// outside waits for seats for those who are left outside where the others are.
func (a AwaitSeats) outside(r *Room, l *Launching) error {
	var outside []string
	for _, name := range a.Names {
		p := r.round.player(name)
		if p == nil {
			return fmt.Errorf("%s is not here", nickname.Clean(name))
		}
		if !slices.Contains(outside, p.name) {
			outside = append(outside, p.name)
		}
		r.round.ballot.Withdraw(p.name, ballot.ByHand)
	}
	if len(outside) == 0 {
		return errors.New("say who is still outside")
	}
	ranked := selection.Ranked{Server: l.Server, Addr: r.round.servers.List[l.Server].Addr}
	for _, other := range r.round.choice.Newest().Ranking {
		if other.Server == l.Server {
			ranked = other
		}
	}
	(&Waiting{Back: l}).begin(r, seats.BeginOutside(outside, ranked, r.round.servers, time.Duration(r.settings.Wait), r.now))
	return nil
}

// worthWaiting returns the full servers that are worth a wait, best first.
func (r *Room) worthWaiting() []selection.Ranked {
	return seats.Worth(seats.Suitable(r.basisFor(r.round.chosenFor())), r.round.servers, r.seatsFor(r.round.chosenFor()))
}

// waitable is how many servers are worth a wait, and the best of them; it is reckoned once a
// choice, as all who look at the room are told.
type waitable struct {
	of      *selection.Selection
	servers []selection.Ranked
	need    int
}

// adviseWait says that the room can wait for seats, if it can.
func (r *Room) adviseWait() []wire.Advice {
	if !r.mayDecideAgain() {
		return nil
	}
	if newest := r.round.choice.Newest(); r.round.waitable.of != newest {
		r.round.waitable = waitable{newest, r.worthWaiting(), r.seatsFor(r.round.chosenFor())}
	}
	full := r.round.waitable.servers
	if len(full) == 0 {
		return nil
	}
	addr, text := full[0].Addr.String(), "wait for "+seats.InWords(r.round.waitable.need)
	if info := r.round.servers.Info(full[0].Server); r.isVoting() && info != nil {
		text += " on " + cmp.Or(info.Name, addr)
	}
	return []wire.Advice{{Text: text, Action: "await", Servers: len(full), Addr: addr}}
}

// awaitSeats waits for seats for all on one of some full servers, if there are any.
func (r *Room) awaitSeats(full []selection.Ranked) bool {
	if len(full) > 0 {
		others := r.selectFor(r.round.chosenFor()).Ranking
		(&Waiting{}).begin(r, seats.Begin(full, others, r.round.servers, time.Duration(r.settings.Wait), r.now))
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
	selected := r.selectFor(r.round.chosenFor())
	if selected.Chosen == nil {
		return errNoInstead
	}
	r.note("the organiser does not wait for seats: choosing from what has some")
	r.round.looks.Forget() // what was seen of them is old
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
	r.round.choice.Unsuppose()
	r.round.ballot.Withdraw("", ballot.Ready)
	r.enter(w)
	r.note("%s", w.watch.Describe(w.facts(r)))
}

// facts returns what the watch has to know of the room.
func (w *Waiting) facts(r *Room) seats.Facts {
	present := r.round.present()
	f := seats.Facts{Need: w.watch.Need(r.seatsFor(r.round.chosenFor())), Present: len(present), Servers: map[int]seats.Fact{}}
	for _, server := range w.watch.Servers() {
		f.Servers[server] = seats.Fact{Name: r.round.servers.Called(server), Lookers: names(filtered(present, func(p *player) bool {
			return r.round.trust.IsHeeded(p.name) && !r.round.nearby.IsHidden(p.name, server) && p.witness.CanShow(server)
		}))}
	}
	return f
}

// Watches returns the servers that the room asks for seats, time and again; none if nobody is
// there to ask.
func (r *Room) Watches() (servers []netip.AddrPort) {
	if w, waits := r.phase.(*Waiting); waits {
		for _, server := range w.watch.Watches(w.facts(r)) {
			servers = append(servers, r.round.servers.List[server].Addr)
		}
	}
	return servers
}

// share takes in which rooms of the host watch each server.
func (w *Waiting) share(r *Room, rooms map[netip.AddrPort]Crowd) {
	crowds := map[int]Crowd{}
	for _, server := range w.watch.Servers() {
		crowds[server] = rooms[r.round.servers.List[server].Addr]
	}
	w.watch.Share(crowds)
}

// proceed is the organiser, who does not wait.
func (w *Waiting) proceed(r *Room) {
	if (Unwait{Instead: true}).do(r, caller{}) != nil {
		w.giveUp(r, notWaiting)
	}
}

// tick lets time pass.
func (w *Waiting) tick(r *Room) {
	if w.goOnWithout(r); r.phase == w {
		w.do(r, w.watch.Tick(w.facts(r), r.now)...)
	}
}

// next returns when tick has something to do.
func (w *Waiting) next(r *Room) time.Time {
	next := w.watch.Next(w.facts(r))
	if !w.watch.IsGoing() && len(w.inside(r)) > 0 {
		return r.now
	}
	if w.Back != nil {
		return next
	}
	group := names(r.round.chosenFor())
	gone := r.round.attendance.NextGone(group)
	if isHere := func(name string) bool { return r.round.attendance.Of(name).Here }; !gone.IsZero() && slices.ContainsFunc(group, isHere) {
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
	group := names(r.round.chosenFor())
	away := r.round.attendance.Away(group, attendance.GoneAfter, r.now)
	if len(away) == 0 || len(away) == len(group) {
		return // nobody is there to go on
	}
	r.round.attendance.LeaveOut(attendance.Left, away...)
	r.note("%s Now %s would do.", attendance.Sentence(away, "left"), seats.InWords(r.seatsFor(r.round.chosenFor())))
}

// inside returns those of the players outside for whom nobody need wait any more.
func (w *Waiting) inside(r *Room) (inside []string) {
	for _, name := range w.watch.Outside() {
		if r.round.player(name) == nil || r.round.ballot.Paper(name).ByHand {
			inside = append(inside, name)
		}
	}
	return inside
}

// comesBack counts a player again for whom the room waits no longer.
func (w *Waiting) comesBack(r *Room, p *player) {
	if out := r.round.mark(p).Out; out != "" && out != attendance.Odd && slices.Contains(r.round.choice.Newest().Players, p.name) {
		r.round.attendance.Recall(p.name, r.now)
	}
}

// catchUp tells a player who comes what is asked of them.
func (w *Waiting) catchUp(r *Room, p *player) {
	w.comesBack(r, p)
	r.send(p, r.round.listFor(p)) // without it a program neither looks nor believes us
	if r.round.mark(p).Out == "" && w.watch.Asks(p.name) {
		if ask, isAsked := r.round.looks.Ask(p.name, r.lookFacts()); isAsked {
			r.sendLooks([]finals.Ask{ask})
		}
	}
}

// heard takes what a player saw.
func (w *Waiting) heard(r *Room, p *player, v wire.Verified) {
	w.do(r, w.watch.Heard(p.name, v.Servers, w.facts(r), r.now)...)
}

// do does what the watch wants.
func (w *Waiting) do(r *Room, events ...seats.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case seats.Ask:
			r.sendLooks(r.round.looks.Glance(e.Servers, e.By, r.round.searched(), r.lookFacts()))
		case seats.Open:
			r.binds = true
			r.note("%s", e.News)
			seats := wire.Announcement{Kind: wire.AnnouncedSeats, Server: r.round.announced(e.Server), Seats: e.Free}
			r.follow(r.calendar.Announce(seats, r.facts(r.now))...)
			asks := r.round.looks.Glance([]int{e.Server}, "", r.round.searched(), r.lookFacts())
			r.do(Publish{})
			r.sendLooks(asks)
		case seats.Filled:
			r.round.lose(r.round.looks.Concede(r.lookFacts()))
			r.binds = true
			r.note("%s; waiting on", e.News)
		case seats.Go:
			r.round.lose(r.round.looks.Concede(r.lookFacts()))
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
	// Only those words count on its seats that are new.
	r.round.inform(e.Server, r.round.hearsay.Keep(e.Server, e.HeardBy))
	group := r.round.chosenFor()
	if !r.round.choice.Go(e.Server, r.seatsFor(group), r.basisFor(group)) {
		why := "it suits you no more"
		if cause := r.against(e.Server, group); cause != nil {
			why = fmt.Sprintf("it turned out to be %s", *cause)
		}
		r.note("%s has seats, but %s", r.round.servers.Called(e.Server), why)
		w.do(r, w.watch.Drop(e.Server, why, w.facts(r))...)
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
	for _, p := range filtered(r.round.players, func(p *player) bool { return slices.Contains(outside, p.name) }) {
		r.round.launches.Restart(p.name)
		r.round.launches.Again(r.now, p.name)
		r.send(p, l.launchFor(r, p))
	}
}

// giveUp ends the wait without a seat.
func (w *Waiting) giveUp(r *Room, why string) { w.over(r, w.watch.GiveUp(why, w.facts(r))) }

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
		cards[server] = r.card(server)
	}
	return w.watch.View(r.seatsFor(r.round.chosenFor()), cards)
}

// resume goes on after the host was away.
func (w *Waiting) resume(r *Room) {
	w.watch.Resume(r.now)
	r.round.looks.Resume()
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
	l := w.Back
	return w.watch != nil && r.round.choice.Newest() != nil && (l != nil) == (len(w.watch.Outside()) > 0) &&
		(l == nil || l.Server >= 0 && l.Server < len(r.round.servers.List) && r.round.choice.Newest().Chosen != nil)
}
