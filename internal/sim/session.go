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
	// OneWay is the time of a message from a player to the host, or back: a line of 50 ms between
	// friends.
	OneWay = 25 * time.Millisecond
	// tickEvery is how often a host lets time pass in a room, and flushEvery is how often a peer
	// reports.
	tickEvery, FlushEvery = 100 * time.Millisecond, 100 * time.Millisecond
	// longestSession is longer than any room measures or votes here.
	longestSession = 2 * time.Hour
	// usualGap is how long the servers of made-up worlds must be left in peace before they answer
	// an address again: their game is no stricter than most.
	usualGap = 300 * time.Millisecond
)

// Epoch is the start of all sessions.
var Epoch = time.Unix(0, 0).UTC()

// Session is a room and the peers of its players in virtual time. It simulates the host around the
// room, and connections that lose nothing.
type Session struct {
	*Group
	Room   *room.Room
	Peers  []*Peer
	Now    time.Duration // since the list was there
	events queue[func()]
	// InfoOf returns the current facts of a server.
	InfoOf    func(server int) discovery.Info
	HasChosen bool
	// Launched is when the room sent everybody to the server, 0 if it has not yet.
	Launched time.Duration
	// search is the progress of a coordinated search when the room chose.
	search coordinate.Progress
	// Watch is called with the room's inputs, unless it is nil.
	Watch func(in room.Input)
	// ready is the time from the list until voting players are ready, 0 if nobody votes.
	ready time.Duration
	// started is how many of the honest players are on the way.
	started, honest int
	// Target is the server that the room sent them to.
	Target string
	err    error
}

// After schedules something for later.
func (s *Session) After(d time.Duration, do func()) {
	s.events.push(s.Now+d, do)
}

// Run lets the players join and the organiser say go. Then time passes until everybody is on the
// way, or the room has failed.
func (s *Session) Run() error {
	for _, p := range s.Peers {
		p.Join()
		if len(p.Memory) > 0 { // programs say it when the host welcomes them
			p.deliver(wire.Memory{Cells: p.Memory})
		}
		if p.Hostile == nil {
			s.honest++
		}
	}
	s.tick()
	for s.Step(room.Proceed{}); s.err == nil && s.started < s.honest && !s.hasGivenUp(); {
		at, do := s.events.pop()
		if s.Now = at; s.Now > longestSession {
			return errors.New("sim: a room waits for ever")
		}
		do()
	}
	return s.err
}

// hasGivenUp reports whether people give up. A room that failed tries again by itself, if that may
// help, and may succeed in the end.
func (s *Session) hasGivenUp() bool {
	const patience = 3 * time.Minute
	return s.Room.Stage() == wire.Failed && (s.Now > patience || s.Room.Snapshot().Room.Retry.IsZero())
}

// tick lets time pass in the room again and again.
func (s *Session) tick() {
	s.Step(room.Tick{})
	if s.ready > 0 && s.Now >= s.ready && s.Room.Stage() == wire.Chosen {
		s.Step(room.Proceed{}) // the room itself knows whether it applies now
	}
	s.After(tickEvery, s.tick)
}

// Step gives the room an input that the room must accept.
func (s *Session) Step(in room.Input) {
	if err := s.Try(in); err != nil && s.err == nil {
		s.err = fmt.Errorf("sim: the room refuses a %T: %w", in, err)
	}
}

// Try gives the room an input, and carries out what follows.
func (s *Session) Try(in room.Input) error {
	outputs, err := s.Room.Step(in, room.Moment{Run: s.Now, Wall: Epoch.Add(s.Now)})
	for _, o := range outputs {
		switch o := o.(type) {
		case room.Admit:
			p := s.Peers[s.Number(in.(room.Join).Hello.Name)]
			p.ID, p.Connected = o.Player, true
		case room.Fetch:
			s.After(0, func() {
				s.Step(room.Listed{List: s.Vantages[0].Topology(), Gap: usualGap})
				for _, p := range s.Peers {
					infos, report := p.knowledge()
					p.deliver(infos)
					p.deliver(report)
				}
			})
		case room.Plan:
			s.Step(room.Turn{})
		case room.Send:
			for _, p := range s.Peers {
				if p.Connected && (o.To == "" || o.To == p.ID) {
					s.After(OneWay, func() { p.receive(o.Message) })
				}
			}
		}
	}
	switch stage := s.Room.Stage(); {
	case stage == wire.Chosen && !s.HasChosen:
		s.HasChosen = true
		s.search, _ = s.Room.Progress()
	case stage == wire.Launching && s.Launched == 0:
		s.Launched = s.Now
	}
	if s.Watch != nil {
		s.Watch(in)
	}
	return err
}

// Number returns the number of the player of a name.
func (s *Session) Number(name string) int {
	return slices.IndexFunc(s.Peers, func(p *Peer) bool { return p.name == name })
}

// queue holds events by time. The earliest comes out first, and of several at the same time the one
// that was put in first.
type queue[T any] struct {
	heap  []timed[T]
	count int // of all that were put in
}

type timed[T any] struct {
	at   time.Duration
	nth  int
	item T
}

func (t *timed[T]) isBefore(other *timed[T]) bool {
	return t.at < other.at || t.at == other.at && t.nth < other.nth
}

func (q *queue[T]) push(at time.Duration, item T) {
	t := timed[T]{at, q.count, item}
	q.count++
	q.heap = append(q.heap, t)
	i := len(q.heap) - 1
	for i > 0 && t.isBefore(&q.heap[(i-1)/2]) {
		q.heap[i] = q.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	q.heap[i] = t
}

func (q *queue[T]) hasBy(until time.Duration) bool {
	return len(q.heap) > 0 && q.heap[0].at <= until
}

func (q *queue[T]) pop() (at time.Duration, item T) {
	top, last := q.heap[0], len(q.heap)-1
	t := q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && q.heap[child+1].isBefore(&q.heap[child]) {
			child++
		}
		if child >= last || !q.heap[child].isBefore(&t) {
			q.heap[i] = t
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	return top.at, top.item
}
