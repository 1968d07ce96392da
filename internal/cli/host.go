package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/internal/game"
	"muster/selection"
	"muster/web"
)

// hosting is the command that opens a room.
type hosting struct {
	*program
	game      string
	strategy  discovery.Strategy
	settings  host.Settings
	by        string
	listen    string
	sources   sources
	noPlay    bool
	noMDNS    bool
	noBrowser bool
	name      string
	fresh     bool
	once      bool
	probing   probing
	launching launching
}

func newHost(p *program) *cobra.Command {
	h := &hosting{program: p}
	cmd := &cobra.Command{
		Use:   "host --game ID",
		Short: "Open a room, and play in it",
		Example: `  muster host --game openarena --players 4
  muster host --game xonotic --map dance --by threshold --max-rtt 100ms,150ms`,
		RunE: func(cmd *cobra.Command, _ []string) error { return h.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	p.gameFlag(cmd, &h.game)
	flags.IntVar(&h.settings.Players, "players", 0, "start by itself once this many are here; 0 waits for Enter")
	flags.StringVar(&h.by, "by", "", "rule for the choice: "+words(selection.Rules())+" (default: the game's)")
	flags.DurationSliceVar(&h.settings.Limits, "max-rtt", nil, "nobody may be over this RTT; several are tried from the strictest")
	flags.StringVar(&h.settings.Map, "map", "", "only servers on this `MAP`")
	flags.StringVar(&h.settings.Mode, "mode", "", "only servers of this game `MODE`")
	flags.StringVar(&h.name, "name", defaultName(), "your name in the room")
	flags.StringVar(&h.settings.Name, "room", "", "the room's name (default: yours)")
	flags.StringVar(&h.settings.Password, "password", "", "the game server's password, given to players only")
	flags.StringVar(&h.listen, "listen", ":"+defaultPort, "`ADDRESS` to listen on")
	flags.TextVar(&h.strategy, "strategy", discovery.Conventional, "order in which players probe: "+words(discovery.Strategies()))
	completeWords(cmd, "strategy", discovery.Strategies())
	h.sources.bind(flags)
	flags.BoolVar(&h.noPlay, "no-play", false, "only host, do not play")
	flags.BoolVar(&h.noMDNS, "no-mdns", false, "do not announce the room on the local network")
	flags.BoolVar(&h.noBrowser, "no-browser", false, "do not open the page in a browser")
	flags.BoolVar(&h.fresh, "new", false, "open a new room even if there is one from before a restart")
	flags.BoolVar(&h.once, "once", false, "end after the first round")
	h.probing.bind(flags)
	h.launching.bind(flags)
	return cmd
}

func (h *hosting) run(ctx context.Context) error {
	g, err := h.check()
	if err != nil {
		return err
	}
	lists := &lists{hosting: h, game: g}
	if _, err := lists.fetch(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", h.listen)
	if err != nil {
		return hinted(fmt.Errorf("cannot listen: %w", err), "is another muster host running? choose another port with --listen :7778")
	}
	return h.serve(ctx, listener, lists)
}

// check turns the flags into settings.
func (h *hosting) check() (game.Game, error) {
	g, err := h.findGame(h.game)
	if err != nil {
		return g, err
	}
	h.settings.Game, h.settings.Strategy = g.ID, string(h.strategy)
	h.settings.By = selection.Rule(h.by)
	if h.by == "" {
		h.settings.By = g.Rule
	}
	wish := selection.Wish{By: h.settings.By, Limits: h.settings.Limits}
	if err := wish.Check(nil); err != nil {
		return g, usageError(err)
	}
	if h.settings.Players < 0 {
		return g, usagef("--players %d is below 0", h.settings.Players)
	}
	if err := h.launching.check(); err != nil {
		return g, err
	}
	_, err = h.probing.options(h.program, nil)
	return g, err
}

// serve runs the host until ctx ends or, with --once, the round is over.
func (h *hosting) serve(ctx context.Context, listener net.Listener, lists *lists) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rooms, err := host.New(host.Config{List: lists.forRoom, Store: h.store(listener), Page: web.Handler(), Logger: h.logger()})
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: rooms.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: nil}
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.logger().Error("the host stopped serving", "error", err)
			cancel()
		}
	})
	err = h.night(ctx, rooms, listener.Addr())
	server.Close()
	work.Wait()
	return errors.Join(err, rooms.Close())
}

// store is where rooms survive a restart. One program at a time has the file:
// a second host on this machine keeps its rooms in another.
func (h *hosting) store(listener net.Listener) host.Store {
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	file, err := stateFile("rooms-" + port + ".db")
	if err == nil {
		var store host.Store
		if store, err = host.OpenStore(file); err == nil {
			return store
		}
	}
	h.warn([]error{fmt.Errorf("rooms will not survive a restart: %w", err)})
	return host.NoStore()
}

// night opens the room and plays in it.
func (h *hosting) night(ctx context.Context, rooms *host.Host, at net.Addr) error {
	addr := netip.MustParseAddrPort(at.String())
	code := h.room(rooms)
	h.invite(invitation{host: reachable(discovery.Canonical(addr)), code: code})
	games, err := h.games()
	if err != nil {
		return err
	}
	console := newConsole(h.streams.In, h.streams.Err, func(string) { rooms.Go(code) })
	if h.noPlay {
		return h.watch(ctx, rooms, code)
	}
	playing := &playing{
		program: h.program, probing: h.probing, games: games, name: h.name, once: h.once,
		launcher: &launcher{program: h.program, launching: h.launching, games: games, player: h.name, room: code, console: console},
	}
	here := invitation{host: loopback(addr), code: code}
	return explain(playing.play(ctx, here), here)
}

// loopback is where this machine reaches its own listener.
func loopback(listening netip.AddrPort) string {
	if listening.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), listening.Port()).String()
	}
	return listening.String()
}

// room is the room from before a restart, if it has the same settings, or a new
// one.
func (h *hosting) room(rooms *host.Host) string {
	for _, code := range rooms.Rooms() {
		if old, _ := rooms.Room(code); !h.fresh && h.continues(old) {
			fmt.Fprintf(h.streams.Err, "going on with room %s from before; --new opens another\n", code)
			return code
		}
	}
	code, _ := rooms.Open(h.settings)
	return code
}

func (h *hosting) continues(old wire.Room) bool {
	s := h.settings
	return old.Game == s.Game && old.Name == s.Name && old.Seats == s.Players && old.By == s.By &&
		old.Map == s.Map && old.Mode == s.Mode
}

// invite prints what friends need: a link, the code, the line to paste.
func (h *hosting) invite(i invitation) {
	out, bold := h.streams.Out, h.style(h.streams.Out)
	fmt.Fprintf(out, "link  %s\ncode  %s\njoin  muster join %s\n", bold.bold(i.link()), bold.bold(i.code), i.link())
	if isTerminal(out) {
		qrterminal.GenerateHalfBlock(i.link(), qrterminal.L, out)
	}
	if h.settings.Players > 0 {
		fmt.Fprintf(h.streams.Err, "waiting for %d players; Enter starts with who is here\n", h.settings.Players)
	} else {
		fmt.Fprintln(h.streams.Err, "press Enter when everyone is here")
	}
}

// watch shows the room to an organiser who does not play.
func (h *hosting) watch(ctx context.Context, rooms *host.Host, code string) error {
	s := screen{program: h.program}
	for room := range rooms.Watch(ctx, code) {
		s.room(room)
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

// lists fetches the game's server list for the rooms. What was fetched to see
// that it can be had serves a round that starts soon after.
type lists struct {
	*hosting
	game game.Game

	mu      sync.Mutex // guards following
	servers []discovery.Server
	at      time.Time
}

// freshFor is how long a list is as good as a new one.
const freshFor = time.Minute

func (l *lists) fetch(ctx context.Context) ([]discovery.Server, error) {
	listing, err := l.sources.list(ctx, l.game, l.streams.In)
	if err != nil {
		return nil, err
	}
	l.warn(listing.Warnings)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers, l.at = listing.Servers, time.Now()
	fmt.Fprintln(l.streams.Err, describe(l.servers, l.game))
	return l.servers, nil
}

// forRoom is the newest list to be had.
func (l *lists) forRoom(ctx context.Context, _ string) ([]discovery.Server, error) {
	l.mu.Lock()
	servers, age := l.servers, time.Since(l.at)
	l.mu.Unlock()
	if age < freshFor {
		return servers, nil
	}
	fetched, err := l.fetch(ctx)
	if err != nil {
		l.warn([]error{fmt.Errorf("taking the list of %v ago: %w", age.Round(time.Minute), err)})
		return servers, nil
	}
	return fetched, nil
}
