package room

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/outage"
	"muster/host/room/probing"
	"muster/host/room/search"
	"muster/host/room/seats"
	"muster/host/wire"
)

// Input is something that happened to a room.
type Input interface{ step(r *Room) error }

// The inputs, beside [Join], [Listed] and [Order].
type (
	// Tick lets time pass. Crowds are the rooms of the host that wait for seats, this one too,
	// by the servers that it watches; see [Room.Watches]. Mute are the players whose programs
	// are connected, but have not even answered a ping for [QuietAfter].
	Tick struct {
		Crowds map[netip.AddrPort]Crowd
		Mute   []string
	}
	// Leave says that a player's connection has ended. The place is kept.
	Leave struct{ Player string }
	// Hear is what a player's program says. The error of its Step means that the
	// program makes no sense; nothing of the message was taken then.
	Hear struct {
		Player  string
		Message wire.Message
	}
	// Proceed is the organiser's go: start with who is here, choose from what
	// there is, or begin the next round. While the list is fetched or the finalists
	// are looked at it changes nothing: both are short.
	Proceed struct{}
	// Resume says that the host was away and has the room again. All waits
	// start over, and nobody is blamed for the time between.
	Resume struct{}
	// Stir says that a player's program is saying something that has not come whole
	// yet: its line is slow, and not silent.
	Stir struct{ Player string }
	// Stored says what keeps the host from saving the room, in people's words, or that
	// nothing does any more.
	Stored struct{ Trouble string }
	// Waited says that the host could save nothing for a time. The room stood still.
	Waited struct{ For time.Duration }
	// Turn is the processor time that a [Plan] asked for.
	Turn struct{}
	// Close ends the room for good, and sends everybody away.
	Close struct{}
)

// QuietAfter is that of [attendance.QuietAfter].
const QuietAfter = attendance.QuietAfter

// Crowd is that of [seats.Crowd].
type Crowd = seats.Crowd

// Output is something to do for a room. The package documentation has the order.
type Output interface{ isOutput() }

// The outputs.
type (
	Save    struct{}
	Publish struct{}
	// Admit names the player whose hello was the input.
	Admit struct{ Player string }
	// Send goes to one player, or to all that are connected if To is empty.
	Send struct {
		To      string
		Message wire.Message
	}
	// Dismiss ends a player's connection with a refusal.
	Dismiss struct {
		Player string
		Why    wire.Refusal
	}
	// Renamed says that a player has another name from now on.
	Renamed struct{ From, To string }
	// Fetch gets the server list of a game, or of the organiser's own servers.
	Fetch struct {
		Game    string
		Servers []netip.AddrPort
		// Also are servers that people have brought, which belong on the list, too.
		Also []netip.AddrPort
	}
	// Plan asks for processor time to look for the next questions: that is nearly all
	// that a room ever needs. Since is when its round began to measure, and Background
	// says that nobody waits for it, as the choice is made. The room has no more than
	// one such wish at a time; the answer is a [Turn].
	Plan struct {
		Since      time.Time
		Background bool
	}
	// Answer is the JSON document that answers an order.
	Answer struct{ Document any }
)

func (Save) isOutput()    {}
func (Publish) isOutput() {}
func (Admit) isOutput()   {}
func (Send) isOutput()    {}
func (Dismiss) isOutput() {}
func (Renamed) isOutput() {}
func (Fetch) isOutput()   {}
func (Plan) isOutput()    {}
func (Answer) isOutput()  {}

// Step takes what happened at a time and returns what to do about it, in order. An error
// means that the input was refused, as [*wire.Refusal] or because it makes no sense. Do
// the outputs that come with an error all the same.
func (r *Room) Step(in Input, now time.Time) ([]Output, error) {
	r.stand(r.outage.Step(now, r.due, r.isDeserted()))
	r.now, r.out, r.binds = now, nil, false
	r.rightTimes()
	g := &r.group
	phase, round := r.phase, g.Number
	err := in.step(r)
	r.follow(r.calendar.Advance(r.facts(now))...)
	g.Weigh()
	if r.survey.Lacks(g.Choice.Newest()) {
		r.surveys(r.survey.Compare(g.Basis(g.ChosenFor()), g.SurveyScene()))
	}
	if _, tick := in.(Tick); !tick || len(r.out) > 0 {
		r.revision++
	}
	if r.binds || phase != r.phase || round != g.Number {
		r.out = slices.Insert(r.out, 0, Output(Save{}))
	}
	r.due = r.Next()
	return r.out, err
}

// Next is when the room needs the time again: a [Tick] before would change nothing but,
// in one that stands still, for how long it has. While a round goes on that is at once, and
// a few times a second is often enough.
func (r *Room) Next() time.Time {
	g := &r.group
	on, ends, isQuiet := r.outage.Next(r.scene())
	next := r.calendar.Next(r.facts(r.now))
	switch phase := r.phase.(type) {
	case *Gathering:
		if gone := g.Attendance.NextGone(g.Attendance.Players()); !gone.IsZero() && !on {
			next = earlier(next, gone)
		}
	case *Voting:
		isQuiet = isQuiet && g.Settings.Strategy != wire.Coordinated
		players := g.ChosenFor()
		if away, _ := g.Attendance.Absent(players, outage.LongestPause, r.now); len(away) > 0 && len(away) < len(players) {
			isQuiet = false
		}
		if closed := g.Roster.PageClosed(); !closed.IsZero() {
			next = earlier(next, closed.Add(attendance.LeftAfter))
		}
	case *Failed:
		if !phase.Retry.IsZero() && g.Attendance.Here() > 0 {
			next = earlier(next, phase.Retry)
		}
	case *Waiting:
		next = earlier(next, phase.next(r))
	case *Launching:
	default:
		isQuiet = isQuiet && on
	}
	if on {
		next = earlier(next, ends)
	}
	if !isQuiet || g.Nearby.IsLooking("") {
		return r.now
	}
	if gone := g.Roster.Next(r.awaited()); !gone.IsZero() {
		next = earlier(next, gone)
	}
	if next.Before(r.now) {
		return r.now
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (r *Room) do(o Output) { r.out = append(r.out, o) }

func (r *Room) send(player string, m wire.Message) { r.do(Send{player, m}) }

// ask sends players what their programs are asked to measure.
func (r *Room) ask(asks []search.Ask) {
	for _, ask := range asks {
		r.send(ask.Player, wire.Ask{Round: r.group.Number, Servers: ask.Servers})
	}
}

// moment returns what the measuring has to know of the room now.
func (r *Room) moment() probing.Moment { return probing.Moment{Now: r.now, IsVoting: r.isVoting()} }

// passed returns how long the phase has gone on.
func (r *Room) passed() time.Duration { return r.now.Sub(r.since) }

func (in Tick) step(r *Room) error {
	g := &r.group
	r.apply(g.Roster.Expire(r.awaited(), r.now))
	if r.outage.HasStopped() {
		in.Mute = nil // a host that was stopped has heard nobody, and cannot tell
	}
	g.Attendance.Mute(in.Mute)
	for _, player := range g.Attendance.Players() {
		if g.Nearby.Expire(player, r.now) {
			r.looked(player)
		}
	}
	r.follow(r.calendar.Tick(r.facts(r.now))...)
	if w, waits := r.phase.(*Waiting); waits {
		w.share(r, in.Crowds)
	}
	if r.passes(); !r.outage.IsPaused() {
		r.phase.tick(r)
		r.showLeaders() // while all stands still nobody comes nearer, and nobody needs the time
	}
	return nil
}

// passes pauses the room or lets it go on, at a tick.
func (r *Room) passes() {
	passed, isLost := r.outage.Tick(r.isDeserted())
	if isLost {
		r.stand(passed)
	}
	attendance := &r.group.Attendance
	quiet := attendance.Quiet(r.duty(), r.now)
	if !isLost && r.isMeasuring() {
		attendance.Miss(passed, quiet...)
	}
	note, isOver := r.outage.Weigh(r.scene())
	if r.tell(note); isOver {
		attendance.Await(r.now, quiet...)
	}
}

// scene returns who should be heard now, in numbers.
func (r *Room) scene() outage.Scene {
	_, gathering := r.phase.(*Gathering)
	attendance := &r.group.Attendance
	return outage.Scene{
		Players: len(attendance.Active()), Silent: len(attendance.Quiet(r.duty(), r.now)),
		IsGathering: gathering, IsDeserted: r.isDeserted(),
	}
}

// isDeserted reports whether no player whom the round counts on is there. A group that
// still gathers is not waited for as if it had measured.
func (r *Room) isDeserted() bool {
	_, gathering := r.phase.(*Gathering)
	return !gathering && len(r.group.Attendance.Present()) == 0
}

// duty returns what the phase expects of the players.
func (r *Room) duty() attendance.Duty {
	switch r.phase.(type) {
	case *Measuring, *Coordinating:
		return attendance.Measure
	case *Gathering, *Verifying, *Countdown:
		return attendance.Stay
	}
	return attendance.Nothing
}

// stand moves the beginnings of all limits: a time has not counted.
func (r *Room) stand(d time.Duration) {
	r.since = r.since.Add(d)
	r.group.Attendance.Shift(d)
	r.probing.Shift(d)
	switch phase := r.phase.(type) {
	case *Voting:
		phase.Looked = phase.Looked.Add(d)
	case *Waiting:
		phase.watch.Shift(d)
	case *Countdown:
		phase.Looked, phase.LaunchAt = phase.Looked.Add(d), phase.LaunchAt.Add(d)
	}
}

func (Proceed) step(r *Room) error {
	r.phase.proceed(r)
	return nil
}

func (in Leave) step(r *Room) error {
	g := &r.group
	if !g.Attendance.Leave(in.Player, r.now) {
		return nil
	}
	g.IsBroken = true
	g.Nearby.Leave(in.Player)
	r.probing.Release(in.Player)
	if _, launching := r.phase.(*Launching); !launching {
		r.note("lost the connection to %s", in.Player)
	}
	return nil
}

func (in Hear) step(r *Room) error {
	if r.group.Evidence[in.Player] == nil {
		return nonsensef("a message of somebody who is no member")
	}
	err := in.hear(r)
	if err != nil && r.group.Attendance.Nonsense(in.Player) {
		r.withoutLook(in.Player)
	}
	return err
}

func (in Hear) hear(r *Room) error {
	g := &r.group
	switch m := in.Message.(type) {
	case wire.Report:
		return in.report(r, m)
	case wire.Infos:
		return in.infos(r, m)
	case wire.Done:
		if measuring, ok := r.phase.(*Measuring); ok && m.Round == g.Number {
			measuring.finished(r, in.Player)
		}
		return nil
	case wire.Rests:
		if m.Round == g.Number && r.isMeasuring() {
			r.tell(g.Attendance.Rest(in.Player, time.Duration(m.For), r.now))
		}
		return nil
	case wire.Late:
		g.Evidence[in.Player].NoteLate(time.Duration(m.By))
		return nil
	case wire.Verified:
		return in.verified(r, m)
	case wire.Near:
		if g.Nearby.Hear(in.Player, m, r.now) {
			r.looked(in.Player)
		}
		return nil
	case wire.Bring:
		in.bring(r, m)
		return nil
	case wire.Surveyed:
		news, err := r.survey.Heard(in.Player, m, g.SurveyScene())
		if err != nil {
			return Nonsense(err.Error())
		}
		r.surveys(news)
		return nil
	case wire.Able:
		if note := g.Launches.Able(in.Player, m, g.Settings); g.Attendance.Of(in.Player).Here {
			r.tell(note)
		}
		return nil
	case wire.Outside:
		r.surveys(r.survey.Outside(in.Player, m.Port, g.SurveyScene(), r.now))
		return nil
	case wire.Say:
		in.say(r, m)
		return nil
	case wire.Launched:
		_, launching := r.phase.(*Launching)
		w, waits := r.phase.(*Waiting)
		if m.Round == g.Number && (launching || waits && w.Back != nil) {
			r.tell(g.Launches.Heard(in.Player, m, g.Settings.GameName()))
		}
		return nil
	}
	return nonsensef("a %T from a peer", in.Message)
}

// Nonsense says what is wrong with a message of a player's program. The host logs it, so
// its text has numbers and kinds in it, and nothing that a player wrote.
type Nonsense string

func (n Nonsense) Error() string { return "room: " + string(n) }

func nonsensef(format string, numbers ...any) error { return Nonsense(fmt.Sprintf(format, numbers...)) }

func (Resume) step(r *Room) error {
	if !r.calendar.IsAsleep() { // when nobody notices
		r.note("the host was restarted")
	}
	r.tell(r.source.Resume()...)
	r.outage.Resume()
	r.since = r.now
	r.group.Attendance.Resume(r.now)
	switch phase := r.phase.(type) {
	case *Listing:
		if !phase.Awaits {
			phase.fetch(r)
		}
	case *Voting, *Countdown: // an older host has numbered no candidates
		r.group.Ballot.Open(r.decision.Options(&r.group))
	case *Waiting:
		phase.resume(r)
	}
	return nil
}

func (in Stir) step(r *Room) error {
	r.group.Attendance.Excuse(r.now, in.Player)
	return nil
}

func (in Stored) step(r *Room) error {
	if in.Trouble == "" {
		r.note("the room is saved again")
	} else {
		r.note("the host cannot save the room, because %s: it goes on, and would not survive a restart; trying again", in.Trouble)
	}
	return nil
}

func (in Waited) step(r *Room) error {
	r.stand(r.outage.Idle(in.For))
	r.note("the host could keep nothing for %v: everything waited, and goes on now", in.For.Round(time.Second))
	return nil
}

// plan asks for a turn, unless the room waits for one.
func (r *Room) plan(background bool) {
	isNew, note := r.probing.Await(background, r.now)
	if isNew {
		r.do(Plan{r.group.Measuring, background})
	}
	r.tell(note)
}

func (Turn) step(r *Room) error {
	r.probing.Take(r.now)
	switch phase := r.phase.(type) {
	case *Coordinating:
		phase.turn(r)
	case *Voting:
		phase.turn(r)
	}
	return nil
}

func (Close) step(r *Room) error {
	r.closed = true
	for _, player := range r.group.Attendance.Players() {
		r.do(Dismiss{player, *Closed(r.group.Roster.Keys().Code)})
	}
	return nil
}

// Closed is what people hear who want to go where a room was.
func Closed(code string) *wire.Refusal {
	return &wire.Refusal{
		Reason: wire.ReasonClosed, Message: fmt.Sprintf("room %s is over", code),
		Hint: "ask the organiser for the link of the new one",
	}
}

// phase is where a room stands, with the state that no other phase needs. Which phases
// there are is drawn in the package documentation.
type phase interface {
	stage() wire.Stage
	// tick lets time pass: it gives up on who takes too long.
	tick(r *Room)
	// proceed is the organiser's go.
	proceed(r *Room)
}

// enter begins a phase.
func (r *Room) enter(p phase) {
	r.phase, r.since = p, r.now
	r.probing.Disband() // that is for whoever measures a list whole
	if _, verifying := p.(*Verifying); verifying {
		r.surveys(r.survey.BeginOnce(r.group.SurveyScene(), r.now))
	}
}

// nextRound begins another round with the same players.
func (r *Room) nextRound() {
	r.calendar.Leave(r.now)
	r.group.Round, r.probing, r.decision = r.group.Next(r.now), r.probing.Next(), decision.Decision{}
	r.apply(r.group.Roster.NextRound(r.now))
	r.note("the next round begins")
	r.list()
}

// list asks for the server list.
func (r *Room) list() {
	phase := &Listing{Awaits: r.source.Awaits(r.group.Settings, r.opened, r.now)}
	r.enter(phase)
	r.outage.Begin()
	if !phase.Awaits {
		phase.fetch(r)
	}
	for _, player := range r.group.Attendance.Players() {
		r.lookAround(player)
	}
}

// note tells the people in the room something.
func (r *Room) note(format string, args ...any) {
	r.revision++
	r.journal.Add(r.now, fmt.Sprintf(format, args...))
}

// tell notes what the people in the room should know, but for empty notes.
func (r *Room) tell(notes ...string) {
	for _, note := range notes {
		if note != "" {
			r.note("%s", note)
		}
	}
}
