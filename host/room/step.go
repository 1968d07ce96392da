package room

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/outage"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/seats"
	"muster/host/wire"
)

// Input is something that happened to a room.
type Input interface{ step(r *Room) error }

// The inputs, beside [Join], [Listed] and [Order].
type (
	// Tick lets time pass. Demand counts the rooms of the host that wait for seats, this one too,
	// by the servers that it watches; see [Room.Watches]. Mute are the players whose programs
	// are connected, but have not even answered a ping for [QuietAfter].
	Tick struct {
		Demand map[netip.AddrPort]Demand
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
	// Proceed is the organiser's go: start with the players who are here, choose from the results
	// so far, or begin the next round. It changes nothing while the list or a look is under way,
	// because both are short.
	Proceed struct{}
	// Resume says that the host was away and has the room again. All waits
	// start over, and nobody is blamed for the time between.
	Resume struct{}
	// Stir says that a player's program is saying something that has not come whole
	// yet: its line is slow, and not silent.
	Stir struct{ Player string }
	// Stored names the trouble that keeps the host from saving the room, in people's words, or says
	// that it is over.
	Stored struct{ Trouble string }
	// Waited says that the host could save nothing for a time, until now. The room stood still.
	Waited struct{ For time.Duration }
	// Turn is the processor time that a [Plan] asked for.
	Turn struct{}
	// Close ends the room for good, and sends everybody away. Why is the message for them, nil for
	// that of [Closed].
	Close struct{ Why *wire.Refusal }
)

// QuietAfter is that of [attendance.QuietAfter].
const QuietAfter = attendance.QuietAfter

// Demand is that of [seats.Demand].
type Demand = seats.Demand

// Step takes what happened at a moment and returns what to do about it, in order. An error means that
// the input was refused, as [*wire.Refusal] or because it makes no sense. Carry out the outputs
// even if there is an error.
func (r *Room) Step(in Input, at Moment) ([]Output, error) {
	idle, _ := in.(Waited)
	r.now = r.outage.Step(at.Run, r.due, idle.For, isDeserted(r.phase, &r.group.Attendance))
	r.wall = at.Wall
	r.out.begin(r.face())
	g := &r.group
	phase, round := r.phase, g.Number
	err := in.step(r)
	r.out.says(g.SettleSides()...)
	r.follow(r.calendar.Advance(r.facts(r.wall))...)
	g.Weigh()
	if r.survey.Lacks(g.Choice.Newest()) {
		r.out.passOn(r.survey.Compare(g.Basis(g.ChosenFor()), g.SurveyScene()))
	}
	if _, tick := in.(Tick); !tick || len(r.out.outputs) > 0 {
		r.out.revision++
	}
	if r.out.binds || phase != r.phase || round != g.Number {
		r.out.outputs = slices.Insert(r.out.outputs, 0, Output(Save{}))
	}
	r.due = at.Run + r.rest()
	return r.out.outputs, err
}

// Next returns when the room needs the time again, by the machine's clock. An earlier [Tick] would
// change nothing, except how long a paused room has paused. While a round goes on it is at once; a
// few times a second is often enough.
func (r *Room) Next() time.Time { return r.wall.Add(r.rest()) }

// rest returns how long after the newest step the room needs no time.
func (r *Room) rest() time.Duration {
	g := &r.group
	on, ends, isQuiet := r.outage.Next(sceneOf(r.phase, &g.Attendance, r.now))
	next := roomtime.Time(math.MaxInt64)
	switch phase := r.phase.(type) {
	case *Gathering:
		if gone := g.Attendance.NextGone(g.Attendance.Players()); !gone.IsZero() && !on {
			next = gone
		}
	case *Voting:
		isQuiet = isQuiet && g.Settings.Strategy != wire.Coordinated
		players := g.ChosenFor()
		if away, _ := g.Attendance.Absent(players, outage.LongestPause, r.now); len(away) > 0 && len(away) < len(players) {
			isQuiet = false
		}
		if closed := g.Roster.PageClosed(); !closed.IsZero() {
			next = closed.Add(attendance.LeftAfter)
		}
	case *Banning:
		next = phase.next(r)
	case *Failed:
		if !phase.Retry.IsZero() && g.Attendance.Count(attendance.Nothing, r.now).Here > 0 {
			next = phase.Retry
		}
	case *Waiting:
		next = phase.wait.Next(g, r.now)
	case *Launching:
	default:
		isQuiet = isQuiet && on
	}
	if !isQuiet || g.Nearby.IsLooking("") {
		return 0
	}
	if gone := g.Roster.Next(g.Awaited(r.calendar)); !gone.IsZero() {
		next = min(next, gone)
	}
	rest := min(next.Sub(r.now), r.calendar.Next(r.facts(r.wall)).Sub(r.wall))
	if on {
		rest = min(rest, ends)
	}
	return max(0, rest)
}

// moment returns the present facts for the measuring.
func (r *Room) moment() probing.Moment {
	return probing.Moment{Face: r.face(), IsVoting: isVoting(r.phase)}
}

// passed returns how long the phase has gone on.
func (r *Room) passed() time.Duration { return r.now.Sub(r.since) }

func (in Tick) step(r *Room) error {
	g := &r.group
	r.apply(g.Roster.Expire(g.Awaited(r.calendar), r.now))
	if r.outage.HasStopped() {
		in.Mute = nil // a host that was stopped has heard nobody, and cannot tell
	}
	g.Attendance.Mute(in.Mute)
	for _, player := range g.Attendance.Players() {
		if g.Nearby.Expire(player, r.now) {
			r.looked(player)
		}
	}
	r.follow(r.calendar.Tick(r.facts(r.wall))...)
	if w, waits := r.phase.(*Waiting); waits {
		w.wait.Share(g, in.Demand, time.Duration(r.wall.UnixNano())-time.Duration(r.now))
	}
	if in.weigh(r); !r.outage.IsPaused() {
		r.phase.tick(r)
		in.showLeaders(r) // while the room pauses no server comes nearer, and nobody needs the time
	}
	return nil
}

// weigh pauses the room or lets it go on.
func (in Tick) weigh(r *Room) {
	passed, isLost := r.outage.Tick(isDeserted(r.phase, &r.group.Attendance))
	attendance := &r.group.Attendance
	quiet := attendance.Quiet(duty(r.phase), r.now)
	if !isLost && isMeasuring(r.phase) {
		attendance.Miss(passed, quiet...)
	}
	note, isOver := r.outage.Weigh(sceneOf(r.phase, attendance, r.now))
	if r.out.says(note); isOver {
		attendance.Await(r.now, quiet...)
	}
}

// sceneOf returns how many players a phase should hear now, and how many are silent.
func sceneOf(p phase, a *attendance.Register, now roomtime.Time) outage.Scene {
	_, gathering := p.(*Gathering)
	c := a.Count(duty(p), now)
	return outage.Scene{
		Players: c.Active, Silent: c.Quiet, IsGathering: gathering, IsDeserted: !gathering && c.Present == 0,
	}
}

// isDeserted reports whether no player that the round counts on is there. A group that still
// gathers is never deserted.
func isDeserted(p phase, a *attendance.Register) bool {
	_, gathering := p.(*Gathering)
	return !gathering && a.Count(attendance.Nothing, roomtime.Time(0)).Present == 0
}

func (Proceed) step(r *Room) error {
	return r.phase.proceed(r)
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
		r.out.says(sentence.Of("room.lost", "player", in.Player))
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
		if m.Round == g.Number && isMeasuring(r.phase) {
			r.out.says(g.Attendance.Rest(in.Player, time.Duration(m.For), r.now))
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
		r.out.passOn(news)
		return nil
	case wire.Able:
		if note := g.Launches.Able(in.Player, m, g.Settings); g.Attendance.Of(in.Player).Here {
			r.out.says(note)
		}
		return nil
	case wire.Outside:
		r.out.passOn(r.survey.Outside(in.Player, m.Port, g.SurveyScene(), r.now))
		return nil
	case wire.Say:
		in.say(r, m)
		return nil
	case wire.Memory:
		g.Memories.Bring(in.Player, m.Cells)
		return nil
	case wire.Launched:
		_, launching := r.phase.(*Launching)
		w, waits := r.phase.(*Waiting)
		if m.Round == g.Number && (launching || waits && w.Back != nil) {
			r.out.says(g.Launches.Heard(in.Player, m, g.Settings.GameName()))
		}
		return nil
	}
	return nonsensef("a %T from a peer", in.Message)
}

// Nonsense says what is wrong with a message of a player's program. The host logs it, so its text
// has numbers and kinds, and no player's words.
type Nonsense string

func (n Nonsense) Error() string { return "room: " + string(n) }

func nonsensef(format string, numbers ...any) error { return Nonsense(fmt.Sprintf(format, numbers...)) }

func (Resume) step(r *Room) error {
	if !r.calendar.IsAsleep() { // else nobody notices
		r.out.says(sentence.Of("room.restarted"))
	}
	r.out.says(r.source.Resume()...)
	r.outage.Resume()
	r.since = r.now
	r.group.Attendance.Resume(r.now)
	r.group.Bans.Restart(r.now)
	switch phase := r.phase.(type) {
	case *Listing:
		if !phase.Awaits {
			phase.fetch(r)
		}
	case *Waiting:
		phase.wait.Resume(r.now)
		r.decision.Resume()
	}
	return nil
}

func (in Stir) step(r *Room) error {
	r.group.Attendance.Excuse(r.now, in.Player)
	return nil
}

func (in Stored) step(r *Room) error {
	if in.Trouble == "" {
		r.out.says(sentence.Of("room.saved-again"))
	} else {
		r.out.says(sentence.Of("room.unsaved", "why", in.Trouble))
	}
	return nil
}

func (in Waited) step(r *Room) error {
	r.out.says(sentence.Of("room.waited", "time", in.For.Round(time.Second)))
	return nil
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

func (in Close) step(r *Room) error {
	r.closed = true
	why := cmp.Or(in.Why, Closed(r.group.Roster.Keys().Code))
	for _, player := range r.group.Attendance.Players() {
		r.out.do(Dismiss{player, *why})
	}
	return nil
}

// Closed returns the message for people who look for a room that is over.
func Closed(code string) *wire.Refusal {
	return wire.Refuse(wire.ReasonClosed, "refused.over", "code", code).Advising("refused.over-hint")
}

// nextRound begins another round with the same players.
func (r *Room) nextRound() {
	r.calendar.Leave(r.wall)
	r.group.Round, r.probing, r.decision = r.group.Next(r.now), r.probing.Next(), decision.Decision{}
	r.apply(r.group.Roster.NextRound(r.now))
	r.group.Sides.Rematch()
	r.out.says(sentence.Of("room.next-round"))
	(&Listing{}).begin(r)
}

// phase is a phase of a room, with the state that no other phase needs. The package documentation
// has a drawing of them.
type phase interface {
	stage() wire.Stage
	// tick lets time pass: it gives up on players who take too long.
	tick(r *Room)
	// proceed is the organiser's go.
	proceed(r *Room) error
}

// phases returns an empty value of each phase, by its name in the saved form.
func phases() map[string]phase {
	return map[string]phase{
		"gathering": &Gathering{}, "listing": &Listing{}, "measuring": &Measuring{}, "coordinating": &Coordinating{},
		"verifying": &Verifying{}, "voting": &Voting{}, "countdown": &Countdown{}, "banning": &Banning{}, "launching": &Launching{},
		"waiting": &Waiting{}, "failed": &Failed{},
	}
}

// duty returns the duty of players in a phase.
func duty(p phase) attendance.Duty {
	switch p.(type) {
	case *Measuring, *Coordinating:
		return attendance.Measure
	case *Gathering, *Verifying, *Countdown:
		return attendance.Stay
	}
	return attendance.Nothing
}

// isMeasuring reports whether players measure, each on its own or as the host asks.
func isMeasuring(p phase) bool { return duty(p) == attendance.Measure }

// isVoting reports whether people may still change their minds.
func isVoting(p phase) bool {
	switch p.(type) {
	case *Voting, *Countdown:
		return true
	}
	return false
}

// endSearch ends a phase's search for something that the room no longer wants.
func endSearch(p phase, search *probing.Probing) {
	if _, coordinating := p.(*Coordinating); coordinating {
		search.Forget()
	}
}

// isAskingMore reports whether players measure more servers by the organiser's order. The choice counts
// the same players as the last one.
func isAskingMore(p phase) bool {
	c, coordinating := p.(*Coordinating)
	return coordinating && c.More > 0
}

// strategy returns how the players measure this round's list in a phase, if the settings name a
// strategy. They may have changed since the phase began.
func strategy(p phase, named string) string {
	switch p.(type) {
	case *Coordinating: // also where the organiser wants more servers asked
		return wire.Coordinated
	case *Measuring:
		if named == wire.Coordinated {
			return string(discovery.Conventional)
		}
	}
	return named
}

// enter begins a phase.
func (r *Room) enter(p phase) {
	r.phase, r.since = p, r.now
	r.probing.Disband() // only a list that players measure whole is shared
	if _, verifying := p.(*Verifying); verifying {
		r.out.passOn(r.survey.BeginOnce(r.group.SurveyScene(), r.now))
	}
}
