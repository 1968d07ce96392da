package room

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/host/room/outage"
	"muster/host/room/seats"
	"muster/host/wire"
)

const (
	// QuietAfter is how long a player who measures may report nothing before that is
	// taken for silence: less than [stalledAfter], as not all of them were heard in the
	// same second for the last time. A player who has measured all has nothing to report,
	// and is silent when the program answers no ping for so long.
	QuietAfter = 15 * time.Second
	// mostMissed is how long one player may be silent or away in all, time and again,
	// while a round measures: twice what it may be at once.
	mostMissed = 2 * goneAfter
	// emptyReturn is the most that it counts to come back without having told anything
	// since the time before, as a line may break as soon as it is up, and nonsense what to say what makes none, which ends a connection: a
	// program that does nothing else holds the others no longer than one that is silent.
	emptyReturn = 8 * time.Second
	nonsense    = 25 * time.Second
)

// passes pauses the room or lets it go on, at a tick.
func (r *Room) passes() {
	passed, isLost := r.outage.Tick(r.isDeserted())
	if isLost {
		r.stand(passed)
	}
	quiet := r.quiet()
	if !isLost && r.isMeasuring() {
		for _, q := range quiet {
			q.missed += passed
		}
	}
	note, isOver := r.outage.Weigh(r.scene())
	if note != "" {
		r.note("%s", note)
	}
	if isOver {
		for _, late := range quiet {
			late.heard = r.now
		}
	}
}

// scene returns who should be heard now, in numbers.
func (r *Room) scene() outage.Scene {
	_, gathering := r.phase.(*Gathering)
	return outage.Scene{
		Players: len(r.round.active()), Silent: len(r.quiet()), IsGathering: gathering, IsDeserted: r.isDeserted(),
	}
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
		s.Shift(d)
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
