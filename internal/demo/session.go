// Package demo plays a whole game session on this machine. It follows MUSST's evaluation, with servers and players on
// loopback addresses, a visitor who organises it, and a comparison with choosing by hand.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/prober"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/internal/netinfo"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/peer"
	"muster/web"
)

// Session is one game session.
type Session struct {
	Desk *lobby.Desk
	Game game.Game
	// Servers and Players are how many there are. Seed generates them.
	Servers, Players int
	Seed             uint64
	// Rate is how many servers each player asks a second.
	Rate float64
	// Haste is how many times faster than people the players act.
	Haste float64
	// Exit waits for nobody, and ends when everyone is on the server.
	Exit bool
	// JSON writes the choice for programs.
	JSON bool
	// NoBrowser leaves the page unopened.
	NoBrowser bool

	world *sim.World
	fleet *fleet.Fleet
}

// The demo's players sit at these places; the paper's four come first.
var (
	names  = [...]string{"anna", "ben", "chong", "dave", "eva", "finn", "grace", "hugo"}
	places = [...]string{"NL", "Massachusetts", "Kota Bharu", "North Carolina", "DE", "JP", "AU", "BR"}
)

const (
	// Game is the game that everyone plays.
	Game = "openarena"
	// MaxServers bounds the servers, since each needs a port of its own.
	MaxServers = 60000
)

// MaxPlayers bounds the players, since each needs a place.
const MaxPlayers = len(places)

// Run plays the session on a page at the listener.
func (n *Session) Run(ctx context.Context, listener net.Listener) error {
	all, err := sim.NamedPlaces(places[:n.Players]...)
	if err != nil {
		return err
	}
	all[0].Name = "Hoorn" // the paper's player in the Netherlands
	spec, err := sim.NamedSpec("night2005", n.Seed)
	if err != nil {
		return err
	}
	spec.Servers, spec.Places = n.Servers, all
	n.world = sim.Generate(spec)
	if n.fleet, err = fleet.Start(ctx, fleet.Playing(n.Game, n.world)); err != nil {
		return err
	}
	defer n.fleet.Close()
	return n.host(ctx, listener)
}

// host hosts the room, and everyone plays.
func (n *Session) host(ctx context.Context, listener net.Listener) error {
	rooms, err := host.New(host.Config{Page: web.Handler(), Logger: n.Desk.Logger, List: n.list, Names: netinfo.Names(),
		Locate: locate(n.world.Places)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := rooms.Serve(listener, nil, func(err error) { cancel(hint.Say("term.stopped-serving", "why", hint.Reason(err))) })
	var work sync.WaitGroup
	defer func() { cancel(nil); stop(); work.Wait(); rooms.Close() }()

	settings := wire.Settings{Name: "The night of 2005", Game: n.Game.ID, By: n.Game.Rule, Strategy: wire.Coordinated}
	if n.Exit {
		settings.Players = n.Players
	} else {
		settings.Agree, settings.GuestsVote = wire.Yes, true // the visitor has only the page
	}
	code, secret, err := rooms.Open(settings)
	if err != nil {
		return err
	}
	to := invite.Link{Host: listener.Addr().String(), Code: code, Key: rooms.Keys(code).Link}
	shown := to.String()
	if !n.Exit {
		shown = to.Personal(secret)
	}
	n.Desk.Typing.LeadTo(shown)
	n.Desk.Screen.Say("%s %s", n.Desk.Screen.Words("term.demo", "servers", len(n.fleet.Servers()), "players", n.Players), shown)
	if !n.NoBrowser {
		n.Desk.Present(ctx, shown)
	}
	began := time.Now()
	entrances := make([]entrance, n.Players)
	for i := range entrances {
		if entrances[i], err = open(i); err != nil {
			return err
		}
		defer rooms.Serve(entrances[i], nil, func(err error) { cancel(hint.Say("term.stopped-serving", "why", hint.Reason(err))) })()
	}
	says := make([]chan wire.Say, n.Players)
	for i, place := range n.world.Places {
		says[i] = make(chan wire.Say, len(names))
		if n.Exit {
			n.Desk.Screen.Say("  %s", n.Desk.Screen.Words("term.demo-plays", "player", names[i], "place", place.Name))
		}
		work.Go(func() {
			if !n.Exit {
				if !waits(ctx, inHaste(time.Duration(i)*arrivesEvery, n.Haste)) {
					return
				}
				n.Desk.Screen.Say("  %s", n.Desk.Screen.Words("term.demo-comes", "player", names[i], "place", place.Name))
			}
			err := n.play(ctx, through(to, entrances[i]), i, says[i])
			refusal := new(wire.Refusal)
			switch isRefused := errors.As(err, refusal); {
			case err == nil:
			case isRefused && refusal.Reason == wire.ReasonEnded:
				if n.Exit {
					cancel(lobby.ErrEnded)
				}
			case isRefused && !n.Exit: // the visitor may remove any player
				n.Desk.Screen.Tell("term.demo-left", "player", names[i], "why", hint.Sentence(refusal))
			default:
				cancel(fmt.Errorf("%s: %w", names[i], err))
			}
		})
	}
	if !n.Exit {
		work.Go(func() { n.converse(ctx, rooms, code, says) })
		return n.playUntilEnd(ctx, rooms, code)
	}
	view, isOver := &lobby.View{Screen: n.Desk.Screen}, false
	var s wire.Snapshot
	for s = range rooms.Watch(ctx, code) {
		view.Room(s)
		if isOver, err = lobby.IsRoundOver(s); isOver {
			break
		}
	}
	if !isOver {
		return lobby.UnlessEnded(context.Cause(ctx))
	}
	if err != nil {
		if n.JSON && s.Choice != nil { // tell programs why nothing suits; people have read it already
			err = errors.Join(json.NewEncoder(n.Desk.Out).Encode(s.Choice.Selection), err)
		}
		return err
	}
	n.Desk.Screen.Say("\n%s", n.Desk.Screen.Language.Say(saved(s)))
	return n.tell(s, time.Since(began))
}

// playUntilEnd plays until the visitor, its organiser, ends it.
func (n *Session) playUntilEnd(ctx context.Context, rooms *host.Host, code string) error {
	n.Desk.Typing.Order = func(_ string, action room.Action) {
		if err := rooms.Order(code, action); err != nil && ctx.Err() == nil {
			n.Desk.Screen.Say("%s", n.Desk.Screen.Wrap(hint.Text(n.Desk.Screen.Language, err), 0))
		}
	}
	alone := func() {
		n.Desk.Screen.Tell("term.demo-no-enter", "command", "muster demo --exit")
	}
	n.Desk.Console(n.Desk.In, alone).Listen()
	n.Desk.Screen.Tell("term.demo-organiser")
	var told, voted int // the newest rounds for which this has happened
	var took time.Duration
	view := &lobby.View{Screen: n.Desk.Screen, Help: lobby.OrganiserHelp(false), Typing: n.Desk.Typing}
	for s := range rooms.Watch(ctx, code) {
		view.Room(s)
		if s.Voting.Open && voted != s.Room.Round {
			voted, took = s.Room.Round, time.Since(s.Room.Began)
			n.Desk.Screen.Tell("term.demo-vote", "n", aloneFor.Seconds())
		}
		if s.Room.Stage != wire.Launching || s.Choice == nil || s.Way == nil || told == s.Room.Round ||
			slices.ContainsFunc(s.Players(), lobby.IsOnTheWay) {
			continue
		}
		told = s.Room.Round
		n.Desk.Screen.Say("\n%s", n.Desk.Screen.Language.Say(saved(s)))
		if err := n.tell(s, took); err != nil {
			return err
		}
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// converse lets the players say what they think, until ctx ends.
func (n *Session) converse(ctx context.Context, rooms *host.Host, code string, says []chan wire.Say) {
	const every = 250 * time.Millisecond // people notice nothing shorter
	c := company{names: names[:n.Players], haste: n.Haste}
	for waits(ctx, every) {
		s, _ := rooms.Room(code)
		for _, r := range c.step(s, time.Now()) {
			select {
			case says[r.player] <- r.say:
			default: // the player's program is busy; the remark comes again
			}
		}
	}
}

// waits waits for some time, and reports whether ctx is still alive afterwards.
func waits(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// list asks the fleet's master, which leaves out country and origin AS.
func (n *Session) list(ctx context.Context, _ string) ([]discovery.Server, error) {
	sources, err := n.Game.Sources(game.User{}, n.fleet.Master().String())
	if err != nil {
		return nil, err
	}
	listing, err := master.Client{}.Fetch(ctx, sources...)
	known := map[netip.AddrPort]discovery.Server{}
	for _, s := range n.fleet.Servers() {
		known[s.Addr] = s
	}
	for i, s := range listing.Servers {
		if k, ok := known[s.Addr]; ok {
			listing.Servers[i] = k
		}
	}
	return listing.Servers, err
}

// play acts for the player at a place. Its probes come from the place's own address.
func (n *Session) play(ctx context.Context, to invite.Link, place int, says <-chan wire.Say) error {
	return peer.Run(ctx, peer.Options{
		URL: to.Endpoint(), Code: to.Code, Key: to.Key, Name: names[place], Say: says, Asks: !n.Exit,
		NewProber: func(string, func(time.Duration)) (peer.Prober, error) {
			p, err := prober.New(prober.Options{Protocol: n.Game.Protocol(), Rate: n.Rate, LocalAddr: n.fleet.Source(place), Logger: n.Desk.Logger})
			if err != nil {
				return nil, err
			}
			for _, addr := range p.LocalAddrs() {
				n.fleet.Seat(addr, place)
			}
			return p, nil
		},
		Launch: func(ctx context.Context, _ wire.Launch, _ sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
			if n.Exit || waits(ctx, inHaste(time.Duration(place+1)*startsEvery, n.Haste)) {
				tell(wire.LaunchStarted, sentence.Sentence{})
			}
		},
		Logger: n.Desk.Logger,
	})
}

// saved returns a sentence on what looking together has saved.
func saved(s wire.Snapshot) sentence.Sentence {
	asked, key := lobby.AskedEach(s), "term.demo-probes"
	if asked < s.Room.Listed {
		key = "term.demo-saved"
	}
	return sentence.Of(key, "players", len(s.Players()), "servers", s.Room.Listed, "probes", asked)
}

// tell prints the chosen server and two comparisons: with the other servers, and with choosing by hand.
func (n *Session) tell(s wire.Snapshot, took time.Duration) error {
	if n.JSON {
		return json.NewEncoder(n.Desk.Out).Encode(s.Choice.Selection)
	}
	all := n.everything()
	chosen := s.Choice.Selection.Chosen.Addr
	fmt.Fprintf(n.Desk.Out, "\n%s\n\n", n.Desk.Out.Bold(n.Desk.Screen.Words("term.demo-to", "server", s.Way.Server)))
	all.elsewhere(n.Desk.Screen.Language, chosen.AddrPort).Write(n.Desk.Out)
	fmt.Fprintln(n.Desk.Out)
	all.byHand(n.Desk.Screen.Language, chosen.AddrPort, took).Write(n.Desk.Out)
	return nil
}
