// Package player is a player's program in a room, as a pure machine: it takes events and returns what to do.
//
//	messages, results, answers, time ──▶ Player.Step ──▶ messages, runs, launches, events
//
// A shell owns sockets, prober, clock and game, and drives the machine. Package peer does so for real, the simulator in
// virtual time. Work that takes time is a numbered task: an output tells the shell to begin it, and an input with the
// same number brings the result.
package player

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection/memory"
)

// Options say who plays and how.
type Options struct {
	// Hello begins every connection. The machine fills in the token and the line.
	Hello wire.Hello
	// Once makes the program leave after the first launch.
	Once bool
	// HasPlaces says that the shell can measure candidate places.
	HasPlaces bool
	// AsksConsent says that the shell answers [AskConsent]. Otherwise no machine of a provider is asked.
	AsksConsent bool
	// NewPlan makes the plan for a list; nil is [NewPlan].
	NewPlan func(m wire.Measure, servers []discovery.Server) (discovery.Plan, error)
	Pace    Pace
	// Memory is what this program remembers of earlier sessions, newest first.
	Memory []memory.Cell
	// Seed varies the moments at which servers are sampled.
	Seed uint64
}

// Pace is the machine's timing.
type Pace struct {
	// Flush is how often results go to the host, whose page shows them live.
	Flush time.Duration
	// Sample spaces the samples of a finalist: servers answer an address about once a second.
	Sample time.Duration
	// Patience is how long a sample waits for answers. It ends before the prober would repeat a question.
	Patience time.Duration
}

// RealPace is the pace of the real program.
var RealPace = Pace{Flush: 100 * time.Millisecond, Sample: 1100 * time.Millisecond, Patience: 900 * time.Millisecond}

// Player is one player's program in one room.
type Player struct {
	port
	room    wire.Snapshot
	failed  bool // the room failed; the player has been told who saw their address
	late    lateness
	round   *round
	look    *look // the newest
	survey  survey
	near    near
	launch  launch
	errands errands
	recall  recall
}

// port is the way out for all parts of the machine: the outputs of a step, and the line.
type port struct {
	options  Options
	rng      *rand.Rand
	now      time.Time
	outputs  []Output
	tasks    int // counts the tasks begun
	line     line
	exposure *discovery.Exposure
}

// line is the machine's side of the connection to the host.
type line struct {
	isIn  bool // the host has let us in
	token string
	// epoch is the greatest that any host of the room has shown. A host with a lesser one has lost the room.
	epoch uint64
	host  netip.Addr // the host's address
	// others are further addresses of the host.
	others []netip.AddrPort
	// outside is the router's port that forwards to the beacon. saidOutside is the port that this connection was told.
	// 0 means none.
	outside, saidOutside uint16
	queued               int
}

// New returns a player's program.
func New(o Options, now time.Time) *Player {
	if o.NewPlan == nil {
		o.NewPlan = NewPlan
	}
	p := &Player{port: port{
		options: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), now: now,
		line: line{token: o.Hello.Token}, exposure: &discovery.Exposure{Max: o.Hello.Discreet},
	}}
	p.late.due, p.recall.cells = now.Add(o.Pace.Flush), o.Memory
	return p
}

// Token returns the proof of this player's place in the room.
func (p *Player) Token() string { return p.line.token }

// Hosts returns the further addresses that the host has announced.
func (p *Player) Hosts() []netip.AddrPort { return p.line.others }

// IsIn reports whether the host has let this connection in.
func (p *Player) IsIn() bool { return p.line.isIn }

// IsFinishing reports whether the program leaves as soon as the host has heard of the launch.
func (p *Player) IsFinishing() bool { return p.launch.finishing }

// Measuring returns the task of the [Run] that measures the list, 0 for none.
func (p *Player) Measuring() int {
	if p.round == nil {
		return 0
	}
	return p.round.run
}

// Next returns when the machine needs its next [Tick].
func (p *Player) Next() time.Time {
	next := p.late.due
	for _, s := range p.samplings() {
		if s.isResting() && s.at.Before(next) {
			next = s.at
		}
	}
	return next
}

// Step processes an input, and returns what to do about it, in this order.
func (p *Player) Step(in Input, now time.Time) []Output {
	p.now, p.outputs = now, nil
	switch in := in.(type) {
	case Connected:
		p.line.host = in.Host
		hello := p.options.Hello
		hello.Token, hello.Line = p.line.token, in.Line
		p.do(Send{hello})
	case Hear:
		if err := p.receive(in.Message); err != nil {
			p.do(Drop{err})
		}
	case Lost:
		p.line.isIn = false
		if p.round != nil {
			p.round.cutOff()
		}
	case Tick:
		p.tick(in)
	case Say:
		// The player's word is about this moment. A host that returns later does not get it.
		if !p.line.isIn {
			p.tell(Answered{sentence.Of("refused.away")})
		}
		p.send(in.Say)
	case Seen:
		p.seen(in)
	case Ran:
		p.ran(in)
	case Resting:
		p.line.queued = in.Queued
		p.rests(in.For)
	case Progressed:
		p.progressed(in)
	case Launched:
		p.launched(in)
	case Tried:
		p.errands.tried(&p.port, in)
	case Brought:
		p.errands.collected(&p.port, in)
	case Consented:
		p.survey.consented(&p.port, in)
	case Found:
		p.near.found(&p.port, in.Game, in.Servers)
	case StatusTold:
		p.told(in)
	case OthersAnswered:
		p.near.reached(&p.port, in.Servers)
	}
	return p.outputs
}

func (p *port) do(o Output) { p.outputs = append(p.outputs, o) }

func (p *port) tell(e Event) { p.do(Tell{e}) }

// send passes a message to the host, if connected.
func (p *port) send(m wire.Message) {
	if p.line.isIn {
		p.line.queued++
		p.do(Send{m})
	}
}

// begin returns the number of a new task.
func (p *port) begin() int {
	p.tasks++
	return p.tasks
}

// tick does what is due.
func (p *Player) tick(in Tick) {
	p.line.queued, p.line.outside = in.Queued, in.Outside
	if !p.now.Before(p.late.due) {
		p.flush()
		p.sayOutside()
		p.late.rang(p.now, p.options.Pace.Flush)
		p.sayLate()
	}
	for _, s := range p.samplings() {
		if s.isResting() && !p.now.Before(s.at) {
			p.sample(s)
		}
	}
}

// sayLate tells the host when this machine becomes busy or idle.
func (p *Player) sayLate() {
	if !p.line.isIn {
		return
	}
	if m, isNews := p.late.news(); isNews {
		p.send(m)
	}
}

// sayOutside tells the host the router's port that forwards to the beacon, if it has changed.
func (p *port) sayOutside() {
	if l := &p.line; l.isIn && l.outside != 0 && l.outside != l.saidOutside {
		l.saidOutside = l.outside
		p.send(wire.Outside{Port: l.outside})
	}
}

// ErrOutdated says that the host's epoch is older than another host's, so it has lost the room.
var ErrOutdated = errors.New("peer: the host no longer has the room")

// ErrFinished says that the program has done its work and leaves.
var ErrFinished = errors.New("peer: finished")

// ErrNothingSuitable says that the room found no server for everyone. Only a program that leaves after one round
// returns it.
var ErrNothingSuitable = errors.New("peer: no server suits everyone")

// receive acts on a message of the host.
func (p *Player) receive(m wire.Message) error {
	switch m := m.(type) {
	case wire.Welcome:
		return p.welcome(m)
	case wire.Refusal:
		return m
	case wire.Wait:
		p.tell(Waiting{m.Told()})
	case wire.Room:
		return p.roomChanged(m)
	case wire.List:
		p.list(m)
	case wire.Measure:
		return p.measure(m)
	case wire.Ask:
		return p.ask(m)
	case wire.Report:
		return p.known(m)
	case wire.Finalists:
		return p.verify(m)
	case wire.Survey:
		p.survey.hear(&p.port, m)
	case wire.Launch:
		if m.Epoch < p.line.epoch {
			return ErrOutdated
		}
		p.line.epoch = m.Epoch
		p.recall.keep(&p.port, p.round)
		p.goes(m)
	case wire.Delay:
		p.delay(m)
	case wire.Status:
		p.status(m)
	case wire.Look:
		p.near.lookAround(&p.port, m.Game, m.At)
	case wire.Answer:
		p.tell(Answered{m.Told()})
	default:
		return fmt.Errorf("peer: a %T from the host", m)
	}
	return nil
}

// roomChanged takes the newest state of the room.
func (p *Player) roomChanged(m wire.Room) error {
	if err := p.room.Merge(m); err != nil {
		return err
	}
	hasFailed := p.room.Room.Stage == wire.Failed
	if hasFailed && !p.failed {
		p.tellShown()
	}
	p.failed = hasFailed
	p.tell(RoomChanged{p.room})
	p.errands.run(&p.port, p.room.Room.Game)
	if p.options.Once && hasFailed {
		p.do(Leave{ErrNothingSuitable})
	}
	return nil
}

// welcome notes that the host let us in, and repeats everything that a new host needs to know.
func (p *Player) welcome(m wire.Welcome) error {
	if m.Version != wire.Version { // the host did not check our version
		return *wire.Refuse(wire.ReasonVersion, "refused.host-version", "host", m.Version, "program", wire.Version).
			Advising("refused.host-version-hint")
	}
	l := &p.line
	if m.Epoch < l.epoch {
		return ErrOutdated
	}
	isAgain := l.isIn // another host has taken over the room behind a connection that stayed open
	l.isIn, l.epoch = true, m.Epoch
	if isAgain {
		p.send(wire.Again{})
	}
	if m.Token != l.token {
		l.token = m.Token
		p.do(Keep{m.Token})
	}
	l.others = slices.DeleteFunc(m.Hosts, func(at netip.AddrPort) bool { return at.Port() == 0 || !mayAsk(l.host, at.Addr()) })
	p.isBack()
	p.errands.sayAgain(&p.port)
	p.recall.say(&p.port)
	l.saidOutside = 0
	p.sayOutside()
	p.late.told = 0 // this host has heard nothing yet
	if p.launch.newest != nil {
		p.send(*p.launch.newest)
	}
	if p.launch.finishing {
		p.do(Leave{ErrFinished})
	}
	if !isAgain {
		p.tell(Joined{m.Name, m.Page})
	}
	return nil
}
