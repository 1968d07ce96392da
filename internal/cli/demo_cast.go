package cli

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/peer"
)

// The players of the demo and where they sit: the paper's four first.
var (
	demoNames  = [...]string{"anna", "ben", "chong", "dave", "eva", "finn", "grace", "hugo"}
	demoPlaces = [...]string{"NL", "Massachusetts", "Kota Bharu", "North Carolina", "DE", "JP", "AU", "BR"}
)

// actor is one player of the demo, and what it measured.
type actor struct {
	*demo
	name  string
	place int
	fleet *fleet.Fleet
	game  game.Game
	to    invitation

	mu   sync.Mutex // guards following
	best map[netip.AddrPort]discovery.Measurement
}

func (d *demo) cast(world *sim.World, fleet *fleet.Fleet, g game.Game, to invitation) []*actor {
	var cast []*actor
	for i, place := range world.Places {
		cast = append(cast, &actor{
			demo: d, name: demoNames[i], place: i, fleet: fleet, game: g, to: to,
			best: make(map[netip.AddrPort]discovery.Measurement),
		})
		d.screen.say("  %s plays from %s", demoNames[i], place.Name)
	}
	return cast
}

func (a *actor) play(ctx context.Context) error {
	return peer.Run(ctx, peer.Options{
		URL: a.to.endpoint(), Code: a.to.code, Name: a.name, NewProber: a.newProber, NewPlan: planFor,
		Launch: func(_ context.Context, _ wire.Launch, tell func(wire.LaunchState, string)) {
			tell(wire.LaunchStarted, "")
		},
		Logger: a.logger(),
	})
}

// newProber asks from the place's own address, and remembers what it measured.
func (a *actor) newProber(string) (peer.Prober, error) {
	p, err := prober.New(prober.Options{Protocol: a.game.Protocol(), Rate: a.rate, LocalAddr: a.fleet.Source(a.place), Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	for _, addr := range p.LocalAddrs() {
		a.fleet.Seat(addr, a.place)
	}
	return &overheard{p, a}, nil
}

// overheard is a prober whose results its actor hears, too.
type overheard struct {
	*prober.Prober
	actor *actor
}

func (o *overheard) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	var results []discovery.Result
	err := o.Prober.Run(ctx, servers, plan, func(r discovery.Result) {
		results = append(results, r)
		seen(r)
	})
	o.actor.hear(discovery.NewReport(discovery.Report{}, servers, results))
	return err
}

// hear keeps the lowest RTT of each server.
func (a *actor) hear(r discovery.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range r.Servers {
		old, known := a.best[m.Addr]
		if !known || !isAnswered(old) || isAnswered(m) && m.RTT < old.RTT {
			a.best[m.Addr] = m
		}
	}
}

// report is what the actor measured.
func (a *actor) report() discovery.Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	return discovery.Report{Peer: a.name, Servers: slices.SortedFunc(maps.Values(a.best), func(m, n discovery.Measurement) int {
		return discovery.CompareAddr(m.Server(), n.Server())
	})}
}
