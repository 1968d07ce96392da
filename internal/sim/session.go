package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection/coordinate"
)

const (
	// oneWay is the time of a message from a player to the host, or back: a line of 50 ms between
	// friends.
	oneWay = 25 * time.Millisecond
	// tickEvery is how often a host lets time pass in a room, and flushEvery is how often a peer
	// reports.
	tickEvery, flushEvery = 100 * time.Millisecond, 100 * time.Millisecond
	// longestSession is longer than any room measures or votes here.
	longestSession = 2 * time.Hour
	// usualGap is how long the servers of made-up worlds must be left in peace before they answer
	// an address again: their game is no stricter than most.
	usualGap = 300 * time.Millisecond
)

// epoch is the start of all sessions.
var epoch = time.Unix(0, 0).UTC()

// session is a room and the peers of its players in virtual time. It plays the host outside the
// room, and lines that lose nothing.
type session struct {
	*Group
	room   *room.Room
	peers  []*peer
	now    time.Duration // since the list was there
	events queue[func()]
	// infoOf returns the current facts of a server.
	infoOf    func(server int) discovery.Info
	hasChosen bool
	// launched is when the room sent everybody to the server, 0 if it has not yet.
	launched time.Duration
	// search is the progress of a coordinated search when the room chose.
	search coordinate.Progress
	// watch is called with the room's inputs, unless it is nil.
	watch func(in room.Input)
	// ready is the time from the list until voting players are ready, 0 if nobody votes.
	ready time.Duration
	// started is how many of the honest players are on the way.
	started, honest int
	// target is the server that the room sent them to.
	target string
	err    error
}

// after schedules something for later.
func (s *session) after(d time.Duration, do func()) {
	s.events.push(s.now+d, do)
}

// run lets the players join and the organiser say go. Then time passes until everybody is on the
// way, or the room has failed.
func (s *session) run() error {
	for _, p := range s.peers {
		p.join()
		if len(p.memory) > 0 { // programs say it when the host welcomes them
			p.deliver(wire.Memory{Cells: p.memory})
		}
		if p.hostile == nil {
			s.honest++
		}
	}
	s.tick()
	for s.step(room.Proceed{}); s.err == nil && s.started < s.honest && !s.hasGivenUp(); {
		at, do := s.events.pop()
		if s.now = at; s.now > longestSession {
			return errors.New("sim: a room waits for ever")
		}
		do()
	}
	return s.err
}

// hasGivenUp reports whether people give up. A room that failed tries again by itself, if that may
// help, and may succeed in the end.
func (s *session) hasGivenUp() bool {
	const patience = 3 * time.Minute
	return s.room.Stage() == wire.Failed && (s.now > patience || s.room.Snapshot().Room.Retry.IsZero())
}

// tick lets time pass in the room again and again.
func (s *session) tick() {
	s.step(room.Tick{})
	if s.ready > 0 && s.now >= s.ready && s.room.Stage() == wire.Chosen {
		s.step(room.Proceed{}) // the room itself knows whether it applies now
	}
	s.after(tickEvery, s.tick)
}

// step gives the room an input that it must not refuse.
func (s *session) step(in room.Input) {
	if err := s.try(in); err != nil && s.err == nil {
		s.err = fmt.Errorf("sim: the room refuses a %T: %w", in, err)
	}
}

// try gives the room an input, and carries out what follows.
func (s *session) try(in room.Input) error {
	outputs, err := s.room.Step(in, room.Moment{Run: s.now, Wall: epoch.Add(s.now)})
	for _, o := range outputs {
		switch o := o.(type) {
		case room.Admit:
			p := s.peers[s.peer(in.(room.Join).Hello.Name)]
			p.id, p.connected = o.Player, true
		case room.Fetch:
			s.after(0, func() {
				s.step(room.Listed{List: s.Vantages[0].Topology(), Gap: usualGap})
				for _, p := range s.peers {
					infos, report := p.knowledge()
					p.deliver(infos)
					p.deliver(report)
				}
			})
		case room.Plan:
			s.step(room.Turn{})
		case room.Send:
			for _, p := range s.peers {
				if p.connected && (o.To == "" || o.To == p.id) {
					s.after(oneWay, func() { p.receive(o.Message) })
				}
			}
		}
	}
	switch stage := s.room.Stage(); {
	case stage == wire.Chosen && !s.hasChosen:
		s.hasChosen = true
		s.search, _ = s.room.Progress()
	case stage == wire.Launching && s.launched == 0:
		s.launched = s.now
	}
	if s.watch != nil {
		s.watch(in)
	}
	return err
}

// peer returns the number of the player of a name.
func (s *session) peer(name string) int {
	return slices.IndexFunc(s.peers, func(p *peer) bool { return p.name == name })
}
