package cli

import (
	"context"

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

// actor is one player of the demo.
type actor struct {
	*demo
	name  string
	place int
	fleet *fleet.Fleet
	game  game.Game
	to    invitation
}

func (d *demo) cast(world *sim.World, fleet *fleet.Fleet, g game.Game, to invitation) []*actor {
	var cast []*actor
	for i, place := range world.Places {
		cast = append(cast, &actor{demo: d, name: demoNames[i], place: i, fleet: fleet, game: g, to: to})
		d.screen.say("  %s plays from %s", demoNames[i], place.Name)
	}
	return cast
}

func (a *actor) play(ctx context.Context) error {
	return peer.Run(ctx, peer.Options{
		URL: a.to.endpoint(), Code: a.to.code, Name: a.name, Probes: wire.ProbesElsewhere, NewProber: a.newProber, NewPlan: planFor,
		Launch: func(_ context.Context, _ wire.Launch, tell func(wire.LaunchState, string)) {
			tell(wire.LaunchStarted, "")
		},
		Logger: a.logger(),
	})
}

// newProber asks from the place's own address.
func (a *actor) newProber(string) (peer.Prober, error) {
	p, err := prober.New(prober.Options{Protocol: a.game.Protocol(), Rate: a.rate, LocalAddr: a.fleet.Source(a.place), Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	for _, addr := range p.LocalAddrs() {
		a.fleet.Seat(addr, a.place)
	}
	return p, nil
}
