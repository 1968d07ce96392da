package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"muster/discovery"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/term"
)

// Playing returns the options of a fleet whose servers play a game in a world.
func Playing(g game.Game, world *sim.World) Options {
	plays := Game{Name: g.MasterGame, Protocol: slices.Max(append(g.MasterProtocols, 0)), AppID: uint64(g.AppID)}
	if aside, ok := g.Protocol().(discovery.Aside); ok {
		plays.QueryAbove = aside.QueryPort(0)
	}
	return Options{World: world, Kind: Kind(g.ProtocolName), Game: plays}
}

// Describe prints what answers where, and how to look at it. list is the file with the servers, empty for none: a game
// without masters needs one.
func (f *Fleet) Describe(out term.Terminal, g game.Game, list string) {
	master, from := "", "--servers "+cmp.Or(list, "FILE")
	if _, err := g.Queries(f.Master().String()); err == nil {
		master, from = fmt.Sprintf("; master at %v", f.Master()), fmt.Sprintf("--master %v", f.Master())
	}
	fmt.Fprintf(out, "%s, the first at %v%s\n\n", term.Count(len(f.servers), g.Name+" server"), f.servers[0].Addr, master)
	t := term.Table{Columns: []term.Column{term.Left("PLACE"), term.Whole("ASK FROM")}}
	for i, place := range f.options.World.Places {
		t.Add(place.Name, f.Source(i))
	}
	t.Write(out)
	fmt.Fprintf(out, "\ntry   muster discover --game %s %s --listen-addr %v\n", g.ID, from, f.Source(0))
	if master == "" && list == "" {
		fmt.Fprintf(out, "no master lists %s: start the fleet with --write FILE\n", g.Name)
	}
}
