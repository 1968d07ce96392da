package peer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// look is a second look at the finalists, under way or over.
type look struct {
	round, attempt int
	found          *wire.Verified // nil while it is under way
}

// verify looks at the finalists again and tells the host. A host that asks
// once more, after a lost connection, gets what was found.
func (p *peer) verify(m wire.Finalists) error {
	if p.round == nil || p.round.number != m.Round {
		return fmt.Errorf("peer: finalists of round %d without its list", m.Round)
	}
	if l := p.look; l != nil && l.round == m.Round && l.attempt == m.Attempt {
		p.sayVerified(l)
		return nil
	}
	for _, index := range m.Servers {
		if index < 0 || index >= len(p.round.servers) {
			return fmt.Errorf("peer: finalist %d of %d servers", index, len(p.round.servers))
		}
	}
	m.Servers = slices.DeleteFunc(m.Servers, func(index int) bool { return !p.round.mayAsk(index) })
	servers := make([]discovery.Server, len(m.Servers))
	for i, index := range m.Servers {
		servers[i] = p.round.servers[index]
	}
	l := &look{round: m.Round, attempt: m.Attempt}
	p.look = l
	p.inBackground(func(ctx context.Context) {
		found, err := p.sample(ctx, servers, m)
		if err != nil {
			p.fail(ctx, err)
			return
		}
		p.post(func() {
			l.found = &wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: found}
			p.sayVerified(l)
		})
	})
	return nil
}

func (p *peer) sayVerified(l *look) {
	if l.found != nil {
		p.send(*l.found)
	}
}

// sample asks each server m.Samples times, one packet each: what was repeated
// would hide the loss.
func (p *peer) sample(ctx context.Context, servers []discovery.Server, m wire.Finalists) ([]wire.Finalist, error) {
	finalists := make([]wire.Finalist, len(servers))
	for i := range finalists {
		finalists[i] = wire.Finalist{Server: m.Servers[i], RTTs: []float64{}}
	}
	first := time.Now().Add(time.Duration(m.After))
	every := max(time.Duration(m.Every), p.options.pace.sample)
	for n := range m.Samples {
		if err := sleep(ctx, time.Until(first.Add(time.Duration(n)*every))); err != nil {
			return nil, err
		}
		results, err := p.sampleOnce(ctx, m.Game, servers)
		if err != nil {
			return nil, err
		}
		for i := range finalists {
			addSample(&finalists[i], results[i])
		}
	}
	return finalists, nil
}

// sampleOnce asks each server once. Whoever has not answered when a repeat would
// be due is lost this time.
func (p *peer) sampleOnce(ctx context.Context, game string, servers []discovery.Server) ([]discovery.Result, error) {
	results := make([]discovery.Result, len(servers))
	plan := asking{discovery.NewConventional(len(servers)), results}
	patience, cancel := context.WithTimeout(ctx, p.options.pace.patience)
	defer cancel()
	err := p.scanner.run(patience, task{
		game: game, servers: servers, plan: plan, seen: func(r discovery.Result) { results[r.Server] = r },
	})
	if patience.Err() != nil {
		err = ctx.Err()
	}
	return results, err
}

// asking takes the servers that it names to be lost, until it is known better.
type asking struct {
	discovery.Plan
	results []discovery.Result
}

func (a asking) Next() (discovery.Probe, discovery.Verdict) {
	probe, verdict := a.Plan.Next()
	if verdict == discovery.Go {
		a.results[probe.Server].State = discovery.Lost
	}
	return probe, verdict
}

// addSample notes one more answer or silence. One answer makes a server
// answered; only if all samples are silent is it lost.
func addSample(f *wire.Finalist, r discovery.Result) {
	if r.State == discovery.Unprobed {
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

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
