package player

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// unforeseen is the reciprocal of how much the time between two samples varies. A server that could predict a sample
// could answer before it arrives.
const unforeseen = 4

// minGap is the shortest time between two samples, whatever a host says of its servers. Four packets a second bother
// no server.
const minGap = 250 * time.Millisecond

// sampling asks servers a few times, one packet each. Repeated packets would hide the loss.
type sampling struct {
	wants    wire.Finalists
	servers  []discovery.Server
	isPlaces bool
	at       time.Time // of the next sample
	taken    int
	task     int // the running sample, 0 for none
	results  []discovery.Result
	found    []wire.Finalist
}

// isResting reports whether a sampling waits for its next sample.
func (s *sampling) isResting() bool { return s.task == 0 }

func (s *sampling) isOver() bool { return s.taken >= s.wants.Samples }

// newSampling returns a sampling of servers, numbered as in the finalists.
func (p *port) newSampling(m wire.Finalists, servers []discovery.Server) *sampling {
	s := &sampling{wants: m, servers: servers, at: p.now.Add(time.Duration(m.After)), found: make([]wire.Finalist, len(servers))}
	for i := range s.found {
		s.found[i] = wire.Finalist{Server: m.Servers[i], RTTs: []float64{}}
	}
	return s
}

func (p *Player) samplings() (all []*sampling) {
	if p.look != nil && p.look.sampling != nil {
		all = append(all, p.look.sampling)
	}
	if p.launch.sampling != nil {
		all = append(all, p.launch.sampling)
	}
	if p.survey.sampling != nil {
		all = append(all, p.survey.sampling)
	}
	return all
}

// sampleFirst takes the first sample if it is due.
func (p *port) sampleFirst(s *sampling) {
	if !p.now.Before(s.at) {
		p.sample(s)
	}
}

func (p *port) sample(s *sampling) {
	pause := p.options.Pace.Sample
	if gap := time.Duration(s.wants.Gap); gap > 0 {
		pause = min(pause, max(minGap, gap))
	}
	every := max(time.Duration(s.wants.Every), pause)
	s.at = s.at.Add(every)
	if s.wants.Every == 0 { // no other player waits for a turn after this one
		s.at = s.at.Add(time.Duration(p.rng.Int64N(int64(every / unforeseen))))
	}
	s.task, s.results = p.begin(), make([]discovery.Result, len(s.servers))
	p.do(Run{
		Task: s.task, Game: s.wants.Game, Servers: s.servers, Plan: asked{discovery.NewConventional(len(s.servers)), s.results},
		Exposure: p.exposure, IsPlaces: s.isPlaces, Patience: p.options.Pace.Patience, Began: p.now,
		Among:    1, // the host makes players take turns, so nobody shares
		MinReach: discovery.ReachOf(p.line.host),
	})
}

// sampled notes a sample and continues its purpose.
func (p *Player) sampled(s *sampling, err error) {
	s.task = 0
	if err == nil {
		s.taken++
		for i := range s.found {
			addSample(&s.found[i], s.results[i])
		}
	}
	switch {
	case s == p.survey.sampling:
		p.survey.sampled(&p.port, s, err)
	case s == p.launch.sampling:
		p.targetSampled(s, err)
	default:
		p.looked(s, err)
	}
	if err == nil && !s.isOver() {
		p.sampleFirst(s)
	}
}

// drop ends a running sampling.
func (p *port) drop(s **sampling) {
	if *s != nil && (*s).task != 0 {
		p.do(Stop{(*s).task})
	}
	*s = nil
}

// soFar returns a copy of the findings without the servers' own facts, which come at the end.
func soFar(finalists []wire.Finalist) []wire.Finalist {
	copied := slices.Clone(finalists)
	for i := range copied {
		copied[i].RTTs, copied[i].Info = slices.Clone(copied[i].RTTs), nil
	}
	return copied
}

// asked counts a probed server as lost until an answer arrives.
type asked struct {
	discovery.Plan
	results []discovery.Result
}

// Asked implements [discovery.SendObserver].
func (a asked) Asked(server int) { a.results[server].State = discovery.Lost }

// addSample notes an answer or a silence. One answer makes a server answered; it is lost only if all samples are
// silent.
func addSample(f *wire.Finalist, r discovery.Result) {
	if !r.State.Asked() {
		if f.Sent == 0 {
			f.State = r.State
		}
		return
	}
	f.Sent++
	if r.State == discovery.Answered {
		f.State = discovery.Answered
		f.RTTs = append(f.RTTs, float64(wire.RoundRTT(r.RTT))/float64(time.Millisecond))
	} else if f.State != discovery.Answered {
		f.State = r.State
	}
	if r.Info != nil {
		f.Info = r.Info
	}
}
