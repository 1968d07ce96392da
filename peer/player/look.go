package player

import (
	"fmt"
	"slices"

	"muster/discovery"
	"muster/host/wire"
)

// look is a second look at the finalists, running or finished.
type look struct {
	round, attempt int
	servers        []int // as they were asked for
	forbidden      []wire.Finalist
	sampling       *sampling      // nil once finished
	found          *wire.Verified // nil while running
}

// verify measures the finalists again and reports them to the host. If a host repeats the request after a lost
// connection, it gets the earlier findings. A host that took the room over may give the number of a look of which it
// has not heard to another one.
func (p *Player) verify(m wire.Finalists) error {
	r := p.round
	if r == nil || r.number != m.Round {
		return fmt.Errorf("peer: finalists of round %d without its list", m.Round)
	}
	if len(m.Servers) == 0 {
		p.stop() // the organiser will not wait
		return nil
	}
	if l := p.look; l != nil && l.round == m.Round && l.attempt == m.Attempt && slices.Equal(l.servers, m.Servers) {
		if l.found != nil {
			p.send(*l.found)
		}
		return nil
	}
	for _, index := range m.Servers {
		if index < 0 || index >= len(r.servers) {
			return fmt.Errorf("peer: finalist %d of %d servers", index, len(r.servers))
		}
	}
	p.stop()
	p.look = &look{round: m.Round, attempt: m.Attempt, servers: m.Servers}
	m.Servers = slices.DeleteFunc(slices.Clone(m.Servers), func(index int) bool {
		mayAsk := r.mayAsk(index)
		if !mayAsk {
			p.look.forbidden = append(p.look.forbidden, wire.Finalist{Server: index, State: discovery.Forbidden, RTTs: []float64{}})
		}
		return !mayAsk
	})
	if m.Max > 0 {
		p.exposes(m.Max)
	}
	p.look.sampling = p.newSampling(m, r.these(m.Servers))
	p.sampleFirst(p.look.sampling)
	return nil
}

func (r *round) these(indexes []int) []discovery.Server {
	servers := make([]discovery.Server, len(indexes))
	for i, index := range indexes {
		servers[i] = r.servers[index]
	}
	return servers
}

// fewSamples is the longest look that reports only at its end. A longer one reports after each sample, so that people
// see it, and so that it counts if the organiser cuts the look short.
const fewSamples = 5

// looked continues after a sample of the finalists.
func (p *Player) looked(s *sampling, err error) {
	l := p.look
	verified := wire.Verified{Round: l.round, Attempt: l.attempt}
	switch {
	case err != nil:
		p.do(Leave{err}) // for example, a firewall lets no probe out
	case !s.isOver() && s.wants.Samples > fewSamples:
		verified.Servers, verified.More = append(soFar(s.found), l.forbidden...), true
		p.send(verified)
	case s.isOver():
		verified.Servers = append(s.found, l.forbidden...)
		l.found = &verified
		p.send(verified)
	}
	if err != nil || s.isOver() {
		l.sampling = nil
	}
}
