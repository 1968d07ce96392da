package room

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/host/room/seats"
	"muster/host/wire"
)

const (
	// lateStep is by how much later than the step before one comes if this program
	// was stopped, or had no time for the room: fifty ticks of a host, and no more than
	// the shortest limit of a phase.
	lateStep = countdownTime
	// QuietAfter is how long a player who measures may report nothing before that is
	// taken for silence: less than [stalledAfter], as not all of them were heard in the
	// same second for the last time. A player who has measured all has nothing to report,
	// and is silent when the program answers no ping for so long.
	QuietAfter = 15 * time.Second
	// longestPause is how long a round stands still in all while somebody is there to
	// wait: a line that is down for a minute is up again by then, and more than half of
	// the players, should they fall silent together on purpose, hold the others no
	// longer.
	longestPause = 2 * time.Minute
	// longestAbsence is how long it stands still while nobody is there: as long as
	// peers try to come back.
	longestAbsence = 30 * time.Minute
	// mostMissed is how long one player may be silent or away in all, time and again,
	// while a round measures: twice what it may be at once.
	mostMissed = 2 * goneAfter
	// emptyReturn is the most that it counts to come back without having told anything
	// since the time before, as a line may break as soon as it is up, and nonsense what to say what makes none, which ends a connection: a
	// program that does nothing else holds the others no longer than one that is silent.
	emptyReturn = 8 * time.Second
	nonsense    = 25 * time.Second
)

// pause is the room's standing still, while most players are silent together. It is
// our line then, or our machine, and not the players: whoever they would be waited for
// until, is waited for as long once they are back.
type pause struct {
	On bool `json:"on,omitempty"`
	// Held is how long the round stood still while somebody was there, and Absent how
	// long it does by now while nobody is.
	Held   time.Duration `json:"held,omitempty"`
	Absent time.Duration `json:"absent,omitempty"`
}

// passes has the room stand still or go on, at a tick. Passed is the time since the
// one before.
func (r *Room) passes(passed time.Duration) {
	p := &r.round.pause
	if p.On {
		r.pauses(passed)
	}
	quiet, active := r.quiet(), r.round.active()
	if !p.On && r.isMeasuring() {
		for _, q := range quiet {
			q.missed += passed
		}
	}
	if !r.isDeserted() {
		p.Absent = 0
	}
	on, most := r.stands()
	switch {
	case on && !p.On && len(quiet) == len(active):
		r.note("nobody is heard any more: that is likely our line, and the clock stands still until somebody is back")
	case on && !p.On:
		r.note("%d of %d players fell silent together: that is likely our line, and the clock stands still for up to %v", len(quiet), len(active), (longestPause - p.Held).Round(time.Second))
	case !on && p.On && most:
		r.note("waited long enough: the clock goes on")
	case !on && p.On:
		r.note("the clock goes on")
		for _, late := range quiet { // on lines that come up again not all come back at once
			late.heard = r.now
		}
		p.Held += stalledAfter
	}
	p.On = on
}

// stands reports whether the room is to stand still, and whether most players are silent.
func (r *Room) stands() (on, most bool) {
	p, quiet := &r.round.pause, len(r.quiet())
	most = 2*quiet > len(r.round.active())
	if _, gathering := r.phase.(*Gathering); gathering && quiet == 1 {
		most = false // who is not here yet need not wait for one who has left
	}
	return most && p.Held < longestPause && p.Absent < longestAbsence, most
}

// pauses counts a time in which the room stood still.
func (r *Room) pauses(d time.Duration) {
	r.stand(d)
	if p := &r.round.pause; r.isDeserted() {
		p.Absent += d
	} else {
		p.Held += d
	}
}

// pauseEnds is when a room that stands still goes on although nobody comes back.
func (r *Room) pauseEnds() time.Time {
	p := &r.round.pause
	if r.isDeserted() {
		return r.now.Add(longestAbsence - p.Absent)
	}
	return r.now.Add(longestPause - p.Held)
}

// isDeserted reports whether no player whom the round counts on is there. A group that
// still gathers is not waited for as if it had measured.
func (r *Room) isDeserted() bool {
	_, gathering := r.phase.(*Gathering)
	return !gathering && len(r.round.present()) == 0
}

// quiet are the players from whom something should have been heard, in a phase that
// waits for them.
func (r *Room) quiet() []*player {
	silence := time.Duration(0)
	switch r.phase.(type) {
	case *Measuring, *Coordinating:
		silence = QuietAfter
	case *Gathering, *Verifying, *Countdown:
	default:
		return nil
	}
	return filtered(r.round.active(), func(p *player) bool {
		isSilent := !p.done && r.now.Sub(p.heard) > silence || p.done && p.mute
		return !p.connected || silence > 0 && isSilent
	})
}

// rests takes a player's word that its program asks nobody for a while. It counts as if
// the player had been silent so long, so that nobody holds the others by it for longer
// than by saying nothing.
func (p *player) rests(r *Room, m wire.Rests) {
	rest := time.Duration(m.For)
	if m.Round != r.round.number || !r.isMeasuring() || p.done || p.leftOut || rest < QuietAfter || rest > mostMissed-p.missed {
		return
	}
	p.missed += rest
	p.isHeard(r.now.Add(rest))
	r.note("%s's router has room for few servers at a time: %s goes on in %v", p.name, p.name, rest.Round(time.Second))
}

// isHeard notes when a player was heard, who may have said that silence follows.
func (p *player) isHeard(at time.Time) {
	if p.heard.Before(at) {
		p.heard = at
	}
}

// stand moves all from which the room reckons its limits: a time has not counted.
func (r *Room) stand(d time.Duration) {
	r.since = r.since.Add(d)
	for _, p := range r.round.players {
		p.heard = p.heard.Add(d)
	}
	if s := r.round.search; s != nil {
		s.asked = s.asked.Add(d)
	}
	if !r.planning.since.IsZero() {
		r.planning.since = r.planning.since.Add(d)
	}
	switch phase := r.phase.(type) {
	case *Voting:
		phase.Looked = phase.Looked.Add(d)
	case *Waiting:
		phase.watch.Shift(d)
	case *Countdown:
		phase.Looked, phase.LaunchAt = phase.Looked.Add(d), phase.LaunchAt.Add(d)
	}
}

const (
	// firstRetry is after what time a room that failed tries again; each further time
	// in a row takes twice as long, up to lastRetry: who lists servers, and whoever
	// measures on a machine without time, need a rest.
	firstRetry = 15 * time.Second
	lastRetry  = 4 * time.Minute
	// mostRetries is how often in a row, half an hour in all: nobody's program is to
	// ask servers all night.
	mostRetries = 12
	// settling is how long a room that failed and nobody was in waits for more than
	// the first to come back.
	settling = 5 * time.Second
)

// Failed is a round without a server to go to. The room tries again by itself where
// that can help, and the organiser at any time.
type Failed struct {
	// Retry is when; zero if nothing has changed that could help.
	Retry time.Time `json:"retry,omitzero"`
	// waited is the wait for seats that was given up, if that is why.
	waited *seats.Watch
}

func (*Failed) stage() wire.Stage { return wire.Failed }

func (f *Failed) tick(r *Room) {
	isHere := func(p *player) bool { return p.connected }
	if f.Retry.IsZero() || r.now.Before(f.Retry) || !slices.ContainsFunc(r.round.players, isHere) {
		return
	}
	r.note("trying again")
	if len(r.round.servers.List) == 0 {
		r.list()
		return
	}
	r.nextRound()
}

func (*Failed) proceed(r *Room) {
	r.failures = 0
	r.nextRound()
}

// changed has the room try again, if it has not too often, because something is no
// longer as it was: somebody is back.
func (f *Failed) changed(r *Room) {
	if r.failures > mostRetries {
		return
	}
	if f.Retry.IsZero() {
		f.Retry = r.since.Add(retryAfter(r.failures))
	}
	if here := filtered(r.round.players, func(p *player) bool { return p.connected }); len(here) == 1 && f.Retry.Before(r.now.Add(settling)) {
		f.Retry = r.now.Add(settling)
	}
}

// retryAfter is how long a room rests after so many failures in a row.
func retryAfter(failures int) time.Duration {
	rest := firstRetry
	for range min(failures, mostRetries) - 1 {
		rest = min(2*rest, lastRetry)
	}
	return rest
}

// fail ends a round without a server; passing says that the same may go well in a
// while.
func (r *Room) fail(passing bool, format string, args ...any) {
	r.failures++
	r.started = netip.AddrPort{} // it was of no use: the next list is the game's again
	f := &Failed{}
	r.enter(f)
	if passing && r.failures <= mostRetries {
		f.Retry = r.now.Add(retryAfter(r.failures))
	}
	r.round.forgetSaid()
	r.note("%s", fmt.Sprintf(format, args...))
	r.surveysOnce()
}
