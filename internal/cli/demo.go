package cli

import (
	"context"

	"github.com/spf13/cobra"

	"muster/internal/demo"
	"muster/internal/ownhost"
)

// demoCommand is the command that plays a whole session on this machine.
type demoCommand struct {
	*program
	demo.Session
	listen string
}

func newDemo(p *program) *cobra.Command {
	d := &demoCommand{program: p}
	cmd := &cobra.Command{
		GroupID: toTry,
		Use:     "demo",
		Short:   "A whole game night on this machine",
		Long: `Demo plays the game night of MUSST's evaluation (NetGames 2005): players in
Hoorn, Massachusetts, Kota Bharu and North Carolina, and some thousand servers
on loopback addresses that answer after the round-trip time each player has.
Every player is a real peer that probes over real sockets; nothing leaves this
machine. You are the organiser, on the page or by Enter here: the players wait for
you in the lobby, vote with you, and play as many rounds as you like. Each round is
compared with choosing by hand, as Table 3 of the paper does. --exit waits for
nobody, and ends when everyone is on the server.`,
		Example: `  muster demo
  muster demo --servers 20000 --players 8 --rate 5000
  muster demo --exit --json --no-browser`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&d.Servers, "servers", 2000, "`N` game servers")
	flags.IntVar(&d.Players, "players", 4, "`N` players")
	flags.Uint64Var(&d.Seed, "seed", 1, "the same `SEED` gives the same night")
	flags.Float64Var(&d.Rate, "rate", 1000, "each player asks `N` servers a second; no router stands in the way here")
	flags.StringVar(&d.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the page")
	flags.BoolVar(&d.Exit, "exit", false, "wait for nobody, and end when everyone is on the server")
	flags.BoolVar(&d.JSON, "json", false, "print the choice as JSON")
	flags.BoolVar(&d.NoBrowser, "no-browser", false, "do not open the page in a browser")
	flags.Float64Var(&d.Haste, "haste", 1, "the players act `N` times as fast as people")
	flags.Lookup("haste").Hidden = true // for tests
	return cmd
}

func (d *demoCommand) run(ctx context.Context) error {
	switch {
	case d.Players < 1 || d.Players > demo.MaxPlayers:
		return usagef("--players %d: the demo has seats for 1 to %d", d.Players, demo.MaxPlayers)
	case d.Servers < 1 || d.Servers > demo.MaxServers:
		return usagef("--servers %d: the demo has 1 to %d", d.Servers, demo.MaxServers)
	case !(d.Rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", d.Rate)
	case !(d.Haste > 0):
		return usagef("--haste %v: the players would never act", d.Haste)
	}
	g, err := d.findGame(demo.Game)
	if err != nil {
		return err
	}
	listener, err := ownhost.Listen(d.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	d.Desk, d.Game = d.desk(), g
	return d.Session.Run(ctx, listener)
}
