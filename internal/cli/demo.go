package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/web"
)

// demo is the command that plays a whole game night on this machine.
type demo struct {
	*program
	servers   int
	players   int
	seed      uint64
	rate      float64
	listen    string
	exit      bool
	json      bool
	noBrowser bool
	screen    *screen
}

func newDemo(p *program) *cobra.Command {
	d := &demo{program: p, screen: p.screen()}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A whole game night on this machine",
		Long: `Demo plays the game night of MUSST's evaluation (NetGames 2005): players in
Hoorn, Massachusetts, Kota Bharu and North Carolina, and some thousand servers
on loopback addresses that answer after the round-trip time each player has.
Every player is a real peer that probes over real sockets; nothing leaves this
machine. At the end it compares Muster with choosing by hand, as Table 3 of the
paper does.`,
		Example: `  muster demo
  muster demo --servers 20000 --players 8 --rate 5000
  muster demo --exit --json --no-browser`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&d.servers, "servers", 2000, "`N` game servers")
	flags.IntVar(&d.players, "players", 4, "`N` players")
	flags.Uint64Var(&d.seed, "seed", 1, "the same `SEED` gives the same night")
	flags.Float64Var(&d.rate, "rate", 1000, "each player asks `N` servers a second; no router stands in the way here")
	flags.StringVar(&d.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the page")
	flags.BoolVar(&d.exit, "exit", false, "end when everyone is on the server")
	flags.BoolVar(&d.json, "json", false, "print the choice as JSON")
	flags.BoolVar(&d.noBrowser, "no-browser", false, "do not open the page in a browser")
	return cmd
}

// demoGame is what everyone plays.
const demoGame = "openarena"

func (d *demo) run(ctx context.Context) error {
	g, err := d.findGame(demoGame)
	if err != nil {
		return err
	}
	places, err := d.places()
	if err != nil {
		return err
	}
	spec, err := sim.NamedSpec("night2005", d.seed)
	if err != nil {
		return err
	}
	spec.Servers, spec.Places = d.servers, places
	world := sim.Generate(spec)
	fleet, err := fleet.Start(ctx, fleetOptions(world, g))
	if err != nil {
		return err
	}
	defer fleet.Close()
	return d.night(ctx, g, world, fleet)
}

// places are where the players sit: those of the paper first.
func (d *demo) places() ([]sim.Place, error) {
	if d.players < 1 || d.players > len(demoPlaces) {
		return nil, usagef("--players %d: the demo has seats for 1 to %d", d.players, len(demoPlaces))
	}
	if d.servers < 1 || d.servers > 60000 {
		return nil, usagef("--servers %d: the demo has 1 to 60000", d.servers)
	}
	if !(d.rate > 0) {
		return nil, usagef("--rate %v: at least one server has to be asked now and then", d.rate)
	}
	places, err := sim.NamedPlaces(demoPlaces[:d.players]...)
	if err == nil {
		places[0].Name = "Hoorn" // the paper's player in NL
	}
	return places, err
}

// night hosts the room and has everyone play.
func (d *demo) night(ctx context.Context, g game.Game, world *sim.World, fleet *fleet.Fleet) error {
	listener, err := listen(d.listen)
	if err != nil {
		return err
	}
	rooms, err := host.New(host.Config{Page: web.Handler(), Logger: d.logger(), List: func(ctx context.Context, _ string) ([]discovery.Server, error) {
		listing, err := (&sources{masters: []string{fleet.Master().String()}}).plainList(ctx, g, nil)
		return annotated(listing.Servers, fleet), err
	}})
	if err != nil {
		listener.Close()
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := d.serve(listener, rooms, cancel)
	var work sync.WaitGroup
	defer func() { cancel(nil); stop(); work.Wait(); rooms.Close() }()

	code, _ := rooms.Open(host.Settings{Name: "The night of 2005", Game: g.ID, Players: d.players, By: g.Rule, Strategy: wire.Coordinated})
	to := invitation{host: listener.Addr().String(), code: code}
	d.screen.say("%d servers on this machine, %d players; watch it at %s", len(fleet.Servers()), d.players, to.link())
	if !d.noBrowser {
		d.browse(ctx, to.link())
	}
	began := time.Now()
	cast := d.cast(world, fleet, g, to)
	for _, a := range cast {
		work.Go(func() {
			if err := a.play(ctx); err != nil {
				cancel(fmt.Errorf("%s: %w", a.name, err))
			}
		})
	}
	room, err := d.follow(ctx, rooms, code)
	if err != nil {
		return errors.Join(d.noChoice(room), err)
	}
	d.screen.say("\n%s", saved(room))
	if err := d.tell(room, eveningOf(world, fleet), time.Since(began)); err != nil || d.exit {
		return err
	}
	d.screen.say("\nthe page stays at %s; Ctrl-C ends the demo", to.link())
	<-ctx.Done()
	return nil
}

// noChoice prints why nothing suits, for programs; people have read it.
func (d *demo) noChoice(room wire.Room) error {
	if !d.json || room.Selection == nil {
		return nil
	}
	return json.NewEncoder(d.streams.Out).Encode(room.Selection)
}

// annotated gives servers their country and origin AS, which a master does not
// tell.
func annotated(servers []discovery.Server, fleet *fleet.Fleet) []discovery.Server {
	known := map[netip.AddrPort]discovery.Server{}
	for _, s := range fleet.Servers() {
		known[s.Addr] = s
	}
	for i, s := range servers {
		if k, ok := known[s.Addr]; ok {
			servers[i] = k
		}
	}
	return servers
}

// follow tells of the room until everyone is on the server.
func (d *demo) follow(ctx context.Context, rooms *host.Host, code string) (wire.Room, error) {
	narrator := narrator{screen: d.screen}
	for room := range rooms.Watch(ctx, code) {
		narrator.room(room)
		switch {
		case room.Stage == wire.Failed:
			return room, errNothing
		case room.Stage == wire.Launching && everyoneLaunched(room):
			return room, nil
		}
	}
	return wire.Room{}, context.Cause(ctx)
}
