package player

import (
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
)

// statusGap is the least time between two questions who plays. A host that asks more often is ignored.
const statusGap = 20 * time.Second

// delay changes how long the shell holds the game's packets.
func (p *Player) delay(m wire.Delay) {
	p.launch.delayed = m.Round
	p.do(Hold{time.Duration(m.By)})
}

// status asks the server to which the player was sent who plays there, and no other server.
func (p *Player) status(m wire.Status) {
	l := &p.launch
	if l.newest == nil || l.newest.Round != m.Round || l.status != 0 || !l.asked.IsZero() && p.now.Sub(l.asked) < statusGap {
		return
	}
	to := l.doubt.launch
	if at, err := hostport.Parse(to.Address); err != nil || !hostport.IsName(at.Addr()) && !mayAsk(p.line.host, at.Addr()) {
		return
	}
	l.status, l.asked = p.begin(), p.now
	p.do(AskStatus{l.status, to, discovery.ReachOf(p.line.host)})
}

// told reports the players' pings to the host.
func (p *Player) told(in StatusTold) {
	l := &p.launch
	if in.Task != l.status {
		return
	}
	l.status = 0
	m := wire.Pings{Round: l.newest.Round, Pings: []wire.NamedPing{}}
	for _, name := range slices.Sorted(maps.Keys(in.Pings)) {
		if len(m.Pings) < wire.MaxPings {
			m.Pings = append(m.Pings, wire.NamedPing{Name: name, MS: float64(in.Pings[name]) / float64(time.Millisecond)})
		}
	}
	p.send(m)
}
