package room

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// countdownTime is the length of the countdown to the launch. If a page is open, such as on a
	// TV that everyone sees, the first countdown of a vote begins after revealTime. Until then
	// pages reveal the server.
	countdownTime = 5 * time.Second
	revealTime    = 6 * time.Second
	// freshLook is the greatest age of a look at the finalists at the launch. A newer look would
	// say the same.
	freshLook = 15 * time.Second
)

// Countdown is the countdown to the launch. If anybody changes their mind the room goes back to
// Voting.
type Countdown struct {
	base
	Vote Voting `json:"vote"`
	lastSeconds
}

// lastSeconds is the time before a launch. Open pages reveal the server, and then count down.
type lastSeconds struct {
	// Since is the beginning, and LaunchAt the end. Reveals says that pages reveal the server now.
	Since    roomtime.Time `json:"since,omitzero"`
	LaunchAt roomtime.Time `json:"launch_at,omitzero"`
	Reveals  bool          `json:"reveals,omitempty"`
}

// begin begins the last seconds, and returns their length.
func (l *lastSeconds) begin(r *Room, reveals bool) time.Duration {
	lasts := countdownTime
	if reveals {
		lasts += revealTime
	}
	*l = lastSeconds{r.now, r.now.Add(lasts), reveals}
	return lasts
}

// tick ends the reveal when its time is over, and returns how much time is left.
func (l *lastSeconds) tick(r *Room) (left time.Duration) {
	left = l.LaunchAt.Sub(r.now)
	if l.Reveals && left <= countdownTime {
		l.Reveals = false
		r.out.revision++
	}
	return left
}

func (l *lastSeconds) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	s.Voting.LaunchAt = r.clocks().Of(l.LaunchAt)
	counts := l.LaunchAt.Add(-countdownTime)
	if l.Reveals {
		s.Phase = wire.Phase{Name: wire.PhaseReveal, SinceMS: r.now.Sub(l.Since).Milliseconds(), LeftMS: counts.Sub(r.now).Milliseconds()}
	} else {
		s.Phase = wire.Phase{Name: wire.PhaseCountdown, SinceMS: r.now.Sub(counts).Milliseconds(), LeftMS: l.LaunchAt.Sub(r.now).Milliseconds()}
	}
}

func (*Countdown) traits() traits {
	return traits{name: wire.PhaseCountdown, duty: attendance.Stay, isVoting: true, canReopen: true}
}

func (*Countdown) joined(r *Room, player people.ID) { r.lookLate(player) }

func (c *Countdown) expectsLook(people.ID, wire.Verified) bool { return c.Vote.LookedAgain }

// mindChanged goes back to the vote, even if the room had none before.
func (c *Countdown) mindChanged(r *Room) {
	r.goTo(&c.Vote)
	r.decision.OpenVote(r.facts)
	r.out.say(sentence.Of("room.countdown-stopped"))
}

func (*Countdown) without(r *Room, player people.ID, w Without) error {
	return w.chooseWithout(r, player)
}

func (*Countdown) awaitSeats(r *Room, a AwaitSeats) error { return a.beginWait(r) }

func (c *Countdown) view(r *Room, s *wire.Snapshot, showing *decision.Showing) {
	c.lastSeconds.view(r, s, showing)
}

func (*Countdown) isValid(g *facts.Parts) bool { return hasChoice(g) }

// tick asks for a last look at the candidates, because minutes may have passed, and seats fill up
// quickly. Then it launches.
func (c *Countdown) tick(r *Room) {
	r.goOnWithout()
	if r.phase != c {
		return
	}
	left := c.lastSeconds.tick(r)
	players := r.facts.ChosenFor()
	away, _ := r.parts.Attendance.Absent(players, outage.LongestPause, r.now)
	switch {
	case len(away) > 0 && 2*len(away) <= len(players) && left <= 0: // an absent player is back in a moment, or has left
	case left <= 0:
		c.launchFavourite(r)
	case c.LaunchAt.Sub(c.Vote.Looked) >= freshLook && left <= countdownTime:
		c.Vote.Looked, c.Vote.LookedAgain = r.now, true
		var servers []int
		for _, ranked := range r.decision.Options(r.facts).Candidates {
			servers = append(servers, ranked.Server)
		}
		asks, note := r.decision.Look(r.facts, &r.probing, servers, true, r.passed(), r.now)
		r.out.say(note)
		r.sendLooks(asks)
	}
}

// launchFavourite sends everyone to the favourite, or to the next best if the favourite no longer
// suits.
func (*Countdown) launchFavourite(r *Room) {
	r.acceptMisses()
	server, notes := r.decision.Favourite(r.facts)
	if r.out.say(notes...); server < 0 {
		r.carryOutChoice()
		return
	}
	r.goThere(server)
}
