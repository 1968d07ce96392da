package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host"
	"muster/host/access"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/ingress"
	"muster/internal/input"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/netinfo"
	"muster/internal/release"
	"muster/internal/term"
	"muster/internal/userfile"
	"muster/internal/webhook"
	"muster/web"
)

// hosting is the command that opens a room.
type hosting struct {
	*program
	sits      *lobby.Desk
	game      string
	settings  wire.Settings
	listen    string
	lists     listing.Rooms
	noPlay    bool
	noMDNS    bool
	noBrowser bool
	fresh     bool
	given     func(flag string) bool // on the command line, or as if
	give      func(flag, text string) error
	once      bool
	probing   probing
	launcher  game.Launcher
	shares    lobby.Sharing

	ingress   ingress.Ingress
	tls       bool
	cert, key string
	proxies   []netip.Prefix
	names     []string
	metrics   []netip.Prefix
	password  string // the file that holds it
	webhook   string // as does this one
	downloads downloads
	portMap   consent
	starting  starting
	canHost   canHost

	// at is the public host that has the room; here: on this machine all the same.
	at   string
	here bool
}

func newHost(p *program) *cobra.Command {
	h := &hosting{program: p, settings: wire.Settings{Strategy: wire.Coordinated}}
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
or by MUSTER_AT in the environment; --here is for the others.`,
		Example: `  muster host openarena --players 4
  muster host --game xonotic --map dance --by threshold --max-rtt 100ms,150ms
  muster host --game cs2 --servers our-servers.txt --listen 192.0.2.1:7777
  muster host --game openarena --at https://muster.example`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := wantsEquals(cmd, args); err != nil {
				return err
			}
			return oneGame(args, "muster host")
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				h.game = cmp.Or(h.game, h.gameOfStanding())
			}
			if h.game, err = p.pickGame(cmd.Context(), h.game, args); err != nil {
				return err
			}
			h.sits = p.desk()
			return h.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	p.gameFlag(cmd, &h.game)
	bindSettings(cmd, &h.settings)
	h.given, h.give = flags.Changed, flags.Set
	flags.StringVar(&h.at, "at", "", "open the room on the public host at `URL`, such as https://muster.example")
	flags.BoolVar(&h.here, "here", false, "open it on this machine, whatever config.toml or MUSTER_AT say")
	p.bindVenues(cmd, &h.settings.Places)
	flags.StringVar(&h.launcher.Player, "name", defaultName(), "your `NAME` in the room")
	flags.StringVar(&h.listen, "listen", ":"+invite.DefaultPort, "`ADDRESS` to listen on")
	flags.BoolVar(&h.noPlay, "no-play", false, "only host, do not play")
	flags.BoolVar(&h.noMDNS, "no-mdns", false, "do not announce the room on the local network")
	flags.BoolVar(&h.noBrowser, "no-browser", false, "do not open the page in a browser")
	flags.BoolVar(&h.fresh, "new", false, "open a new room even if there is one from before a restart")
	flags.BoolVar(&h.once, "once", false, "end after the first round")
	h.bindIngress(flags)
	h.downloads.bind(flags)
	bindSharing(cmd, &h.shares)
	bindLaunch(cmd, &h.launcher)
	p.bindSources(cmd, &h.lists.Sources)
	h.probing.bind(flags)
	h.starting.program, h.starting.probing = p, &h.probing
	h.starting.bind(cmd)
	h.canHost.bind(flags)
	inSections(cmd, ofHost())
	return cmd
}

// bindIngress adds the flags that say how players get at the host.
func (h *hosting) bindIngress(flags *pflag.FlagSet) {
	flags.BoolVar(&h.tls, "tls", false, "encrypt, with the host's own certificate: the link carries its fingerprint")
	flags.StringVar(&h.cert, "tls-cert", "", "encrypt with the certificate in `FILE.pem`")
	flags.StringVar(&h.key, "tls-key", "", "the certificate's key, `FILE.pem`")
	flags.Var(networks(&h.proxies), "trusted-proxy", "believe X-Forwarded-For, -Host and -Proto of the reverse proxy at `ADDRESS` or in a network (repeatable)")
	flags.Var(value{"URL", "", func(text string) (err error) {
		h.ingress.Public, err = invite.ParseBase(text)
		return err
	}}, "public-url", "what friends reach this host by through a proxy or tunnel, such as https://night.example: `URL` for links")
	flags.StringArrayVar(&h.names, "host-name", nil, "a `NAME` of yours that leads to this host, which browsers may ask for (repeatable; addresses and this machine's own names need none)")
	flags.Var(networks(&h.metrics), "metrics-from", "let programs at `ADDRESS` or in a network have /metrics, too (repeatable)")
	flags.StringVar(&h.password, "password-file", "", "like --password, but everybody on this machine can read a command line: the first line of `FILE`, or else what MUSTER_PASSWORD is in the environment")
	flags.StringVar(&h.webhook, "webhook-file", "", "like --webhook, but nobody else on this machine reads it: the first line of `FILE`, or else what MUSTER_WEBHOOK is in the environment")
	bindYesNo(flags, &h.portMap, "port-map", "have the router let friends in from the internet; =false leaves it alone. Without either Muster asks you once, and remembers it as port_map in config.toml")
}

// run hosts until ctx ends or, with --once, the round is over.
func (h *hosting) run(ctx context.Context) error {
	if h.here && h.given("at") && h.at != "" {
		return usagef("--at and --here exclude each other")
	}
	if h.at != "" && !h.here {
		return h.runAt(ctx)
	}
	g, err := h.check()
	if err != nil {
		return err
	}
	listener, err := listen(h.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	games, err := h.games()
	if err != nil {
		return err
	}
	h.lists.Games, h.lists.Public, h.lists.Say, h.lists.Warn, h.lists.Log = games, h.ingress.PublicAddress, h.screen.Say, h.warn, h.logger()
	programs, err := h.handout(ctx, h.downloads, h.screen.Say, h.warn)
	if err != nil {
		return err
	}
	defer programs.Close()
	defer h.lists.Begin(ctx)()
	h.launcher.Games = games
	if err := h.firstList(&h.lists.Sources, g); err != nil {
		return err
	}
	if _, err := h.lists.Fetch(ctx, g); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at := discovery.Canonical(netip.MustParseAddrPort(listener.Addr().String()))
	var rooms *host.Host
	renewed := func(code, secret string) {
		link := h.ingress.Outside(at, access.Key{Code: code, Link: rooms.Keys(code).Link})
		h.screen.Say("your link to steer is a new one; the old one steers no more:\n%s", link.Personal(secret))
	}
	posts := &webhook.Poster{Own: h.settings.Webhook}
	defer posts.Close()
	rooms, err = host.New(host.Config{
		Announce: func(p host.Post) { posts.Post(webhook.Post(p)) },
		List:     h.lists.List, Local: h.lists.Local, Said: h.lists.Said, Store: h.store(at.Port()), Page: web.Handler(), Logger: h.logger(), Files: int(min(netinfo.FileLimit(), math.MaxInt32)), IsOwnUser: netinfo.IsOwnUser,
		Get:         programs,
		Fingerprint: h.ingress.Fingerprint(), Proxies: h.proxies, Names: slices.Concat(netinfo.Names(), h.ingress.Names(), h.names), MetricsFrom: h.metrics, Home: netinfo.IsAtHome, Locate: listing.Locator(h.lists.Places),
		Addresses: func() []netip.AddrPort { return h.ingress.Addresses(at) },
		Outside:   func(room access.Key) string { return h.ingress.Mapped(at, room) },
		Address:   h.ingress.Outside(at, access.Key{}).Host, PublicURL: h.ingress.Public, ConnectLink: games.ConnectLink, GameName: games.Name, Gap: games.Gap, Editions: games.Editions, Games: h.lists.Choices(), Renewed: renewed,
	})
	if err != nil {
		return err
	}
	stop := rooms.Serve(listener, h.ingress.TLS(), stoppedServing(cancel))
	err = h.hold(ctx, rooms, at)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	stop()
	return errors.Join(err, rooms.Close())
}

// check turns the flags into settings, and gets the certificate.
func (h *hosting) check() (game.Game, error) {
	g, err := h.checkRoom()
	if err != nil {
		return g, err
	}
	_, port, err := net.SplitHostPort(h.listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return g, hint.With(usagef("--listen: %q is no ADDRESS:PORT", h.listen), "say --listen :7778, or --listen 192.0.2.1:7778 for one address of this machine")
	}
	return g, h.encrypt()
}

// checkRoom turns the flags into settings, wherever the room is to be.
func (h *hosting) checkRoom() (game.Game, error) {
	g, err := h.findGame(h.game)
	if err != nil {
		return g, err
	}
	h.warnSilent(g)
	if err := needsLimit(h.settings.By, h.settings.Limits); err != nil {
		return g, err
	}
	h.settings.Game, h.settings.By = g.ID, cmp.Or(h.settings.By, g.Rule)
	if err := h.settings.Criteria().Check(nil); err != nil {
		return g, usageError(err)
	}
	if err := h.takeSecret("password", h.password); err != nil {
		return g, err
	}
	if err := h.takeMeeting(); err != nil {
		return g, err
	}
	if err := h.takeEvery(); err != nil {
		return g, err
	}
	if h.settings.Players < 0 {
		return g, usagef("--players %d is below 0", h.settings.Players)
	}
	if h.settings.Players > wire.MaxPlayers {
		return g, usagef("--players %d: a room is for at most %d", h.settings.Players, wire.MaxPlayers)
	}
	if err := checkLaunch(&h.launcher); err != nil {
		return g, err
	}
	if err := h.starting.check(h.settings.Places); err != nil {
		return g, err
	}
	return g, h.probing.check()
}

// takeSecret takes what a flag says from where nobody else on this machine reads it: a
// file's first line, or the environment.
func (h *hosting) takeSecret(flag, file string) error {
	variable := h.env("MUSTER_" + strings.ToUpper(flag))
	switch {
	case file != "" && h.given(flag):
		return usagef("--%s and --%s-file say the same: give one of them", flag, flag)
	case file != "":
		text, err := os.ReadFile(file)
		if err == nil {
			text, err = io.ReadAll(input.Text(bytes.NewReader(text)))
		}
		if err != nil {
			return fmt.Errorf("cannot read the %s: %w", flag, err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if first = strings.TrimSuffix(first, "\r"); strings.TrimSpace(first) == "" {
			return fmt.Errorf("cannot read the %s: the first line of %s is empty", flag, discovery.CleanText(file))
		}
		return h.give(flag, first)
	case !h.given(flag) && variable != "":
		return h.give(flag, variable)
	}
	return nil
}

// takeMeeting takes where the group talks.
func (h *hosting) takeMeeting() error {
	if err := h.takeSecret("webhook", h.webhook); err != nil {
		return err
	}
	if h.settings.Voice != "" {
		if err := wire.CheckVoice(h.settings.Voice); err != nil {
			return flagged(err, "such as --voice https://discord.gg/CODE, or leave it out")
		}
	}
	if h.settings.Webhook = strings.TrimSpace(h.settings.Webhook); h.settings.Webhook != "" {
		if err := wire.CheckWebhook(h.settings.Webhook); err != nil {
			return flagged(err, "such as --webhook https://discord.com/api/webhooks/…, better in a file: --webhook-file FILE")
		}
	}
	return nil
}

// flagged is wrong usage whose error begins with what the setting is called, which is the
// flag's name.
func flagged(err error, todo string) error { return hint.With(usagef("--%w", err), todo) }

// encrypt gets the certificate, if players are to be let in by TLS.
func (h *hosting) encrypt() error {
	switch public := h.ingress.Public; {
	case (h.cert == "") != (h.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case h.tls && public != nil && public.Scheme != "https":
		return hint.With(usagef("--tls encrypts, but --public-url %v does not", public), "say https://, or leave out --tls where a proxy encrypts")
	case h.cert != "":
		return h.ingress.Encrypt(h.cert, h.key)
	case h.tls:
		file, err := userfile.State("certificate.pem")
		if err != nil {
			return fmt.Errorf("no folder for the certificate: %w", err)
		}
		return h.ingress.EncryptByOwn(file)
	}
	return nil
}

// listen opens the port at which players and browsers arrive.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	todo := "is another muster host running there? choose another address with --listen, such as --listen :7778"
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &name):
		todo = "is that an address of this machine? --listen :7777 takes all that it has"
	case errors.Is(err, syscall.EACCES):
		todo = "low ports are the administrator's: choose one over 1023, such as --listen :7778"
	}
	return nil, hint.With(fmt.Errorf("cannot listen on %s: %w", address, hint.Reason(err)), todo)
}

// stoppedServing ends a command whose host no longer serves.
func stoppedServing(cancel context.CancelCauseFunc) func(error) {
	return func(err error) { cancel(fmt.Errorf("the host stopped serving: %w", hint.Reason(err))) }
}

// store is where rooms survive a restart. One program at a time has the file:
// a second host on this machine keeps its rooms in another.
func (h *hosting) store(port uint16) store.Store {
	file, err := userfile.State(fmt.Sprintf("rooms-%d.db", port))
	if err == nil {
		var kept *store.File
		if kept, err = store.Open(file); err == nil {
			kept.Warn = func(err error) { h.warn(err) }
			if damage := kept.Damage(); damage != nil {
				h.warn(damage)
			}
			return kept
		}
	}
	h.warn(fmt.Errorf("rooms will not survive a restart: %w", err))
	return &store.None{}
}

// hold opens the room and plays in it.
func (h *hosting) hold(ctx context.Context, rooms *host.Host, at netip.AddrPort) error {
	code, err := h.room(rooms)
	if err != nil {
		return err
	}
	keys := rooms.Keys(code)
	key := access.Key{Code: code, Link: keys.Link}
	outside, inside := h.ingress.Outside(at, key), h.ingress.Inside(at, key)
	h.invite(outside)
	steers := &lobby.Steering{Screen: h.screen, Counts: true, Order: func(_ string, action room.Action) {
		if err := rooms.Order(code, action); err != nil && ctx.Err() == nil {
			h.screen.Say("%s", h.screen.Wrap(discovery.CleanText(err.Error()), 0))
		}
	}}
	defer endsFromHome(ctx, h.home, steers)()
	console := h.console(steers)
	defer h.starts(ctx, code, console, func() wire.Settings { s, _ := rooms.Settings(code); return s }, func(ctx context.Context, sees func(wire.Snapshot)) {
		for s := range rooms.Watch(ctx, code) {
			sees(s)
		}
	}, func(a room.Started) error { return rooms.Order(code, a) })()
	ways, asks := "", h.portMap == consented && h.given("port-map")
	switch addr, err := netip.ParseAddrPort(outside.Host); {
	case err != nil:
	case !addr.Addr().IsLoopback():
		if ways = waysOut(addr.Addr()); h.portMap == consented {
			ways, asks = "", asks || ways != "" // the router is asked only where it stands in the way
		}
	case at.Addr().IsUnspecified():
		h.screen.Say("this machine is on no network, so only it can join: connect it, then start the host again")
	default:
		h.screen.Say("only this machine can join: it listens on %v", addr.Addr())
	}
	agreed := make(chan struct{})
	h.canHost.portMap, h.canHost.later = h.portMap, agreed
	if ways != "" {
		h.screen.Say("%s", ways)
		defer h.offerRouter(ctx, console, func() (stop func()) {
			close(agreed)
			return h.askRouter(ctx, at, key)
		})()
	}
	h.steering(outside.Personal(keys.Secret))
	if !h.noMDNS && !at.Addr().IsLoopback() {
		as := lan.Room{Organiser: h.launcher.Player, Port: at.Port(), Version: release.Running().Version}
		defer h.ingress.Announce(ctx, rooms, code, as, h.logger(), h.warn)()
	}
	if asks {
		defer h.askRouter(ctx, at, key)()
	}
	if !h.noBrowser || h.home != nil {
		h.sits.Present(ctx, inside.Personal(keys.Secret), func() string { return inside.Page(rooms.Ticket(inside.Personal(keys.Secret))) })
	}
	view := &lobby.View{Screen: h.screen, Help: h.sits.Keys(lobby.OrganiserHelp(!h.noPlay)), Steers: steers, Notes: h.notes("")}
	if h.noPlay {
		_, err := lobby.Follow(rooms.Watch(ctx, code), view, h.once)
		return err
	}
	h.launcher.Room, h.launcher.Console, h.launcher.After = code, console, h.sits.Later()
	beacon, err := h.canHost.shine(ctx, h.sits)
	if err != nil {
		return err
	}
	defer beacon.Stop()
	playing := &lobby.Player{Desk: h.sits, View: view, Launcher: &h.launcher, Asking: h.asking(&h.probing), Once: h.once, Beacon: beacon, Shares: h.shares, Favourites: favouritesFile(), AtHost: true, Steers: true}
	inside.Secret = keys.Secret
	if err = playing.Play(ctx, inside); errors.Is(err, lobby.ErrEnded) {
		return nil
	}
	var refusal wire.Refusal
	if isOut := errors.As(err, &refusal) && refusal.Reason != wire.ReasonClosed; isOut || err == nil && ctx.Err() == nil && !h.once {
		h.screen.Say("you do not play any more: %s. The host goes on; Ctrl-C ends it", cmp.Or(discovery.CleanText(refusal.Message), "you have left the room"))
		_, err = lobby.Follow(rooms.Watch(ctx, code), view, h.once)
	}
	if h.once && err == nil {
		ctx, cancel := context.WithTimeout(ctx, othersWithin)
		defer cancel()
		lobby.Follow(rooms.Watch(ctx, code), view, true) // whose game is still to start would lose the host
	}
	return lobby.Explain(err, inside)
}

// othersWithin is for how long a host that ends with its round waits for those whose
// games have not started yet when its own player's has.
const othersWithin = 30 * time.Second

// invite prints what friends need: a link, the code, the line to paste. The QR
// code comes first: on a small screen the rest still stands below it.
func (h *hosting) invite(l invite.Link) {
	addr, err := netip.ParseAddrPort(l.Host)
	needed := 0
	if alone := err == nil && addr.Addr().IsLoopback(); !alone && h.out.IsTerminal {
		needed = h.out.QR(l.String())
	}
	fmt.Fprintf(h.out, "link  %s\ncode  %s\njoin  muster join %s\n", h.out.Bold(l.String()), h.out.Bold(l.Code), l)
	if needed > 0 {
		h.screen.Say("the QR code needs %d columns; the page shows it, too", needed)
	}
}

// steering prints what the organiser needs.
func (h *hosting) steering(personal string) {
	if h.home != nil {
		return // the page is what steers
	}
	h.screen.Say("yours alone, to steer from the page:\n%s", personal)
	start := "press Enter when everyone is here"
	if n := h.settings.Players; n > 0 {
		start = fmt.Sprintf("waiting for %d players; Enter starts with who is here", n)
	}
	h.screen.Say("%s", start)
}

// endsFromHome ends the night when the person says so on Home, until stop is called.
func endsFromHome(ctx context.Context, page *home.Terminal, steers *lobby.Steering) (stop func()) {
	if page == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-page.Ends:
			steers.Order("end", room.End{})
		case <-ctx.Done():
		}
	})
	return func() { cancel(); waiting.Wait() }
}

// console listens to the organiser, unless standard input is the list.
func (h *hosting) console(steers *lobby.Steering) *term.Console {
	in, alone := h.in, func() {}
	if h.lists.HasStdin() {
		in = strings.NewReader("")
	}
	if h.settings.Players == 0 {
		alone = func() {
			h.screen.Say("nobody can press Enter here: standard input has ended. Say --players N, and the room starts by itself")
		}
	}
	c := h.sits.Console(in, func(line string) { steers.Typed(line, time.Now()) }, alone)
	c.Listen()
	return c
}

// room is the room from before a restart, with what the command line says now, or
// a new one: then those from before are over, and who still has their links hears so.
func (h *hosting) room(rooms *host.Host) (string, error) {
	for _, code := range rooms.Rooms() {
		if old, ok := rooms.Settings(code); ok && !h.fresh && h.continues(code, old) {
			settings := h.over(old)
			if !reflect.DeepEqual(settings, old) {
				rooms.Resettle(code, settings)
			}
			rooms.Steer(code, room.Wake{})
			h.screen.Say("going on with room %s from before, %s; --new opens another", code, settings)
			return code, nil
		}
	}
	for _, code := range rooms.Rooms() {
		if old, ok := rooms.Settings(code); ok && old.Every != "" {
			h.screen.Say("%s (%s) sleeps until its next evening; this opens it:\n%s", cmp.Or(old.Name, "room "+code), old.Game, h.opens(old.Game, cmp.Or(old.Name, code)))
			continue
		}
		h.screen.Say("room %s from before is over; its link leads here no more", code)
		rooms.CloseRoom(code)
	}
	code, _, err := rooms.Open(h.settings)
	return code, err
}

// continues reports whether a room from before is the one that is wanted again.
// One without a name goes by its code, and is called so from then on.
func (h *hosting) continues(code string, old wire.Settings) bool {
	if old.Every != "" && !h.given("room") && !h.given("every") { // one that stays is called by name
		return false
	}
	return old.Game == h.settings.Game && old.Open == h.settings.Open && (cmp.Or(old.Name, code) == cmp.Or(h.settings.Name, code) || !h.given("room"))
}

// over are the settings of a room from before, where the command line says nothing
// else: the organiser may have changed some on the page.
func (h *hosting) over(old wire.Settings) wire.Settings {
	for _, row := range wire.Table() {
		if row.Flag != "" && h.given(row.Flag) || row.Key == placesFlag && h.given(placesFlag) {
			reflect.ValueOf(row.Of(&old)).Elem().Set(reflect.ValueOf(row.Of(&h.settings)).Elem())
		}
	}
	return old
}
