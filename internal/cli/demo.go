package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/prober"
	"muster/host"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/internal/netinfo"
	"muster/internal/ownhost"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/internal/term"
	"muster/peer"
	"muster/selection"
	"muster/web"
)

// demo is the command that plays a whole session on this machine.
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
	// haste is how many times as fast as people the players act.
	haste float64

	game  game.Game
	world *sim.World
	fleet *fleet.Fleet
}

// The players of the demo and where they sit: the paper's four first.
var (
	demoNames  = [...]string{"anna", "ben", "chong", "dave", "eva", "finn", "grace", "hugo"}
	demoPlaces = [...]string{"NL", "Massachusetts", "Kota Bharu", "North Carolina", "DE", "JP", "AU", "BR"}
)

const (
	// demoGame is what everyone plays.
	demoGame = "openarena"
	// demoMost is how many servers there may be: each has a port of its own.
	demoMost = 60000
)

func newDemo(p *program) *cobra.Command {
	d := &demo{program: p}
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
	flags.IntVar(&d.servers, "servers", 2000, "`N` game servers")
	flags.IntVar(&d.players, "players", 4, "`N` players")
	flags.Uint64Var(&d.seed, "seed", 1, "the same `SEED` gives the same night")
	flags.Float64Var(&d.rate, "rate", 1000, "each player asks `N` servers a second; no router stands in the way here")
	flags.StringVar(&d.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the page")
	flags.BoolVar(&d.exit, "exit", false, "wait for nobody, and end when everyone is on the server")
	flags.BoolVar(&d.json, "json", false, "print the choice as JSON")
	flags.BoolVar(&d.noBrowser, "no-browser", false, "do not open the page in a browser")
	flags.Float64Var(&d.haste, "haste", 1, "the players act `N` times as fast as people")
	flags.Lookup("haste").Hidden = true // for tests
	return cmd
}

func (d *demo) run(ctx context.Context) (err error) {
	switch {
	case d.players < 1 || d.players > len(demoPlaces):
		return usagef("--players %d: the demo has seats for 1 to %d", d.players, len(demoPlaces))
	case d.servers < 1 || d.servers > demoMost:
		return usagef("--servers %d: the demo has 1 to %d", d.servers, demoMost)
	case !(d.rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", d.rate)
	case !(d.haste > 0):
		return usagef("--haste %v: the players would never act", d.haste)
	}
	if d.game, err = d.findGame(demoGame); err != nil {
		return err
	}
	places, err := sim.NamedPlaces(demoPlaces[:d.players]...)
	if err != nil {
		return err
	}
	places[0].Name = "Hoorn" // the paper's player in NL
	spec, err := sim.NamedSpec("night2005", d.seed)
	if err != nil {
		return err
	}
	spec.Servers, spec.Places = d.servers, places
	d.world = sim.Generate(spec)
	if d.fleet, err = fleet.Start(ctx, fleetOptions(d.world, d.game)); err != nil {
		return err
	}
	defer d.fleet.Close()
	return d.host(ctx)
}

// host hosts the room and has everyone play.
func (d *demo) host(ctx context.Context) error {
	listener, err := ownhost.Listen(d.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	rooms, err := host.New(host.Config{Page: web.Handler(), Logger: d.logger(), List: d.list, Names: netinfo.Names(), IsOwnUser: netinfo.IsOwnUser})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := rooms.Serve(listener, nil, stoppedServing(cancel))
	var work sync.WaitGroup
	defer func() { cancel(nil); stop(); work.Wait(); rooms.Close() }()

	settings := wire.Settings{Name: "The night of 2005", Game: d.game.ID, By: d.game.Rule, Strategy: wire.Coordinated}
	if d.exit {
		settings.Players = d.players
	} else {
		settings.Agree, settings.GuestsVote = wire.Yes, true // the visitor has only the page
	}
	code, secret, err := rooms.Open(settings)
	if err != nil {
		return err
	}
	to := invite.Link{Host: listener.Addr().String(), Code: code, Key: rooms.Keys(code).Link}
	shown := to.String()
	if !d.exit {
		shown = to.Personal(secret)
	}
	d.screen.Say("%d servers on this machine, %d players; watch it at %s", len(d.fleet.Servers()), d.players, shown)
	if !d.noBrowser {
		d.desk().Browse(ctx, to.Page(rooms.Ticket(shown)))
	}
	began := time.Now()
	says := make([]chan wire.Say, d.players)
	for i, place := range d.world.Places {
		says[i] = make(chan wire.Say, len(demoNames))
		if d.exit {
			d.screen.Say("  %s plays from %s", demoNames[i], place.Name)
		}
		work.Go(func() {
			if !d.exit {
				if !waits(ctx, inHaste(time.Duration(i)*arrivesEvery, d.haste)) {
					return
				}
				d.screen.Say("  %s comes in, from %s", demoNames[i], place.Name)
			}
			err := d.play(ctx, to, i, says[i])
			refusal := new(wire.Refusal)
			switch isRefused := errors.As(err, refusal); {
			case err == nil:
			case isRefused && refusal.Reason == wire.ReasonEnded:
				if d.exit {
					cancel(lobby.ErrEnded)
				}
			case isRefused && !d.exit: // the visitor may send anybody away
				d.screen.Say("%s plays no more: %s", demoNames[i], discovery.CleanText(refusal.Message))
			default:
				cancel(fmt.Errorf("%s: %w", demoNames[i], err))
			}
		})
	}
	if !d.exit {
		work.Go(func() { d.converse(ctx, rooms, code, says) })
		return d.evening(ctx, rooms, code)
	}
	s, err := lobby.Follow(rooms.Watch(ctx, code), &lobby.View{Screen: d.screen}, true)
	if s.Room.Stage == "" {
		return lobby.UnlessEnded(context.Cause(ctx))
	}
	if err != nil {
		if d.json && s.Choice != nil { // why nothing suits, for programs; people have read it
			err = errors.Join(json.NewEncoder(d.out).Encode(s.Choice.Selection), err)
		}
		return err
	}
	d.screen.Say("\n%s", saved(s))
	return d.tell(s, time.Since(began))
}

// evening is the visitor's, who organises it, until the visitor ends it.
func (d *demo) evening(ctx context.Context, rooms *host.Host, code string) error {
	steers := &lobby.Steering{Screen: d.screen, Order: func(_ string, action room.Action) {
		if err := rooms.Order(code, action); err != nil && ctx.Err() == nil {
			d.screen.Say("%s", d.screen.Wrap(discovery.CleanText(err.Error()), 0))
		}
	}}
	alone := func() {
		d.screen.Say("nobody can press Enter here: standard input has ended. The page has the same buttons; muster demo --exit goes on by itself")
	}
	d.desk().Console(d.in, func(line string) { steers.Typed(line, time.Now()) }, alone).Listen()
	d.screen.Say("you are the organiser: when enough are here, press “Find our server” on the page, or Enter here")
	var told, voted int // rounds
	var took time.Duration
	view := &lobby.View{Screen: d.screen, Help: lobby.OrganiserHelp(false), Steers: steers}
	for s := range rooms.Watch(ctx, code) {
		view.Room(s)
		if s.Voting.Open && voted != s.Room.Round {
			voted, took = s.Room.Round, time.Since(s.Room.Began)
			d.screen.Say("%s", d.screen.Wrap(fmt.Sprintf("the players vote, and wait for your vote or your “ready” on the page; if you are not there under a name, they go on in %.0f s", aloneFor.Seconds()), 0))
		}
		if s.Room.Stage != wire.Launching || s.Choice == nil || s.Way == nil || told == s.Room.Round || slices.ContainsFunc(s.Players(), lobby.IsOnTheWay) {
			continue
		}
		told = s.Room.Round
		d.screen.Say("\n%s", saved(s))
		if err := d.tell(s, took); err != nil {
			return err
		}
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// converse has the players say what they think, until ctx ends.
func (d *demo) converse(ctx context.Context, rooms *host.Host, code string, says []chan wire.Say) {
	const every = 250 * time.Millisecond // people notice no less
	c := company{names: demoNames[:d.players], haste: d.haste}
	for waits(ctx, every) {
		s, _ := rooms.Room(code)
		for _, r := range c.step(s, time.Now()) {
			select {
			case says[r.player] <- r.say:
			default: // its program is busy; it says so again
			}
		}
	}
}

// waits takes some time, and reports whether ctx goes on after it.
func waits(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// list asks the fleet's master, which does not tell country and origin AS.
func (d *demo) list(ctx context.Context, _ string) ([]discovery.Server, error) {
	sources, err := d.game.Sources(game.User{}, d.fleet.Master().String())
	if err != nil {
		return nil, err
	}
	listing, err := master.Client{}.Fetch(ctx, sources...)
	known := map[netip.AddrPort]discovery.Server{}
	for _, s := range d.fleet.Servers() {
		known[s.Addr] = s
	}
	for i, s := range listing.Servers {
		if k, ok := known[s.Addr]; ok {
			listing.Servers[i] = k
		}
	}
	return listing.Servers, err
}

// play plays for the player at a place, whose probes come from its own address.
func (d *demo) play(ctx context.Context, to invite.Link, place int, says <-chan wire.Say) error {
	return peer.Run(ctx, peer.Options{
		URL: to.Endpoint(), Code: to.Code, Key: to.Key, Name: demoNames[place], Probes: wire.ProbesElsewhere, Say: says, Asks: !d.exit,
		NewProber: func(string, func(time.Duration)) (peer.Prober, error) {
			p, err := prober.New(prober.Options{Protocol: d.game.Protocol(), Rate: d.rate, LocalAddr: d.fleet.Source(place), Logger: d.logger()})
			if err != nil {
				return nil, err
			}
			for _, addr := range p.LocalAddrs() {
				d.fleet.Seat(addr, place)
			}
			return p, nil
		},
		Launch: func(ctx context.Context, _ wire.Launch, _ string, tell func(wire.LaunchState, string)) {
			if d.exit || waits(ctx, inHaste(time.Duration(place+1)*startsEvery, d.haste)) {
				tell(wire.LaunchStarted, "")
			}
		},
		Logger: d.logger(),
	})
}

// saved says what looking together has saved.
func saved(s wire.Snapshot) string {
	asked, listed := lobby.AskedEach(s), thousands(s.Room.Listed)
	text := fmt.Sprintf("%s, %s servers: %s probes each", term.Count(len(s.Players()), "player"), listed, thousands(asked))
	if asked < s.Room.Listed {
		text += " instead of " + listed
	}
	return text
}

// thousands is a number as people read it.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// tell prints the chosen server, what everyone would have got elsewhere, and
// how the group would have fared by hand.
func (d *demo) tell(s wire.Snapshot, took time.Duration) error {
	if d.json {
		return json.NewEncoder(d.out).Encode(s.Choice.Selection)
	}
	all := d.everything()
	chosen := s.Choice.Selection.Chosen.Addr
	fmt.Fprintf(d.out, "\n%s\n\n", d.out.Bold("Everyone to "+s.Way.Server))
	all.elsewhere(chosen).Write(d.out)
	fmt.Fprintln(d.out)
	all.byHand(chosen, took).Write(d.out)
	return nil
}

// everything is all that could have been measured in the demo: the world's own
// round trips, of which the players saw a part, with jitter.
type everything struct {
	players []string
	servers selection.Servers
	table   *selection.Table
}

func (d *demo) everything() everything {
	e := everything{players: demoNames[:d.players], servers: selection.Servers{List: d.fleet.Servers(), Infos: map[int]*discovery.Info{}}}
	e.table = selection.NewTable(e.players, len(d.world.Servers))
	for server := range d.world.Servers {
		s := &d.world.Servers[server]
		e.servers.Infos[server] = &s.Info
		state := discovery.Answered
		if s.Silent || s.Refusing {
			state = discovery.Lost
		}
		for place := range e.players {
			e.table.Set(place, server, state, d.world.RTT(place, server))
		}
	}
	return e
}

// criteria are what a good server is when people choose.
func (e everything) criteria() selection.Criteria {
	return selection.Criteria{By: selection.Mean, Seats: len(e.players), NoPassword: true, Top: 1}
}

// elsewhere compares the chosen server with each player's favourite: the one that
// would be chosen if only that player counted.
func (e everything) elsewhere(chosen netip.AddrPort) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Left("PING IN MS AT")}}
	for _, name := range e.players {
		t.Columns = append(t.Columns, term.Right(name))
	}
	t.Columns = append(t.Columns, term.Right("average"))
	add := func(title string, server netip.AddrPort) {
		row := []any{title}
		rtts := e.rtts(server)
		for _, rtt := range append(rtts, mean(rtts)) {
			row = append(row, fmt.Sprintf("%.0f", rtt))
		}
		t.Add(row...)
	}
	add("the chosen server", chosen)
	for _, name := range e.players {
		criteria := e.criteria()
		criteria.Weights = make(map[string]float64)
		for _, other := range e.players {
			criteria.Weights[other] = 0
		}
		criteria.Weights[name] = 1
		var favourite netip.AddrPort
		if best := selection.Select(e.servers, e.table, criteria).Chosen; best != nil {
			favourite = best.Addr
		}
		add(name+"'s favourite", favourite)
	}
	return t
}

// rtts are the players' RTTs to a server in milliseconds.
func (e everything) rtts(server netip.AddrPort) []float64 {
	at := slices.IndexFunc(e.servers.List, func(s discovery.Server) bool { return s.Addr == server })
	rtts := make([]float64, len(e.players))
	for player := range rtts {
		if at >= 0 {
			_, rtt := e.table.At(player, at)
			rtts[player] = float64(rtt) / 1e6
		}
	}
	return rtts
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// topChoices is how many servers each player proposes; see [selection.ManualFirst].
const topChoices = 20

// byHand is Table 3 of MUSST: what people reach who look servers up themselves,
// a second each.
func (e everything) byHand(chosen netip.AddrPort, took time.Duration) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Left("CHOSEN"), term.Right("AVERAGE"), term.Right("TIME")}}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
	t.Add("by Muster", fmt.Sprintf("%.0f ms", mean(e.rtts(chosen))), seconds(took))
	for _, by := range []struct {
		how    string
		people selection.Manual
	}{
		{"by hand, after looking at all servers", selection.ManualBest(e.servers, e.table, e.criteria())},
		{fmt.Sprintf("by hand, among each player's %d nearest", topChoices), selection.ManualFirst(e.servers, e.table, e.criteria(), topChoices)},
	} {
		average := "none"
		if by.people.Chosen != nil {
			average = fmt.Sprintf("%.0f ms", by.people.Chosen.MeanMS)
		}
		t.Add(by.how, average, seconds(by.people.Time))
	}
	return t
}
