package player

import (
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// maxAgain bounds how often a host may reopen a game in a round. People do not press the button more often, and a
// lying host opens no more.
const maxAgain = 20

// launch takes the player to the chosen server.
type launch struct {
	newest *wire.Launched // repeated to a host that missed it
	// to is the address of the launch. The shell may be asking the player for a long time, while the room looks for
	// seats for others.
	to   string
	task int // of the newest launch
	// isOpen says that the shell is working on it.
	isOpen bool
	doubt  *doubt // about the newest launch; nil before any
	// sampling asks the server if this player has not heard from it.
	sampling *sampling
	// again is when the player last asked to reopen the game; agains counts those requests in this round.
	again  int64
	agains int
	// isSaid says that a connection has carried the outcome of the newest launch. A host that ends with its round may
	// hear it and be gone before the launch returns.
	isSaid bool
	// finishing says that the program leaves as soon as the host has heard of the launch.
	finishing bool
	// delayed is the round in which the program holds the game's packets, 0 for none.
	delayed int
	// status is the task that asks the game's server who plays, 0 for none. It was begun at asked.
	status int
	asked  time.Time
}

// goes takes the player to the server: once a round, and again whenever the player asks for it on the page or the room
// moves to another server.
func (p *Player) goes(m wire.Launch) {
	l := &p.launch
	if l.newest != nil && l.newest.Round == m.Round {
		isAsked := l.newest.State == wire.LaunchAsking && l.to == m.Address
		if m.Again <= l.again || l.agains == maxAgain || isAsked {
			p.send(*l.newest)
			return
		}
		l.agains++
	} else {
		l.agains = 0
		p.tellShown()
	}
	l.again, l.to = m.Again, m.Address
	if l.delayed != 0 && l.delayed != m.Round {
		p.delay(wire.Delay{})
	}
	l.newest = &wire.Launched{Round: m.Round, State: wire.LaunchAsking}
	heard := p.heardServers()
	p.stop() // the measuring was for the choice
	p.stopLaunch()
	l.task = p.begin()
	l.doubt = newDoubt(p.round, m, heard)
	p.open()
}

// open starts the launch, once it is known whether there is a doubt.
func (p *Player) open() {
	l := &p.launch
	d := l.doubt
	if d.isKnown {
		l.isOpen = true
		p.do(Launch{l.task, d.launch, d.reason})
		return
	}
	l.sampling = p.newSampling(wire.Finalists{Game: d.launch.Game, Servers: d.unheard, Samples: 1}, d.round.these(d.unheard))
	p.sampleFirst(l.sampling)
}

// targetSampled continues after the servers at the launch's address were asked.
func (p *Player) targetSampled(s *sampling, err error) {
	p.launch.sampling = nil
	p.launch.doubt.learn(s.found, err)
	p.open()
}

// stopLaunch ends the newest launch.
func (p *Player) stopLaunch() {
	p.drop(&p.launch.sampling)
	if p.launch.isOpen {
		p.do(Stop{p.launch.task})
	}
	p.launch.isOpen = false
}

// progressed tells the host how far the newest launch got, now and after a lost connection.
func (p *Player) progressed(in Progressed) {
	l := &p.launch
	if in.Task == l.task { // otherwise the room has since chosen another server
		l.newest = &wire.Launched{Round: l.newest.Round, State: in.State, Detail: in.Detail}
		l.isSaid = p.line.isIn && in.State != wire.LaunchAsking
		p.send(*l.newest)
	}
}

// launched ends the program that was started for one launch only.
func (p *Player) launched(in Launched) {
	l := &p.launch
	if in.Task != l.task {
		return // the room has since chosen another server
	}
	l.isOpen = false
	if !p.options.Once {
		return
	}
	if l.finishing = !p.line.isIn && !l.isSaid; !l.finishing { // otherwise leave once the host has heard of the launch
		p.do(Leave{ErrFinished})
	}
}

// heardServers returns the servers that answered this player in this round, and what they said of themselves. Answers that
// only the host reports do not count.
func (p *Player) heardServers() map[int]*discovery.Info {
	heard := map[int]*discovery.Info{}
	note := func(server int, info *discovery.Info) {
		if info != nil || heard[server] == nil {
			heard[server] = info
		}
	}
	if r := p.round; r != nil {
		results := r.results[r.known:]
		for i := range results {
			if results[i].State == discovery.Answered {
				note(results[i].Server, results[i].Info)
			}
		}
	}
	if l := p.look; l != nil && l.found != nil {
		for i := range l.found.Servers {
			if f := &l.found.Servers[i]; f.State == discovery.Answered {
				note(f.Server, f.Info)
			}
		}
	}
	return heard
}

// tellShown tells the player who has seen their address in the round.
func (p *Player) tellShown() {
	if p.round == nil {
		return
	}
	if shown := p.exposure.Of(len(p.round.servers)); shown.Servers+shown.Places > 0 {
		p.tell(Shown{shown})
	}
}
