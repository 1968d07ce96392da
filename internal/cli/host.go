package cli

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"muster/host/wire"
	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/ingress"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/ownhost"
	"muster/internal/term"
	"muster/internal/venue"
)

// hostCommand is the command that opens a room.
type hostCommand struct {
	*program
	sits     *lobby.Desk
	game     string
	settings wire.Settings
	listen   string
	lists    listing.Rooms
	noPlay   bool
	noMDNS   bool
	fresh    bool
	given    func(flag string) bool // on the command line, or as if
	give     func(flag, text string) error
	playing

	ingress   ingress.Ingress
	tls       bool
	cert, key string
	password  string // the file that holds it
	webhook   string // also a file
	downloads handout.Options
	starts    starting

	// at is the public host for the room. here overrides it: the room is on this machine.
	at   string
	here bool
}

func newHost(h *hostCommand) *cobra.Command {
	p := h.program
	h.settings.Strategy = wire.Coordinated
	cmd := &cobra.Command{
		GroupID: toPlay,
		Use:     "host [GAME]",
		Short:   "Open a room, and play in it",
		Long: `Host opens a room and prints a link for your friends. When everyone is here,
all measure the game's servers, the one that is best for the group is chosen by
the rule, and everyone's game starts there. You play, too, unless you say
--no-play.

The room is on this machine, and friends on the internet need your router to let
them in; with --at it is on a public host, where everyone connects to, you as
well. Closing this program does not end such a room: the same command goes on
with it. A host for all your rooms is set by at in
  ` + configFile("config.toml") + `
or by MUSTER_AT in the environment; --here is for the others.

With --where the room looks for a place where a server of your own would suit
everybody, and needs no game: friends open the link and press one button.`,
		Example: `  muster host openarena --players 4
  muster host --game xonotic --map dance --by threshold --max-rtt 100ms,150ms
  muster host --game cs2 --servers our-servers.txt --listen 192.0.2.1:7777
  muster host --game openarena --at https://muster.example
  muster host valheim --where`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := wantsEquals(cmd, args); err != nil {
				return err
			}
			return oneGame(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				h.game = cmp.Or(h.game, h.gameOfStanding())
			}
			if h.game != "" || len(args) > 0 || !h.isOfPlaces() {
				if h.game, err = p.pickGame(cmd.Context(), h.game, args); err != nil {
					return err
				}
			}
			h.sits = p.desk()
			return h.run(cmd.Context())
		},
	}
	flags, section := cmd.Flags(), option.Sections(cmd)
	h.given, h.give = flags.Changed, flags.Set
	section("What you look for")
	p.gameFlag(cmd, &h.game)
	h.program.bindSettings(cmd, &h.settings, wire.OfServers)
	section("The room")
	h.program.bindSettings(cmd, &h.settings, wire.OfRoom)
	flags.StringVar(&h.at, "at", "", "open the room on the public host at `URL`, such as https://muster.example")
	flags.BoolVar(&h.here, "here", false, "open it on this machine, whatever config.toml or MUSTER_AT say")
	flags.BoolVar(&h.fresh, "new", false, "open a new room even if there is one from before a restart")
	section("The evening")
	h.program.bindSettings(cmd, &h.settings, wire.OfEvening)
	flags.BoolVar(&h.player.Once, "once", false, "end after the first round")
	flags.StringVar(&h.password, "password-file", "", "like --password, but everybody on this machine can read a command "+
		"line: the first line of `FILE`, or else what MUSTER_PASSWORD is in the environment")
	flags.StringVar(&h.webhook, "webhook-file", "", "like --webhook, but nobody else on this machine reads it: the first "+
		"line of `FILE`, or else what MUSTER_WEBHOOK is in the environment")
	section("A match of two sides")
	h.program.bindSettings(cmd, &h.settings, wire.OfMatch)
	section("You")
	h.bindPlayer(cmd)
	flags.BoolVar(&h.noPlay, "no-play", false, "only host, do not play")
	section("Who may come, and how")
	h.program.bindSettings(cmd, &h.settings, wire.OfAccess)
	option.YesNo(flags, &h.portMap, "port-map", "have the router let friends in from the internet; =false leaves it alone. "+
		"Without either Muster asks you once, and remembers it as port_map in config.toml")
	flags.StringVar(&h.listen, "listen", ":"+invite.DefaultPort, "`ADDRESS` to listen on")
	flags.BoolVar(&h.noMDNS, "no-mdns", false, "do not announce the room on the local network; nor do players' programs, without --announce")
	flags.BoolVar(&h.tls, "tls", false, "encrypt, with the host's own certificate: the link carries its fingerprint")
	flags.StringVar(&h.cert, "tls-cert", "", "encrypt with the certificate in `FILE.pem`")
	flags.StringVar(&h.key, "tls-key", "", "the certificate's key, `FILE.pem`")
	bindIngress(flags, &h.ingress)
	bindDownloads(flags, &h.downloads)
	section("Where servers are listed")
	p.bindSources(cmd, &h.lists.Sources)
	bindSharing(cmd, &h.player.Shares)
	section("How servers are asked")
	h.probing.bind(flags)
	h.probing.bindRoom(flags)
	section("A server of your own")
	h.bindCanHost(flags)
	p.bindVenues(cmd, &h.settings.Places, "default: builtin with --where, else none")
	h.starts.bind(cmd)
	section("Other")
	option.ShortHelp(cmd, func() string {
		return option.MostUsed(cmd, "Host opens a room and prints a link for your friends. When everyone is here, all\n"+
			"measure the game's servers, and everyone's game starts on the best one for the group.",
			"players by max-rtt map servers name no-play port-map at every vote launch")
	})
	return cmd
}

// run hosts until ctx ends or, with --once, the round is over.
func (h *hostCommand) run(ctx context.Context) error {
	if h.here && h.given("at") && h.at != "" {
		return usagef("--at and --here exclude each other")
	}
	if h.at != "" && !h.here {
		return h.runAt(ctx)
	}
	if h.noMDNS && !h.given(wire.AnnounceKey) { // nor do the players' programs announce it
		if err := h.give(wire.AnnounceKey, "false"); err != nil {
			return err
		}
	}
	g, err := h.check()
	if err != nil {
		return err
	}
	listener, err := ownhost.Listen(h.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := h.load(h.ingress.PublicAddress); err != nil {
		return err
	}
	programs, err := h.downloads.Open(ctx, h.logger(), h.screen.Say, h.warn)
	if err != nil {
		return err
	}
	defer programs.Close()
	defer h.lists.Begin(ctx)()
	if !h.isOfPlaces() {
		if err := h.lists.FirstList(g, h.in, h.screen); err != nil {
			return err
		}
		if _, err := h.lists.Fetch(ctx, g); err != nil {
			return err
		}
	}
	places := h.takePlaces()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rooms, err := ownhost.New(ownhost.Config{
		Listener: listener, Ingress: &h.ingress, Lists: &h.lists, Places: places, Programs: programs,
		Webhook: h.settings.Webhook, Logger: h.logger(), Warn: h.warn, Failed: stoppedServing(cancel),
	})
	if err != nil {
		return err
	}
	err = h.hold(ctx, rooms)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return errors.Join(err, rooms.Close())
}

// isOfPlaces reports whether the room looks for a place alone: it needs no list, and perhaps no game.
func (h *hostCommand) isOfPlaces() bool { return h.settings.Seeks == wire.SeekPlace }

// takePlaces returns the host's places. Those of providers are for rooms that look for a place, and no others.
func (h *hostCommand) takePlaces() wire.Venues {
	if h.settings.Seeks != "" && !h.given(placesFlag) {
		h.settings.Places = venue.Builtin()
	}
	places := h.settings.Places
	h.settings.Places = h.roomPlaces()
	return places
}

// roomPlaces returns the given places as the room's own: those of providers only if it looks for a place.
func (h *hostCommand) roomPlaces() wire.Venues {
	if h.settings.Seeks != "" {
		return h.settings.Places
	}
	return slices.DeleteFunc(slices.Clone(h.settings.Places), func(v wire.Venue) bool { return len(v.Offers) > 0 })
}

// load loads the games. public returns the host's address on the internet.
func (h *hostCommand) load(public func() netip.Addr) (err error) {
	h.launcher.Games, err = h.games()
	h.lists.Games, h.lists.Public, h.lists.Say, h.lists.Warn, h.lists.Log = h.launcher.Games, public, h.screen.Say, h.warn, h.logger()
	return err
}

// stoppedServing returns a function that ends the command when its host stops serving.
func stoppedServing(cancel context.CancelCauseFunc) func(error) {
	return func(err error) { cancel(hint.Say("term.stopped-serving", "why", hint.Reason(err))) }
}

// hold opens the room, and steers it like one on a remote host.
func (h *hostCommand) hold(ctx context.Context, rooms *ownhost.Host) error {
	request := ownhost.Request{Settings: h.settings, Given: h.given, Fresh: h.fresh}
	request.Settings.LookBeyond = h.lists.LooksAround()
	if h.given("listen") {
		request.More += " --listen " + h.listen
	}
	if h.given("here") {
		request.More += " --here"
	}
	code, err := rooms.Room(request, h.screen.Tell)
	if err != nil {
		return err
	}
	agreed := make(chan struct{})
	h.later = agreed
	organiser := h.organiser(rooms.Inside(code), rooms.Outside(code), func() wire.Settings { return rooms.Settings(code) })
	organiser.Listen, organiser.Client = h.listen, lobby.ClientOf(organiser.Link)
	rooms.OnRenewed(func(secret string) {
		organiser.Renewed(secret)
		h.screen.Say("%s\n%s", h.screen.Words("term.new-link"), rooms.Outside(code).Personal(secret))
	})
	console, stop := organiser.Begin(ctx)
	defer stop()
	ways, asks := h.waysIn(rooms.At(), organiser.Friends)
	if ways != "" {
		h.screen.Say("%s", ways)
		defer h.offerRouter(ctx, console, func() (stop func()) {
			close(agreed)
			return rooms.AskRouter(ctx, code, h.screen.Print)
		})()
	}
	organiser.Greet(ctx)
	if !h.noMDNS {
		defer rooms.Announce(ctx, code, h.launcher.Player)()
	}
	if asks {
		defer rooms.AskRouter(ctx, code, h.screen.Print)()
	}
	err = organiser.Run(ctx)
	if err == nil {
		rooms.Linger(ctx)
	}
	return err
}

// organiser returns the organiser's part in a room, following the flags.
func (h *hostCommand) organiser(link, friends invite.Link, settings func() wire.Settings) *lobby.Organiser {
	o := &lobby.Organiser{
		Settings: &h.settings,
		Desk:     h.sits, Link: link, Friends: friends, Awaits: h.settings.Players,
		Once: h.player.Once, NoBrowser: h.noBrowser, NoInput: h.lists.HasStdin(),
		Starter: h.starts.starter(h.launcher.Games, h.asking(&h.probing), settings),
	}
	if !h.noPlay {
		o.Player = h.part(h.program)
		o.Player.LAN = h.lists.LAN
	}
	return o
}

// offerRouter asks once, as [lobby.Desk.OfferRouter] does, and remembers the answer in config.toml.
func (h *hostCommand) offerRouter(ctx context.Context, c *term.Console, ask func() (stop func())) (stop func()) {
	if h.portMap != notAsked || h.home == nil && h.lists.HasStdin() {
		return func() {}
	}
	return h.desk().OfferRouter(ctx, c, func(yes bool) error {
		return h.settle(map[string]string{"port_map": strconv.FormatBool(yes)})
	}, ask)
}

// waysIn says how friends elsewhere get in if the link does not work for all of them. asks says
// whether the router is asked to let them in.
func (h *hostCommand) waysIn(at netip.AddrPort, outside invite.Link) (ways string, asks bool) {
	asks = h.portMap == consented && h.given("port-map")
	switch addr, err := netip.ParseAddrPort(outside.Host); {
	case err != nil:
	case !addr.Addr().IsLoopback():
		if ways = h.screen.Language.Say(lobby.WaysOut(addr.Addr())); h.portMap == consented {
			return "", asks || ways != "" // the router is asked only where it blocks the way
		}
	case at.Addr().IsUnspecified():
		h.screen.Tell("term.no-network")
	default:
		h.screen.Tell("term.loopback-only", "address", addr.Addr())
	}
	return ways, asks
}

// gameOfStanding returns the game of the user's standing room that the flags name, or an empty
// text.
func (h *hostCommand) gameOfStanding() string {
	at := ""
	if h.at != "" && !h.here {
		if base, err := publicHost(h.at); err == nil {
			at = base.String()
		}
	}
	return lobby.GameOfStanding(h.settings.Name, at, h.listen)
}
