package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// unforeseen is the part of the time between two samples, as its reciprocal, by which
// it varies: a server that knew when it is asked could answer beforehand.
const unforeseen = 4

// look is a second look at the finalists, under way or over.
type look struct {
	round, attempt int
	found          *wire.Verified // nil while it is under way
}

// verify looks at the finalists again and reports them to the host. A host that asks
// once more, after a lost connection, gets what was found.
func (s *session) verify(m wire.Finalists) error {
	if s.round == nil || s.round.number != m.Round {
		return fmt.Errorf("peer: finalists of round %d without its list", m.Round)
	}
	if len(m.Servers) == 0 {
		s.stop() // the organiser will not wait
		return nil
	}
	if l := s.look; l != nil && l.round == m.Round && l.attempt == m.Attempt {
		s.sayVerified(l)
		return nil
	}
	for _, index := range m.Servers {
		if index < 0 || index >= len(s.round.servers) {
			return fmt.Errorf("peer: finalist %d of %d servers", index, len(s.round.servers))
		}
	}
	var forbidden []wire.Finalist
	m.Servers = slices.DeleteFunc(slices.Clone(m.Servers), func(index int) bool {
		mayAsk := s.round.mayAsk(index)
		if !mayAsk {
			forbidden = append(forbidden, wire.Finalist{Server: index, State: discovery.Forbidden, RTTs: []float64{}})
		}
		return !mayAsk
	})
	servers := make([]discovery.Server, len(m.Servers))
	for i, index := range m.Servers {
		servers[i] = s.round.servers[index]
	}
	if m.Most > 0 {
		s.exposes(m.Most)
	}
	l := &look{round: m.Round, attempt: m.Attempt}
	s.look = l
	s.inBackground(func(ctx context.Context) {
		found, err := s.sample(ctx, &s.scanner, servers, m, func(soFar []wire.Finalist) {
			s.post(func() {
				s.send(wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: append(soFar, forbidden...), More: true})
			})
		})
		if err != nil {
			if ctx.Err() == nil {
				s.leave(err) // such as a firewall's that lets no probe out
			}
			return
		}
		s.post(func() {
			l.found = &wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: append(found, forbidden...)}
			s.sayVerified(l)
		})
	})
	return nil
}

func (s *session) sayVerified(l *look) {
	if l.found != nil {
		s.send(*l.found)
	}
}

// A look of more samples than fewSamples tells after each what it has found so far, so that
// people see it, and it counts if the organiser cuts the look short.
const fewSamples = 5

// sample asks each server m.Samples times, one packet each: what was repeated
// would hide the loss. It tells what it has found so far if that takes long.
func (s *session) sample(ctx context.Context, by *scanner, servers []discovery.Server, m wire.Finalists, tell func([]wire.Finalist)) ([]wire.Finalist, error) {
	finalists := make([]wire.Finalist, len(servers))
	for i := range finalists {
		finalists[i] = wire.Finalist{Server: m.Servers[i], RTTs: []float64{}}
	}
	at := time.Now().Add(time.Duration(m.After))
	every := max(time.Duration(m.Every), s.options.pace.sample)
	for taken := range m.Samples {
		if err := sleep(ctx, time.Until(at)); err != nil {
			return nil, err
		}
		at = at.Add(every)
		if m.Every == 0 { // nobody waits for a turn behind this one
			at = at.Add(rand.N(every / unforeseen))
		}
		results := make([]discovery.Result, len(servers))
		plan := asked{discovery.NewConventional(len(servers)), results}
		// The host has players take turns: nobody needs to share.
		patience, cancel := context.WithTimeout(ctx, s.options.pace.patience)
		err := by.run(patience, 1, m.Game, servers, plan, func(r discovery.Result) { results[r.Server] = r })
		if patience.Err() != nil {
			err = ctx.Err() // who has not answered by now is lost this time
		}
		cancel()
		if err != nil {
			return nil, err
		}
		for i := range finalists {
			addSample(&finalists[i], results[i])
		}
		if m.Samples > fewSamples && taken+1 < m.Samples {
			tell(soFar(finalists))
		}
	}
	return finalists, nil
}

// soFar is a copy of what was found that says nothing of the servers themselves: that comes
// at the end.
func soFar(finalists []wire.Finalist) []wire.Finalist {
	copied := slices.Clone(finalists)
	for i := range copied {
		copied[i].RTTs, copied[i].Info = slices.Clone(copied[i].RTTs), nil
	}
	return copied
}

// asked takes the servers that were asked to be lost, until it is known better.
type asked struct {
	discovery.Plan
	results []discovery.Result
}

// Asked makes it a [discovery.Witness].
func (a asked) Asked(server int) { a.results[server].State = discovery.Lost }

// addSample notes one more answer or silence. One answer makes a server
// answered; only if all samples are silent is it lost.
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
