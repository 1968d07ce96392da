package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/game"
	"muster/selection"
	"muster/web"
)

// hosting is the command that opens a room.
type hosting struct {
	*program
	screen    *screen
	game      string
	strategy  discovery.Strategy
	settings  host.Settings
	by        selection.Rule
	listen    string
	sources   sources
	noPlay    bool
	noMDNS    bool
	noBrowser bool
	name      string
	fresh     bool
	given     func(flag string) bool // on the command line
	once      bool
	probing   probing
	launching launching
	doors     doors
	// public is where the router lets friends in; nil if that is not known.
	public atomic.Pointer[netip.Addr]
}

func newHost(p *program) *cobra.Command {
	h := &hosting{program: p, screen: p.screen()}
	cmd := &cobra.Command{
		Use:   "host --game ID",
		Short: "Open a room, and play in it",
		Long: `Host opens a room and prints a link for your friends. When everyone is here,
all measure the game's servers, the one that is best for the group is chosen by
the rule, and everyone's game starts there. You play, too, unless you say
--no-play.`,
		Example: `  muster host --game openarena --players 4
  muster host --game xonotic --map dance --by threshold --max-rtt 100ms,150ms
  muster host --game cs2 --servers our-servers.txt --listen 192.0.2.1:7777`,
		RunE: func(cmd *cobra.Command, _ []string) error { return h.run(cmd.Context()) },
	}
	p.gameFlag(cmd, &h.game)
	h.bindWishes(cmd)
	flags := cmd.Flags()
	h.given = flags.Changed
	flags.StringVar(&h.name, "name", defaultName(), "your `NAME` in the room")
	flags.StringVar(&h.settings.Name, "room", "", "the room's `NAME` (default: its code)")
	flags.StringVar(&h.settings.Password, "password", "", "the game server's `PASSWORD`, given to players only")
	flags.StringVar(&h.listen, "listen", ":"+defaultPort, "`ADDRESS` to listen on")
	flags.BoolVar(&h.noPlay, "no-play", false, "only host, do not play")
	flags.BoolVar(&h.noMDNS, "no-mdns", false, "do not announce the room on the local network")
	flags.BoolVar(&h.noBrowser, "no-browser", false, "do not open the page in a browser")
	flags.BoolVar(&h.fresh, "new", false, "open a new room even if there is one from before a restart")
	flags.BoolVar(&h.once, "once", false, "end after the first round")
	flags.BoolVar(&h.settings.Open, "open", false, "let everybody in who finds the room, without its code")
	h.doors.bind(flags)
	h.launching.bind(cmd)
	h.sources.bind(cmd)
	bindWord(cmd, &h.strategy, "strategy", wire.Coordinated, roomStrategies(), "how players measure")
	h.probing.bind(flags)
	return cmd
}

// bindWishes adds the flags that say what the group wants.
func (h *hosting) bindWishes(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&h.settings.Players, "players", 0, "start by itself once `N` are here; 0 waits for Enter")
	bindRule(cmd, &h.by, "", "rule for the choice (default: the game's)")
	bindLimits(flags, &h.settings.Limits)
	flags.StringVar(&h.settings.Map, "map", "", "only servers on this `MAP`")
	flags.StringVar(&h.settings.Mode, "mode", "", "only servers of this game `MODE`")
}

func (h *hosting) run(ctx context.Context) error {
	g, err := h.check()
	if err != nil {
		return err
	}
	listener, err := listen(h.listen)
	if err != nil {
		return err
	}
	games, err := h.games()
	if err != nil {
		listener.Close()
		return err
	}
	lists := &lists{hosting: h, games: games, newest: make(map[string]fetched)}
	if _, err := lists.fetch(ctx, g); err != nil {
		listener.Close()
		return err
	}
	return h.hold(ctx, listener, lists)
}

// check turns the flags into settings.
func (h *hosting) check() (game.Game, error) {
	g, err := h.findGame(h.game)
	if err != nil {
		return g, err
	}
	if err := needsLimit(h.by, h.settings.Limits); err != nil {
		return g, err
	}
	h.settings.Game, h.settings.Strategy, h.settings.By = g.ID, string(h.strategy), h.by
	if h.by == "" {
		h.settings.By = g.Rule
	}
	wish := selection.Criteria{By: h.settings.By, Limits: h.settings.Limits}
	if err := wish.Check(nil); err != nil {
		return g, usageError(err)
	}
	if h.settings.Players < 0 {
		return g, usagef("--players %d is below 0", h.settings.Players)
	}
	if err := h.launching.check(); err != nil {
		return g, err
	}
	if err := checkListen(h.listen); err != nil {
		return g, err
	}
	if err := h.doors.check(); err != nil {
		return g, err
	}
	_, err = h.probing.options(h.program, nil)
	return g, err
}

// hold runs the host until ctx ends or, with --once, the round is over.
func (h *hosting) hold(ctx context.Context, listener net.Listener, lists *lists) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listener = h.doors.secure(listener)
	rooms, err := host.New(host.Config{
		List: lists.forRoom, Neighbours: lists.neighbours, Store: h.store(listener), Page: web.Handler(), Logger: h.logger(),
		Fingerprint: h.doors.fingerprint(), Proxies: h.doors.proxies, Home: atHome,
		Address: h.outside(listener.Addr(), "").host, PublicURL: h.doors.public, ConnectLink: h.connectLink, Games: lists.choices(),
	})
	if err != nil {
		listener.Close()
		return err
	}
	stop := h.program.serve(listener, rooms, cancel)
	err = h.night(ctx, rooms, listener.Addr())
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	stop()
	return errors.Join(err, rooms.Close())
}

// store is where rooms survive a restart. One program at a time has the file:
// a second host on this machine keeps its rooms in another.
func (h *hosting) store(listener net.Listener) store.Store {
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // a listener's own address has one
	file, err := stateFile("rooms-" + port + ".db")
	if err == nil {
		var kept store.Store
		if kept, err = store.Open(file); err == nil {
			return kept
		}
	}
	h.screen.warn([]error{fmt.Errorf("rooms will not survive a restart: %w", err)})
	return store.None{}
}

// night opens the room and plays in it.
func (h *hosting) night(ctx context.Context, rooms *host.Host, at net.Addr) error {
	games, err := h.games()
	if err != nil {
		return err
	}
	addr := discovery.Canonical(netip.MustParseAddrPort(at.String()))
	code := h.room(rooms)
	outside := h.outside(at, code)
	h.invite(outside, addr)
	h.screen.say("yours alone, to steer from the page:\n%s", outside.steering(rooms.Secret(code)))
	h.screen.say("%s", h.start())
	defer h.announce(ctx, rooms, code, addr)()
	defer h.letIn(ctx, h.doors.direct(invitation{host: reachable(addr).String(), code: code}), addr)()
	if !h.noBrowser {
		h.browse(ctx, h.doors.inside(invitation{host: loopback(addr), code: code}).steering(rooms.Secret(code)))
	}
	console := h.console(func() { rooms.Go(code) })
	narrator := &narrator{screen: h.screen, help: organiserHelp(!h.noPlay)}
	if h.noPlay {
		return h.watch(ctx, rooms, code, narrator)
	}
	playing := &playing{
		program: h.program, probing: h.probing, games: games, name: h.name, once: h.once, narrator: narrator, atHost: true,
		launcher: &launcher{launching: h.launching, games: games, player: h.name, room: code, console: console, screen: h.screen, after: anotherRound},
	}
	here := h.doors.inside(invitation{host: loopback(addr), code: code})
	return explain(playing.play(ctx, here), here)
}

// start says how a round begins.
func (h *hosting) start() string {
	if n := h.settings.Players; n > 0 {
		return fmt.Sprintf("waiting for %d players; Enter starts with who is here", n)
	}
	return "press Enter when everyone is here"
}

// outside is an invitation for friends to what listens at an address.
func (h *hosting) outside(at net.Addr, code string) invitation {
	addr := discovery.Canonical(netip.MustParseAddrPort(at.String()))
	return h.doors.outside(invitation{host: reachable(addr).String(), code: code})
}

// connectLink is what takes a browser to a server, for games that a URL starts.
func (h *hosting) connectLink(id, address string) string {
	games, err := h.games()
	if err != nil {
		return ""
	}
	g, err := games.Find(id)
	addr, badAddress := netip.ParseAddrPort(address)
	if err != nil || badAddress != nil {
		return ""
	}
	argv, err := g.Command(g.Template(runtime.GOOS), game.Target{Address: addr})
	if err != nil || !strings.HasPrefix(argv[len(argv)-1], "steam://") {
		return ""
	}
	return argv[len(argv)-1]
}

// console listens to the organiser's Enter, unless standard input is the list.
func (h *hosting) console(enter func()) *console {
	in, alone := h.streams.In, func() {}
	if slices.Contains(h.sources.files, standardInput) {
		in = eof{}
	}
	if h.settings.Players == 0 {
		alone = func() {
			h.screen.say("nobody can press Enter here: standard input has ended. Say --players N, and the room starts by itself")
		}
	}
	c := newConsole(in, h.screen, enter, alone)
	c.listen()
	return c
}

// loopback is where this machine reaches its own listener.
func loopback(listening netip.AddrPort) string {
	if listening.Addr().IsUnspecified() {
		return netip.AddrPortFrom(localhost, listening.Port()).String()
	}
	return listening.String()
}

// room is the room from before a restart, with what the command line says now, or
// a new one: then those from before are over, and who still has their links hears so.
func (h *hosting) room(rooms *host.Host) string {
	for _, code := range rooms.Rooms() {
		if old, ok := rooms.Settings(code); ok && !h.fresh && h.continues(old) {
			settings := h.over(old)
			if !reflect.DeepEqual(settings, old) {
				rooms.Resettle(code, settings)
			}
			h.screen.say("going on with room %s from before, %s; --new opens another", code, settings)
			return code
		}
	}
	for _, code := range rooms.Rooms() {
		h.screen.say("room %s from before is over; its link leads here no more", code)
		rooms.CloseRoom(code)
	}
	code, _ := rooms.Open(h.settings)
	return code
}

// continues tells that a room from before is the one that is wanted again.
func (h *hosting) continues(old host.Settings) bool {
	return old.Game == h.settings.Game && old.Open == h.settings.Open && (old.Name == h.settings.Name || !h.given("room"))
}

// over are the settings of a room from before, where the command line says nothing
// else: the organiser may have changed some on the page.
func (h *hosting) over(old host.Settings) host.Settings {
	given := h.settings
	for flag, take := range map[string]func(){
		"players": func() { old.Players = given.Players }, "by": func() { old.By = given.By },
		"max-rtt": func() { old.Limits = given.Limits }, "map": func() { old.Map = given.Map },
		"mode": func() { old.Mode = given.Mode }, "password": func() { old.Password = given.Password },
		"strategy": func() { old.Strategy = given.Strategy },
	} {
		if h.given(flag) {
			take()
		}
	}
	return old
}

// watch shows the room to an organiser who does not play.
func (h *hosting) watch(ctx context.Context, rooms *host.Host, code string, narrator *narrator) error {
	for room := range rooms.Watch(ctx, code) {
		narrator.room(room)
		switch {
		case !h.once:
		case room.Stage == wire.Failed:
			return errNothing
		case room.Stage == wire.Launching && everyoneLaunched(room):
			return nil
		}
	}
	return nil
}

func everyoneLaunched(room wire.Room) bool {
	return !slices.ContainsFunc(room.Members, func(m wire.Member) bool {
		return m.Connected && (m.Launch == "" || m.Launch == wire.LaunchAsking)
	})
}
