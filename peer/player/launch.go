package player

import (
	"muster/discovery"
	"muster/host/wire"
)

// mostAgain is how often a host may have a game opened once more in a round: people who
// press a button do not press it oftener, and a host that lies opens no more.
const mostAgain = 20

// launch is how the player gets to the server that was chosen.
type launch struct {
	newest *wire.Launched // for a host that missed it
	// to is where that leads. The player may be asked for long, while the room looks for
	// seats for others.
	to   string
	task int // the newest
	// isOpen: the shell is at it.
	isOpen bool
	doubt  *doubt // of the newest; nil before any
	// sampling asks the server, if nobody knows it.
	sampling *sampling
	// again is the newest time at which the player asked for the game once more, and
	// agains how often that was in this round.
	again  int64
	agains int
	// isSaid: a connection has taken what came of the newest launch. A host that
	// ends with its round may hear it and be gone before the launch returns.
	isSaid bool
	// finishing: the program leaves as soon as the host has heard of the launch.
	finishing bool
}

// goes takes the player to the server, once a round, and once more whenever the player
// asks for that on the page, or the room goes elsewhere.
func (p *Player) goes(m wire.Launch) {
	l := &p.launch
	if l.newest != nil && l.newest.Round == m.Round {
		isAsked := l.newest.State == wire.LaunchAsking && l.to == m.Address
		if m.Again <= l.again || l.agains == mostAgain || isAsked {
			p.send(*l.newest)
			return
		}
		l.agains++
	} else {
		l.agains = 0
		p.tellShown()
	}
	l.again, l.to = m.Again, m.Address
	l.newest = &wire.Launched{Round: m.Round, State: wire.LaunchAsking}
	heard := p.heard()
	p.stop() // what was measured was for the choice
	p.stopLaunch()
	l.task = p.begin()
	l.doubt = newDoubt(p.round, m, heard)
	p.open()
}

// open has the shell take the player to the server, once it is known whether that is
// doubted.
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

// targetSampled goes on after the servers at the launch's address were asked.
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

// progressed reports to the host how far the newest launch got, now and after a
// lost connection.
func (p *Player) progressed(in Progressed) {
	l := &p.launch
	if in.Task == l.task { // or the room goes elsewhere by now
		l.newest = &wire.Launched{Round: l.newest.Round, State: in.State, Detail: in.Detail}
		l.isSaid = p.line.isIn && in.State != wire.LaunchAsking
		p.send(*l.newest)
	}
}

// launched ends the program, if one launch is what it was for.
func (p *Player) launched(in Launched) {
	l := &p.launch
	if in.Task != l.task {
		return // the room goes elsewhere by now
	}
	l.isOpen = false
	if !p.options.Once {
		return
	}
	if l.finishing = !p.line.isIn && !l.isSaid; !l.finishing { // else once the host has heard of the launch
		p.do(Leave{ErrFinished})
	}
}

// heard are the servers that answered this player in this round, with what they
// said of themselves. What the host says that they answered does not count.
func (p *Player) heard() map[int]*discovery.Info {
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
