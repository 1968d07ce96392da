package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/plans"
	"muster/discovery/prober"
	"muster/discovery/topology"
	"muster/host/wire"
	"muster/internal/game"
	"muster/peer"
)

// playing is one player's part in a room, on this machine's screen.
type playing struct {
	*program
	probing  probing
	launcher *launcher
	narrator *narrator
	games    game.Table
	name     string
	once     bool
	// atHost: on the host's own machine.
	atHost bool
	// isIn: the host has let the player in.
	isIn bool
}

// play joins a room and stays until ctx ends or the room is over. It is an error
// if ctx ends before the host has let the player in.
func (y *playing) play(ctx context.Context, to invitation) error {
	place := tokenOf(to, y.name)
	saving := sync.OnceFunc(func() {
		y.narrator.screen.say("muster: warning: your place in the room will not survive a restart of this program")
	})
	defer y.narrator.screen.rests()
	err := peer.Run(ctx, peer.Options{
		URL: to.endpoint(), TLS: to.trust(), Code: to.code, Name: y.name, Token: place.load(),
		SaveToken: func(text string) {
			if err := place.save(text); err != nil {
				saving()
			}
		},
		Probes: y.probesFrom(), NewProber: y.newProber, NewPlan: planFor,
		Launch: y.launcher.launch, Events: y.show,
		Once: y.once, Logger: y.logger(),
	})
	if err == nil && !y.isIn {
		return ctx.Err() // the user would not wait
	}
	return err
}

// show tells what happens. Once in the room, what is typed is for the room.
func (y *playing) show(e peer.Event) {
	if _, in := e.(peer.Joined); in {
		y.isIn = true
		y.launcher.console.listen()
	}
	y.narrator.show(e)
}

// probesFrom is what the host cannot tell by the connection.
func (y *playing) probesFrom() wire.Probes {
	switch {
	case y.probing.local != "":
		return wire.ProbesElsewhere
	case y.atHost:
		return wire.ProbesAtHost
	}
	return ""
}

// roomStrategies are the ways in which a room's players may measure.
func roomStrategies() []discovery.Strategy {
	return append([]discovery.Strategy{wire.Coordinated}, discovery.Strategies()...)
}

// ownNearest is how many near servers a player looks for while people vote.
const ownNearest = 50

// planFor is the plan that the host asks for. In a room a plan goes through its
// whole list: servers that one player skipped would be lost to all. Where the
// host coordinates, a player's own plan is what it allows besides.
func planFor(m wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
	if m.Strategy == wire.Coordinated {
		return plans.New(discovery.Adaptive, topology.New(servers), discovery.PlanOptions{Seed: m.Seed, MaxRTT: time.Duration(m.MaxRTT), Nearest: ownNearest})
	}
	return plans.New(discovery.Strategy(m.Strategy), topology.New(servers), discovery.PlanOptions{
		Seed: m.Seed, MaxRTT: time.Duration(m.MaxRTT), AutoStop: discovery.StopOff,
	})
}

func (y *playing) newProber(id string) (peer.Prober, error) {
	g, err := y.games.Find(id)
	if err != nil {
		return nil, hinted(fmt.Errorf("the room plays %q, which this muster does not know", discovery.CleanText(id)),
			"update muster, or add the game to "+configFile("games.toml"))
	}
	options, err := y.probing.options(y.program, g.Protocol())
	if err != nil {
		return nil, err
	}
	return prober.New(options)
}
