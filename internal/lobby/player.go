package lobby

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/discovery/names"
	"muster/discovery/regions"
	"muster/host/wire"
	"muster/internal/announcing"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/netinfo"
	"muster/internal/userfile"
	"muster/peer"
)

// Asking says how servers are asked.
type Asking struct {
	// Prober returns a prober for a protocol, which looks up names as a game does. It reports each pause to rests unless
	// that is nil.
	Prober func(protocol discovery.Protocol, by names.Resolver, rests func(time.Duration)) (peer.Prober, error)
	// IsElsewhere says that the questions leave from an address that the host does not see.
	IsElsewhere bool
	// Discreet is how many servers may see the player's address, 0 for no limit.
	Discreet int
	// Forgets makes the program neither use nor keep what rooms measured from this computer.
	Forgets bool
	// Pings are the pings that the player's game has printed, by its codes of regions. Nil is none.
	Pings map[string]time.Duration
}

// Player is one player's part in a room.
type Player struct {
	Desk     *Desk
	View     *View
	Launcher *game.Launcher
	Asking   Asking
	Once     bool
	// Somewhere hides the player's country from the others.
	Somewhere bool
	// Side is the side of a match that the player wants to be on, empty to follow the link.
	Side wire.Side
	// CanHost makes this machine answer as a beacon, so that the others measure how a server here
	// would do. Once Allowed is closed, the router is asked to let questions in; a nil Allowed
	// never asks.
	CanHost bool
	Allowed <-chan struct{}
	Shares  Sharing
	// Favourites is the file of the player's lists of servers.
	Favourites string
	// LAN says whether to search the local network for servers.
	LAN listing.LAN
	// Browses opens the player's own page as soon as the player is in.
	Browses bool

	// Agrees says that machines of providers at candidate places may see the player's address.
	Agrees bool

	// leaves says that the player leaves as soon as the round has found a place.
	leaves bool
	// atHost says that the player is on the host's own machine, steers that the player is the
	// organiser.
	atHost, steers bool
	// ctx is the context of Play. isIn says that the host has let the player in. to is the link of
	// the player's room.
	ctx   context.Context
	leave context.CancelFunc
	isIn  bool
	to    invite.Link
	// own is the room's game if the organiser has added it to the table.
	own atomic.Pointer[wire.OwnGame]
	// places are the candidates of the room's round.
	places atomic.Pointer[wire.Places]
	// beacon is the beacon on this machine.
	beacon beaconHere
	// delaying is the delay line of the player's game.
	delaying delaying
	// sees receives every event, too; nil receives none.
	sees func(peer.Event)

	sharing sync.Mutex // guards what follows
	// shared are the player's answers, by game, whether the lists come into the room.
	shared map[string]bool
}

// startBeacon answers as a beacon until stop is called, if the player could host the game.
func (y *Player) startBeacon(ctx context.Context) (stop func(), err error) {
	if !y.CanHost {
		return func() {}, nil
	}
	return y.beacon.start(ctx, y.Desk, y.Allowed)
}

// Enter plays in a room by its link. If no code was given and the host wants one, Enter asks for
// it, and again if it was mistyped. An open room needs no code.
func (y *Player) Enter(ctx context.Context, to invite.Link, isGiven bool) error {
	y.View.Help = y.Desk.keys(PlayerHelp)
	stop, err := y.startBeacon(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for {
		err := y.Play(ctx, to)
		var refusal wire.Refusal
		if isGiven || !errors.As(err, &refusal) || refusal.Reason != wire.ReasonCode {
			return Explain(UnlessEnded(err), to)
		}
		if to.Code != "" {
			y.Desk.Screen.Say("%s", hint.Text(y.Desk.Screen.Language, refusal))
		}
		answer, ok := y.Launcher.Console.Ask(ctx, y.Desk.Screen.Words("term.code")+" ")
		if !ok {
			return Explain(err, to)
		}
		to = said(to, answer)
		y.Launcher.Room = to.Code
	}
}

// Play joins a room and stays until ctx ends or the room is over. It returns an error if ctx ends
// before the host has let the player in. A file keeps the player's place in the room when the
// program restarts.
func (y *Player) Play(ctx context.Context, to invite.Link) error {
	ctx, y.leave = context.WithCancel(ctx)
	defer y.leave()
	y.to, y.ctx = to, ctx
	if !y.steers {
		y.Desk.enters(to, nil)
	}
	if !y.steers && !y.Once {
		y.Launcher.After = y.Desk.Screen.Words("term.next-round")
	}
	y.View.Typing = y.Desk.Typing
	says, leave := y.Desk.Typing.play()
	defer leave()
	file, noFolder := fileOf("tokens", "", to.Host, to.Code, y.Launcher.Player)
	token, noToken := userfile.Read(file)
	if noToken != nil && !errors.Is(noToken, fs.ErrNotExist) { // the first time there is none
		y.Desk.Warn(hint.Say("term.somebody-new", "why", noToken, "flag", "--name"))
	}
	warn := sync.OnceFunc(func() {
		y.Desk.Warn(hint.Say("term.place-is-lost"))
	})
	options := peer.Options{
		URL: to.Endpoint(), Code: to.Code, Key: to.Key, As: to.Secret, Name: y.Launcher.Player, Token: string(token),
		SaveToken: func(text string) {
			if noFolder == nil && userfile.Replace(file, []byte(text)) != nil {
				warn()
			}
		},
		Say: says, Asks: y.Desk.Front != nil || y.Desk.Page == nil && y.Desk.hasPerson(),
		NewProber: y.newProber, NewPlaceProber: y.newPlaceProber, Able: y.able, Brings: y.brings,
		Consents: y.consents, Launch: y.launch, Hold: y.delaying.hold, Status: y.status, Events: y.show, Once: y.Once, Logger: y.Desk.Logger, Somewhere: y.Somewhere,
		Beacon: y.beacon.port, Outside: y.beacon.reached, Discreet: y.Asking.Discreet,
		Side: cmp.Or(y.Side, wire.Side(to.Side)),
	}
	if !y.Asking.Forgets {
		options.Memory, options.Remember = recall(y.Desk.Logger)
	}
	y.View.discreet = y.Asking.Discreet
	if options.Editions = y.Launcher.Games.Own(); y.Launcher.Version != "" {
		options.Editions = y.Launcher.Games.Editions(y.Launcher.Version)
	}
	if !y.atHost {
		options.Seek, options.Near, options.Others = seek(to, y.Desk.Logger), y.near, y.others
	}
	if !y.atHost && y.LAN != listing.Off {
		networks := announcing.Begin(ctx, y.Desk.Logger)
		defer networks.Stop()
		options.Events = func(e peer.Event) {
			networks.See(e)
			y.show(e)
		}
	}
	if to.Pin != "" {
		options.TLS = peer.Pinned(to.Pin)
	}
	switch { // what the host cannot tell from the connection
	case y.Asking.IsElsewhere:
		options.Probes = wire.ProbesElsewhere
	case y.atHost:
		options.Probes = wire.ProbesAtHost
	}
	if !netinfo.Source4().IsValid() && netinfo.Source6().IsValid() {
		y.Desk.Screen.Tell("term.ipv6-only")
	}
	defer y.Desk.Screen.Rests()
	defer y.delaying.close()
	err := peer.Run(ctx, options)
	if refusal, is := errors.AsType[wire.Refusal](err); is && y.View.ends(refusal) {
		return ErrEnded
	}
	if err == nil && !y.isIn {
		return ctx.Err() // the user stopped waiting
	}
	return err
}

// ErrEnded ends a player's part after the organiser has ended the session. Nothing is wrong, and
// the player has been told.
var ErrEnded error = hint.Say("term.over")

// UnlessEnded returns nil for ErrEnded, and any other error unchanged.
func UnlessEnded(err error) error {
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// show handles an event. Once the player is in the room, typed lines go to the room.
func (y *Player) show(e peer.Event) {
	if joined, in := e.(peer.Joined); in {
		if !y.isIn && !y.steers {
			y.to.Secret = joined.Page
		}
		y.isIn, y.View.name = true, joined.Name
		y.Launcher.Console.Listen()
	}
	if changed, is := e.(peer.RoomChanged); is {
		y.own.Store(changed.Room.Room.OwnGame)
		y.places.Store(changed.Room.Places)
		if y.leaves && hasPlace(changed.Room) {
			defer y.leave()
		}
		if y.isIn && !y.steers {
			y.to.Code = changed.Room.Room.Code // a player who came into an open room had no code
			y.Desk.leadTo(y.to.Personal(y.to.Secret))
		}
		if y.Browses && y.isIn {
			y.Browses = false
			y.Desk.Present(y.ctx, y.to.Personal(y.to.Secret))
		}
	}
	if y.sees != nil {
		y.sees(e)
	}
	y.Desk.sees(e)
	y.View.Show(e)
}

// able says whether this machine can start a game, and whether the player types a server's
// password. If it cannot start, the player reads the reason and what to do about it.
func (y *Player) able(ctx context.Context, id string) wire.Able {
	if y.Desk.Front != nil {
		return wire.Able{} // it starts the game itself
	}
	able := wire.Able{TypesPassword: y.Launcher.Types(ctx, id), Delays: !y.Once && y.Launcher.HasDelayLine(ctx, id)}
	err := y.Launcher.Ready(ctx, id)
	if err == nil || ctx.Err() != nil {
		return able
	}
	if start, is := errors.AsType[*game.StartError](err); is {
		err = start.Plain()
	}
	for _, line := range hint.Lines(y.Desk.Screen.Language, err) {
		y.Desk.Screen.Say("%s", y.Desk.Screen.Wrap(line, 0))
	}
	able.Why = hint.Sentence(err)
	return able
}

// near searches this machine's networks for servers of a game. The game comes from this machine's
// own table, because a host must not choose which port every machine here is asked on.
func (y *Player) near(ctx context.Context, id string) []wire.NearServer {
	g, err := y.Launcher.Games.Find(id)
	if err != nil || y.LAN == listing.Off {
		return nil
	}
	around, err := lan.Servers(ctx, g.Protocol(), g.LANPorts(), y.Desk.Logger)
	if err != nil {
		y.Desk.Logger.Debug("cannot look for servers on the local network", "err", err)
	}
	var found []wire.NearServer
	for _, s := range around {
		found = append(found, wire.NearServer{Addr: s.Addr, Info: s.Info})
	}
	return found
}

// othersWait is how long servers of other networks may take to answer, repeats included.
const othersWait = 2 * time.Second

// others asks servers of a game on other private networks. An address to which no route leads, or only
// the one to the internet, is left alone.
func (y *Player) others(ctx context.Context, id string, at []netip.AddrPort) (answered []wire.NearServer) {
	g, err := y.Launcher.Games.Find(id)
	if err != nil || y.LAN == listing.Off {
		return nil
	}
	var servers []discovery.Server
	for _, a := range at {
		if discovery.ReachOf(netinfo.SourceTowards(a)) == discovery.NetworkReach {
			servers = append(servers, discovery.Server{Addr: a})
		}
	}
	if len(servers) == 0 {
		return nil
	}
	engine, err := y.Asking.Prober(g.Protocol(), g.Names(), nil)
	if err != nil {
		y.Desk.Logger.Debug("cannot ask the servers of other networks", "err", err)
		return nil
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	err = engine.Run(ctx, servers, discovery.NewConventional(len(servers)), func(r discovery.Result) {
		if r.State == discovery.Answered && r.Info != nil {
			answered = append(answered, wire.NearServer{Addr: servers[r.Server].Addr, Info: *r.Info})
		}
	})
	if err != nil {
		y.Desk.Logger.Debug("some servers of other networks are silent", "err", err)
	}
	return answered
}

func (y *Player) newProber(id string, rests func(time.Duration)) (peer.Prober, error) {
	g, err := y.Launcher.Games.Find(id)
	if own := y.own.Load(); err != nil && own != nil && own.ID == id {
		if g = (game.Game{ProtocolName: own.Protocol}); g.Protocol() != nil {
			y.Desk.Screen.Tell("term.added-game", "game", own.Name, "file", userfile.Config("games.toml"))
			err = nil
		}
	}
	if err != nil {
		return nil, hint.Say("term.unknown-game", "game", id).
			Advising("term.unknown-game-hint", "file", userfile.Config("games.toml"))
	}
	if g.Regions.IsPasted() {
		return y.pasted(g)
	}
	return y.Asking.Prober(g.Protocol(), g.Names(), rests)
}

// pasted answers for the regions of a game that measures them itself.
func (y *Player) pasted(g game.Game) (peer.Prober, error) {
	pings := regions.NewPasted(g.Regions, y.Asking.Pings)
	if pings.Regions() == 0 {
		return nil, hint.Say("term.regions-missing", "game", g.Name).
			Advising("term.regions-missing-hint", "command", g.Regions.Command, "flag", "--regions FILE")
	}
	y.Desk.Screen.Tell("term.regions-pasted", "n", pings.Regions())
	return pings, nil
}

// newPlaceProber returns a prober of candidate places, which answer by a game's protocol or as beacons.
func (y *Player) newPlaceProber(protocol string) (peer.Prober, error) {
	known := game.Game{ProtocolName: protocol}.Protocol()
	if known == nil {
		return nil, hint.Say("term.unknown-protocol", "protocol", protocol)
	}
	return y.Asking.Prober(known, names.Resolver{}, nil)
}
