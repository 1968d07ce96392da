package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/host"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/peer"
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
}

func newDemo(p *program) *cobra.Command {
	d := &demo{program: p}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A whole game night on this machine",
		Long: `Demo plays the game night of MUSST's evaluation (NetGames 2005): players in
Hoorn, Massachusetts, Kota Bharu and North Carolina, and some thousand servers
on loopback addresses that answer after the round-trip time each player has.
Every player is a real peer that probes over real sockets; nothing leaves this
machine.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&d.servers, "servers", 2000, "number of game servers")
	flags.IntVar(&d.players, "players", 4, "number of players")
	flags.Uint64Var(&d.seed, "seed", 1, "the same seed gives the same night")
	flags.Float64Var(&d.rate, "rate", 1000, "servers each player asks a second; no router stands in the way here")
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
	places, err := sim.NamedPlaces(demoPlaces[:d.players]...)
	if err == nil {
		places[0].Name = "Hoorn" // the paper's player in NL
	}
	return places, err
}

// night hosts the room and has everyone play.
func (d *demo) night(ctx context.Context, g game.Game, world *sim.World, fleet *fleet.Fleet) error {
	listener, err := net.Listen("tcp", d.listen)
	if err != nil {
		return hinted(fmt.Errorf("cannot listen: %w", err), "choose another --listen ADDRESS")
	}
	sources := sources{masters: []string{fleet.Master().String()}}
	rooms, err := host.New(host.Config{Page: web.Handler(), Logger: d.logger(), List: func(ctx context.Context, _ string) ([]discovery.Server, error) {
		listing, err := sources.list(ctx, g, nil)
		return annotated(listing.Servers, fleet), err
	}})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: rooms.Handler(), ReadHeaderTimeout: 10 * time.Second}
	var work sync.WaitGroup
	work.Go(func() { server.Serve(listener) })
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); server.Close(); work.Wait(); rooms.Close() }()

	code, _ := rooms.Open(host.Settings{Name: "The night of 2005", Game: g.ID, Players: d.players, By: g.Rule, Strategy: "conventional"})
	to := invitation{host: listener.Addr().String(), code: code}
	fmt.Fprintf(d.streams.Err, "%d servers on this machine, %d players; watch it at %s\n", len(fleet.Servers()), d.players, to.link())
	cast := d.cast(world, fleet, g, to)
	for _, a := range cast {
		work.Go(func() { a.play(ctx) })
	}
	room, err := d.follow(ctx, rooms, code)
	if err != nil {
		return err
	}
	if err := d.tell(room, cast); err != nil {
		return err
	}
	if !d.exit {
		fmt.Fprintf(d.streams.Err, "\nthe page stays at %s; Ctrl-C ends the demo\n", to.link())
		<-ctx.Done()
	}
	return nil
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

// follow shows the room until everyone is on the server.
func (d *demo) follow(ctx context.Context, rooms *host.Host, code string) (wire.Room, error) {
	s := screen{program: d.program}
	for room := range rooms.Watch(ctx, code) {
		s.room(room)
		switch {
		case room.Stage == wire.Failed:
			return room, errNothing
		case room.Stage == wire.Launching && everyoneLaunched(room):
			return room, nil
		}
	}
	return wire.Room{}, ctx.Err()
}

// actor is one player of the demo, and what it measured.
type actor struct {
	*demo
	name  string
	place int
	fleet *fleet.Fleet
	game  game.Game
	to    invitation

	mu   sync.Mutex // guards following
	rtts map[netip.AddrPort]time.Duration
}

// The players of the demo and where they sit: the paper's four first.
var (
	demoNames  = [...]string{"anna", "ben", "chong", "dave", "eva", "finn", "grace", "hugo"}
	demoPlaces = [...]string{"NL", "Massachusetts", "Kota Bharu", "North Carolina", "DE", "JP", "AU", "BR"}
)

func (d *demo) cast(world *sim.World, fleet *fleet.Fleet, g game.Game, to invitation) []*actor {
	var cast []*actor
	for i := range world.Places {
		cast = append(cast, &actor{
			demo: d, name: demoNames[i], place: i, fleet: fleet, game: g, to: to, rtts: map[netip.AddrPort]time.Duration{},
		})
		fmt.Fprintf(d.streams.Err, "  %s plays from %s\n", demoNames[i], world.Places[i].Name)
	}
	return cast
}

func (a *actor) play(ctx context.Context) {
	err := peer.Run(ctx, peer.Options{
		URL: a.to.endpoint(), Code: a.to.code, Name: a.name, NewProber: a.newProber,
		NewPlan: planFor,
		Launch: func(_ context.Context, _ wire.Launch, tell func(wire.LaunchState, string)) {
			tell(wire.LaunchStarted, "")
		},
		Logger: a.logger(),
	})
	if err != nil {
		printError(a.streams.Err, fmt.Errorf("%s: %w", a.name, err))
	}
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
	return &listening{p, a}, nil
}

// listening is a prober whose results its actor hears, too.
type listening struct {
	*prober.Prober
	actor *actor
}

func (l *listening) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	return l.Prober.Run(ctx, servers, plan, func(r discovery.Result) {
		l.actor.hear(servers[r.Server], r)
		seen(r)
	})
}

func (a *actor) hear(s discovery.Server, r discovery.Result) {
	if r.State != discovery.Answered {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if old, ok := a.rtts[s.Addr]; !ok || r.RTT < old {
		a.rtts[s.Addr] = r.RTT
	}
}

// tell prints the chosen server, and what everyone would have got elsewhere.
func (d *demo) tell(room wire.Room, cast []*actor) error {
	if d.json {
		return json.NewEncoder(d.streams.Out).Encode(room.Selection)
	}
	fmt.Fprintf(d.streams.Out, "\n%s\n\n", d.style(d.streams.Out).bold("Everyone to "+room.Server))
	for _, sentence := range room.Selection.Explain() {
		fmt.Fprintln(d.streams.Out, sentence)
	}
	fmt.Fprintln(d.streams.Out)
	t := table{columns: []column{{"RTT IN MS AT", left}}}
	for _, a := range cast {
		t.columns = append(t.columns, column{a.name, right})
	}
	t.columns = append(t.columns, column{"average", right})
	t.add(rttRow("the chosen server", room.Selection.Chosen.Addr, cast)...)
	for _, a := range cast {
		t.add(rttRow(a.name+"'s favourite", a.favourite(cast), cast)...)
	}
	t.write(d.streams.Out, width(d.streams.Out))
	return nil
}

// rttRow is what each player has to a server, and the average.
func rttRow(title string, server netip.AddrPort, cast []*actor) []string {
	row := []string{title}
	sum := time.Duration(0)
	for _, a := range cast {
		row = append(row, wholeMillis(a.rtts[server]))
		sum += a.rtts[server]
	}
	return append(row, wholeMillis(sum/time.Duration(len(cast))))
}

func wholeMillis(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/1e6) }

// favourite is the actor's nearest server among those everyone reaches.
func (a *actor) favourite(cast []*actor) netip.AddrPort {
	var best netip.AddrPort
	for addr, rtt := range a.rtts {
		common := !slices.ContainsFunc(cast, func(other *actor) bool { _, ok := other.rtts[addr]; return !ok })
		if common && (!best.IsValid() || rtt < a.rtts[best] || rtt == a.rtts[best] && addr.Compare(best) < 0) {
			best = addr
		}
	}
	return best
}
