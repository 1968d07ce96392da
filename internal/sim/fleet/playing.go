package fleet

import (
	"slices"

	"muster/discovery"
	"muster/internal/game"
	"muster/internal/sim"
)

// Playing returns the options of a fleet whose servers play a game in a world.
func Playing(g game.Game, world *sim.World) Options {
	plays := Game{Name: g.MasterGame, Protocol: slices.Max(append(g.MasterProtocols, 0)), AppID: uint64(g.AppID)}
	if aside, ok := g.Protocol().(discovery.Aside); ok {
		plays.QueryAbove = aside.QueryPort(0)
	}
	return Options{World: world, Kind: Kind(g.ProtocolName), Game: plays}
}
