package sim

import (
	"fmt"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plans"
	"muster/host/room"
	"muster/host/wire"
)

const (
	// sampleEvery is the time from one sample of a finalist to the next, and patience
	// how long a sample waits, as package peer has them.
	sampleEvery, patience = 1100 * time.Millisecond, 900 * time.Millisecond
	// looks are packet pairs that no discovery uses.
	looks = 1 << 40
)

// peer is a player's program in a session: it does as package peer does, on what its
// vantage sees.
type peer struct {
	*session
	name      string
	vantage   *Vantage
	options   ReplayOptions
	connected bool
	// plan is how the player's own plan goes about the list.
	plan discovery.PlanOptions
	// known is what the player had found out before the room asked.
	known []discovery.Result

	// round is the one that the player measures in, since it began.
	round  int
	began  time.Duration
	agenda *discovery.Agenda
	replay *replay
	// results are those that the host was not told of, sent is how many it was.
	results []discovery.Result
	sent    int
	said    bool // done
	// isHeld: the host says what to ask. A second look ends that; it does not wait for it.
	isHeld bool
	// discreet is how many servers the player wants to be asked for at most, 0 for no bound.
	discreet int
	// told is how many servers the player was told will see the address at most, 0 for all,
	// and shown are those that have, or may have.
	told  int
	shown map[int]bool
	// late is by how much the player's timers ring late, 0 if nobody is told.
	late time.Duration
	// hostile is how a player's program does otherwise, if it does.
	hostile *tactics
}

// joins has the player come in, or back in.
func (p *peer) joins() {
	join := room.Join{Hello: wire.Hello{Version: wire.Version, Code: p.room.Keys().Code, Name: p.name, Token: p.name, Discreet: p.discreet}, Token: p.name}
	if p.Homes != nil {
		join.From.Addr = p.Homes[slices.Index(p.peers, p)]
	}
	p.step(join)
	if p.late > 0 {
		p.says(wire.Late{By: discovery.Millis(p.late)})
	}
}

// honesty is 1 for a player whose program does as package peer does.
func (p *peer) honesty() int {
	if p.hostile == nil {
		return 1
	}
	return 0
}

// says sends the host a message.
func (p *peer) says(m wire.Message) {
	p.after(oneWay, func() { p.tells(m) })
}

// tells has the host hear a message, or what a hostile player makes of it.
func (p *peer) tells(m wire.Message) {
	if p.hostile != nil {
		p.hostile.tell(p, m)
		return
	}
	p.step(room.Hear{Player: p.name, Message: m})
	if launched, is := m.(wire.Launched); is && launched.State == wire.LaunchStarted {
		p.started++
	}
}

// receive acts on a message of the host.
func (p *peer) receive(m wire.Message) {
	if p.hostile != nil && p.hostile.hears != nil && !p.hostile.hears(p, m) {
		return
	}
	switch m := m.(type) {
	case wire.Measure:
		p.measure(m)
	case wire.Ask:
		p.shows(m.Servers...)
		p.replay.advance(p.now)
		p.agenda.Allow(m.Own)
		p.agenda.Ask(m.Servers)
		p.replay.wake(p.now)
	case wire.Finalists:
		p.told = max(p.told, m.Most)
		p.shows(m.Servers...)
		found := make([]wire.Finalist, len(m.Servers))
		for i, server := range m.Servers {
			found[i] = wire.Finalist{Server: server, RTTs: []float64{}}
		}
		p.look(m, p.now+time.Duration(m.After), 0, found)
	case wire.Launch:
		if p.hostile == nil {
			p.target = m.Address
		}
		p.says(wire.Launched{Round: m.Round, State: wire.LaunchStarted})
	}
}

// measure begins the round's measuring.
func (p *peer) measure(m wire.Measure) {
	if p.round == m.Round {
		p.told = max(p.told, m.Most)
		return // back again, it goes on
	}
	p.told, p.shown = m.Most, map[int]bool{}
	if p.isHeld = m.Strategy == wire.Coordinated; p.isHeld { // any plan will do: only people who vote long have it go on
		m.Strategy = string(discovery.Conventional)
	}
	plan, err := plans.New(discovery.Strategy(m.Strategy), p.vantage.Topology(), p.plan)
	if err != nil {
		p.err = err
		return
	}
	if p.began, p.agenda = p.now, discovery.NewAgenda(plan, p.known); p.isHeld {
		p.agenda.Hold()
	}
	isFirst := p.round == 0
	p.round, p.results, p.sent, p.said = m.Round, nil, 0, false
	p.replay = newReplay(p.vantage, p.agenda, p.options, p.now, func(r discovery.Result) {
		r.At = p.replay.now - p.began
		p.results = append(p.results, r)
		p.shows(r.Server)
	})
	if !isFirst {
		return // its clock strikes already
	}
	// Nobody's clock strikes with another's.
	p.after(flushEvery*time.Duration(slices.Index(p.peers, p))/time.Duration(len(p.peers)), p.flush)
}

// shows holds the host to what the player was told: no more servers see the address.
func (p *peer) shows(servers ...int) {
	if p.shown == nil {
		p.shown = map[int]bool{}
	}
	for _, server := range servers {
		p.shown[server] = true
	}
	if p.told > 0 && len(p.shown) > p.told && p.err == nil {
		p.err = fmt.Errorf("sim: %d servers see the address of %s, who was told of %d", len(p.shown), p.name, p.told)
	}
}

// flush tells the host what it has not heard yet, again and again.
func (p *peer) flush() {
	p.replay.advance(p.now)
	if len(p.results) > 0 {
		infos, report := p.report(p.results)
		p.says(infos)
		p.says(report)
		p.results = nil
	}
	if p.isIdle() && !p.said {
		p.said = true
		p.says(wire.Done{Round: p.round})
	}
	if p.hostile != nil && p.hostile.each != nil {
		p.hostile.each(p)
	}
	p.after(flushEvery, p.flush)
}

// isIdle reports whether the prober has nothing to do.
func (p *peer) isIdle() bool {
	return p.replay.verdict == discovery.Stop && len(p.replay.pending.heap) == 0
}

// report is what the host is told of results, and of what servers say of themselves.
func (p *peer) report(results []discovery.Result) (wire.Infos, wire.Report) {
	infos := wire.Infos{Round: max(1, p.round)}
	report := wire.Report{Round: max(1, p.round), First: p.sent, Now: p.now - p.began}
	for _, r := range results {
		if r.State == discovery.Answered {
			info := p.infoOf(r.Server)
			info.Name = ""
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: r.Server, Info: info})
		}
		r.RTT = wire.RoundRTT(r.RTT)
		report.Results = append(report.Results, r)
	}
	p.sent += len(results)
	return infos, report
}

// look takes the n-th sample of each finalist as soon as it is time, after a plan of the
// player's own if that is under way, and tells the host after the last.
func (p *peer) look(m wire.Finalists, first time.Duration, n int, found []wire.Finalist) {
	p.replay.advance(p.now)
	wait := first + time.Duration(n)*max(sampleEvery, time.Duration(m.Every)) - p.now
	if !p.isIdle() && !p.isHeld {
		wait = max(wait, tickEvery)
	}
	if wait > 0 {
		p.after(wait, func() { p.look(m, first, n, found) })
		return
	}
	last := time.Duration(0)
	for i := range found {
		f, asked := &found[i], time.Duration(i)*p.replay.gap
		rtt, lost := p.vantage.Pair(f.Server, looks|uint64(m.Attempt)<<32|p.options.Run<<8|uint64(n))
		if lost = lost || asked+rtt > patience; lost {
			last = patience
		} else {
			last = max(last, asked+rtt)
		}
		f.Sent++
		if !lost {
			info := p.infoOf(f.Server)
			f.State, f.Info = discovery.Answered, &info
			f.RTTs = append(f.RTTs, float64(wire.RoundRTT(rtt))/float64(time.Millisecond))
		} else if f.State != discovery.Answered {
			f.State = discovery.Lost
		}
	}
	p.after(last, func() {
		if n+1 < m.Samples {
			p.look(m, first, n+1, found)
		} else {
			p.says(wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: found})
		}
	})
}
