package room

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/group"
	"muster/host/room/outage"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// countdownTime is how long everyone sees the launch coming. Where anybody has the page open, such
	// as a TV that everyone looks at, the first countdown of a vote begins after revealTime. Until then
	// pages say where people meet.
	countdownTime = 5 * time.Second
	revealTime    = 6 * time.Second
	// freshLook is how old a look at the finalists may be at the launch: another within that time
	// would say the same.
	freshLook = 15 * time.Second
)

// Countdown is the moment before the launch. Any change of mind leads back to Voting.
type Countdown struct {
	base
	Vote     Voting        `json:"vote"`
	LaunchAt roomtime.Time `json:"launch_at"`
}

func (*Countdown) traits() traits {
	return traits{name: "countdown", stage: wire.Chosen, duty: attendance.Stay, decides: true, reopens: true}
}

func (*Countdown) joined(r *Room, player string) { r.lookLate(player) }

func (c *Countdown) expectsLook(string, wire.Verified) bool { return c.Vote.LookedAgain }

// mindChanged gives people time again, for a vote even if none was wanted.
func (c *Countdown) mindChanged(r *Room) {
	r.phase = &c.Vote
	r.decision.OpenVote(&r.group)
	r.out.says(sentence.Of("room.countdown-stopped"))
}

func (*Countdown) without(r *Room, player string, w Without) error { return w.fromChoice(r, player) }

func (*Countdown) awaitSeats(r *Room, a AwaitSeats) error { return a.instead(r) }

func (c *Countdown) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	s.Voting.LaunchAt = r.face().Of(c.LaunchAt)
}

func (*Countdown) isWhole(g *group.Group) bool { return hasChoice(g) }

// tick lets everyone look at the candidates once more: minutes may have passed, and seats go
// quickly. Then it launches.
func (c *Countdown) tick(r *Room) {
	r.goOnWithout()
	if r.phase != c {
		return
	}
	players := r.group.ChosenFor()
	away, _ := r.group.Attendance.Absent(players, outage.LongestPause, r.now)
	switch {
	case len(away) > 0 && 2*len(away) <= len(players) && !r.now.Before(c.LaunchAt): // back in a moment, or left
	case !r.now.Before(c.LaunchAt):
		c.launchFavourite(r)
	case c.LaunchAt.Sub(c.Vote.Looked) >= freshLook && c.LaunchAt.Sub(r.now) <= countdownTime:
		c.Vote.Looked, c.Vote.LookedAgain = r.now, true
		var servers []int
		for _, ranked := range r.decision.Options(&r.group).Candidates {
			servers = append(servers, ranked.Server)
		}
		asks, note := r.decision.Look(&r.group, &r.probing, servers, true, r.passed(), r.now)
		r.out.says(note)
		r.sendLooks(asks)
	}
}

// launchFavourite sends everyone to the favourite, or to the next if that has filled up since.
func (*Countdown) launchFavourite(r *Room) {
	server, notes := r.decision.Favourite(&r.group, r.lookFacts())
	if r.out.says(notes...); server < 0 {
		r.verifyOrLaunch()
		return
	}
	(&Launching{Server: server}).begin(r)
}
