package peer

import (
	"context"
	"fmt"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// sampleEvery spaces the samples of a finalist: servers answer an address about
// once a second.
const sampleEvery = 1100 * time.Millisecond

// verify looks at the finalists again and tells the host.
func (p *Peer) verify(m wire.Finalists) error {
	if p.round == nil || p.round.number != m.Round {
		return fmt.Errorf("peer: finalists of round %d without its list", m.Round)
	}
	servers := make([]discovery.Server, len(m.Servers))
	for i, index := range m.Servers {
		if index < 0 || index >= len(p.round.servers) {
			return fmt.Errorf("peer: finalist %d of %d servers", index, len(p.round.servers))
		}
		servers[i] = p.round.servers[index]
	}
	if m.Samples < 1 || m.Samples > 20 {
		return fmt.Errorf("peer: asked for %d samples", m.Samples)
	}
	p.inBackground(func(ctx context.Context) {
		finalists, err := p.sample(ctx, servers, m)
		if err != nil {
			p.fail(ctx, err)
			return
		}
		p.post(func() { p.send(wire.Verified{Round: m.Round, Attempt: m.Attempt, Servers: finalists}) })
	})
	return nil
}

// sample asks each server m.Samples times.
func (p *Peer) sample(ctx context.Context, servers []discovery.Server, m wire.Finalists) ([]wire.Finalist, error) {
	finalists := make([]wire.Finalist, len(servers))
	for i := range finalists {
		finalists[i].Server = m.Servers[i]
	}
	for n := range m.Samples {
		if n > 0 {
			if err := sleep(ctx, sampleEvery); err != nil {
				return nil, err
			}
		}
		task := task{game: m.Game, servers: servers, plan: discovery.NewConventional(len(servers)), seen: func(r discovery.Result) {
			addSample(&finalists[r.Server], r)
		}}
		if err := p.scanner.run(ctx, task); err != nil {
			return nil, err
		}
	}
	return finalists, nil
}

// addSample notes one more answer or silence. One answer makes a server
// answered; only if all samples are silent is it lost.
func addSample(f *wire.Finalist, r discovery.Result) {
	f.Sent++
	if r.State == discovery.Answered {
		f.State = discovery.Answered
		f.RTTs = append(f.RTTs, float64(r.RTT)/float64(time.Millisecond))
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
