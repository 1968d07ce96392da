package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/peer/player"
	"muster/selection/memory"
)

const (
	// looks is the first number of packet pairs that no discovery uses.
	looks = 1 << 40
	// warmUp is how long programs run before there is a list.
	warmUp = 10 * time.Second
)

// Peer runs a player's program in a session, with its vantage's view and the session's clock. The
// player goes wherever the room says.
type Peer struct {
	*Session
	name      string
	ID        people.ID // in the room, once it has let the player in
	Vantage   *Vantage
	options   ReplayOptions
	Connected bool
	// plan configures the player's own discovery.
	plan discovery.PlanOptions
	// known are the player's results from before the room asked.
	known []discovery.Result
	// discreet is the most servers that the player wants to be asked for, 0 for no bound.
	discreet int
	// country is that of the player's address by the host's tables.
	country string
	// Memory is what the program remembers.
	Memory []memory.Cell
	// late is how late the player's timers fire.
	late time.Duration
	// Hostile is what a hostile player's program does differently from package player.
	Hostile Tactics
	// each is the time of its next own action.
	each time.Duration

	program *player.Player
	lines   int           // its connections
	strikes time.Duration // when its clock strikes next
	exchanged
	// replay executes the measuring, which is the current task unless it is 0. seen are its
	// results.
	replay *replay
	task   int
	seen   []discovery.Result
}

// Tactics replace the behaviour of a program that may say anything at any time.
type Tactics interface {
	// Tell passes a message to the host, changed or not.
	Tell(p *Peer, m wire.Message)
	// Accepts takes the host's message before the program does, and reports whether the program
	// acts on it.
	Accepts(p *Peer, m wire.Message) bool
	// Act is called ten times a second once the measuring has begun.
	Act(p *Peer)
}

// exchanged notes what host and player have told each other.
type exchanged struct {
	// Round is the measuring round. began is when it started. sent is how many results the host has
	// been told.
	Round int
	Began time.Duration
	Sent  int
	// attempt is the newest look, and samples is how often it has sampled.
	attempt, samples int
}

// Join brings the player in, or back in.
func (p *Peer) Join() {
	if p.program == nil {
		p.startProgram()
	}
	p.lines++
	p.Feed(player.Connected{Line: p.lines, Host: netip.IPv6Loopback()})
}

// startProgram starts the program, some time before the session. No two programs' clocks fire together.
func (p *Peer) startProgram() {
	number := slices.Index(p.Peers, p)
	phase := OneWay + FlushEvery*time.Duration(number)/time.Duration(len(p.Peers))
	p.program = player.New(player.Options{
		Hello:   wire.Hello{Version: wire.Version, Code: p.Room.Keys().Code, Name: p.name, Token: p.name, Discreet: p.discreet},
		NewPlan: p.newPlan, Pace: player.RealPace, Seed: p.options.Run<<16 + uint64(number),
		Memory: p.Memory,
	}, Epoch.Add(phase-warmUp))
	for at := p.next(); at < 0; at = p.next() {
		p.program.Step(player.Tick{}, Epoch.Add(at))
	}
}

// next returns the time of the program's next timer.
func (p *Peer) next() time.Duration { return p.program.Next().Sub(Epoch) + p.late }

// say sends the host a message.
func (p *Peer) say(m wire.Message) {
	p.After(OneWay, func() { p.deliver(m) })
}

// deliver passes a message to the host, or a hostile player's version of it.
func (p *Peer) deliver(m wire.Message) {
	if p.Hostile != nil {
		p.Hostile.Tell(p, m)
		return
	}
	p.Step(room.Hear{Player: p.ID, Message: m})
	if launched, is := m.(wire.Launched); is && launched.State == wire.LaunchStarted {
		p.started++
	}
}

// receive acts on a message of the host.
func (p *Peer) receive(m wire.Message) {
	if p.Hostile != nil && !p.Hostile.Accepts(p, m) {
		return
	}
	p.catchUp()
	switch m := m.(type) {
	case wire.Measure:
		if p.Round != m.Round {
			p.Round, p.Began, p.Sent, p.replay = m.Round, p.Now, 0, nil
		}
		if m.Known = len(p.known); m.Known > 0 {
			p.Feed(player.Hear{Message: m})
			p.Feed(player.Hear{Message: wire.Report{Round: m.Round, Results: p.known}})
			return
		}
	case wire.Finalists:
		if p.attempt != m.Attempt {
			p.attempt, p.samples = m.Attempt, 0
		}
	}
	p.Feed(player.Hear{Message: m})
	if _, is := m.(wire.Ask); is && p.task != 0 {
		p.replay.wake(p.Now)
	}
}

// Feed gives the program an input, and carries out what it asks for.
func (p *Peer) Feed(in player.Input) {
	for _, o := range p.program.Step(in, Epoch.Add(p.Now)) {
		switch o := o.(type) {
		case player.Remember:
			p.Memory = o.Cells
		case player.Send:
			p.send(o.Message)
		case player.Run:
			if o.Patience > 0 {
				p.sample(o)
			} else {
				p.measure(o)
			}
		case player.Stop:
			if o.Task == p.task {
				p.replay.pending = queue[int]{}
				p.task = 0
				p.Feed(player.Ran{Task: o.Task})
			}
		case player.Launch:
			if p.Hostile == nil {
				p.Target = o.Launch.Address
			}
			p.Feed(player.Progressed{Task: o.Task, State: wire.LaunchStarted})
			p.Feed(player.Launched{Task: o.Task})
		case player.Drop:
			p.fail(o.Err)
		case player.Leave:
			p.fail(o.Err)
		}
	}
	p.setTimer()
}

func (p *Peer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// setTimer sets the clock for the program's next timer.
func (p *Peer) setTimer() {
	at := p.next()
	if p.strikes > p.Now && p.strikes <= at {
		return
	}
	p.strikes = at
	p.After(max(0, at-p.Now), func() {
		if p.strikes != at {
			return // the clock had to fire sooner
		}
		p.strikes = 0
		p.catchUp()
		p.Feed(player.Tick{})
		if p.Hostile != nil && p.Round > 0 && p.Now >= p.each {
			p.each = p.Now + FlushEvery
			p.Hostile.Act(p)
		}
	})
}

// send passes on what the program says to the host.
func (p *Peer) send(m wire.Message) {
	switch m := m.(type) {
	case wire.Hello:
		join := room.Join{Hello: m, Token: p.name, From: room.Origin{Country: p.country}}
		if p.Homes != nil {
			join.From.Addr = p.Homes[slices.Index(p.Peers, p)]
		}
		p.Step(join)
		return
	case wire.Report:
		p.Sent = m.First + len(m.Results)
	}
	p.say(m)
}

// newPlan returns the player's own plan. If the host names the servers any plan will do: it goes on
// only while people vote for long.
func (p *Peer) newPlan(m wire.Measure, _ []discovery.Server) (discovery.Plan, error) {
	strategy := discovery.Strategy(m.Strategy)
	if m.Strategy == wire.Coordinated {
		strategy = discovery.Conventional
	}
	return plan.New(strategy, p.Vantage.Topology(), p.plan)
}

// measure executes the measuring of a list.
func (p *Peer) measure(o player.Run) {
	if p.task = o.Task; p.replay != nil {
		p.replay.wake(p.Now)
		return
	}
	note := func(r discovery.Result) {
		r.At, r.RTT, r.Info = p.replay.now-p.Began, wire.RoundRTT(r.RTT), nil
		switch r.State {
		case discovery.Answered:
			info := p.InfoOf(r.Server)
			r.Info = &info
		case discovery.Forbidden:
			p.failExceeded()
		}
		p.seen = append(p.seen, r)
	}
	p.replay = newReplay(p.Vantage, nil, p.options, p.Now, note)
	p.replay.plan = o.Watched(note)
}

// failExceeded fails the session because the host asks for more servers than it told the player.
func (p *Peer) failExceeded() {
	p.fail(fmt.Errorf("sim: more servers are to see the address of %s than the player was told of", p.name))
}

// catchUp tells the program what has been measured by now.
func (p *Peer) catchUp() {
	if p.task == 0 {
		return
	}
	p.replay.advance(p.Now)
	if seen := p.seen; len(seen) > 0 {
		p.seen = nil
		p.Feed(player.Seen{Task: p.task, Results: seen})
	}
	if task := p.task; task != 0 && p.replay.verdict == discovery.Stop && len(p.replay.pending.heap) == 0 {
		p.task = 0
		p.Feed(player.Ran{Task: task})
	}
}

// sample probes servers once each, one after the other.
func (p *Peer) sample(o player.Run) {
	seen := player.Seen{Task: o.Task}
	plan := o.Watched(func(discovery.Result) { p.failExceeded() })
	n := looks | uint64(p.attempt)<<32 | p.options.Run<<8 | uint64(p.samples)
	p.samples++
	gap := time.Duration(float64(time.Second) / p.options.Rate)
	asked, last := time.Duration(0), time.Duration(0)
	busy := p.options.Shift.at(float64(len(p.replay.results)) / float64(len(p.Vantage.Servers)))
	for asked < o.Patience { // a slow line does not ask all of them
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			break
		}
		server := slices.IndexFunc(p.Vantage.Servers, func(s discovery.Server) bool { return s.Addr == o.Servers[probe.Server].Addr })
		r := discovery.Result{Server: probe.Server, State: discovery.Lost}
		rtt, lost := p.Vantage.Pair(server, n)
		if rtt += busy; lost || asked+rtt > o.Patience {
			last = o.Patience
		} else {
			info := p.InfoOf(server)
			r.State, r.RTT, r.Info = discovery.Answered, rtt, &info
			last = max(last, asked+rtt)
		}
		seen.Results = append(seen.Results, r)
		asked += gap
	}
	p.After(last, func() {
		p.Feed(seen)
		p.Feed(player.Ran{Task: o.Task})
	})
}

// knowledge returns the player's findings from before the room asked, as programs report them.
func (p *Peer) knowledge() (wire.Infos, wire.Report) {
	infos, report := wire.Infos{Round: 1}, wire.Report{Round: 1}
	for _, r := range p.known {
		if r.State == discovery.Answered {
			info := p.InfoOf(r.Server)
			info.Name = ""
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: r.Server, Info: info})
		}
		r.RTT = wire.RoundRTT(r.RTT)
		report.Results = append(report.Results, r)
	}
	return infos, report
}
