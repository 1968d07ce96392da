package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/browse"
	"muster/internal/catalogue/languages"
	"muster/internal/config"
	"muster/internal/doctor"
	"muster/internal/favourites"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/input"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/release"
	"muster/internal/term"
	"muster/internal/userfile"
	"muster/web"
)

// atHome is Home: everything that the commands do, in the browser.
type atHome struct {
	*program
	noBrowser bool
	listen    string
	// Home runs commands that read config.toml themselves. These settings are only shown.
	name, at string
	lan      listing.LAN
}

func (a *atHome) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&a.noBrowser, "no-browser", false, "print Home's link instead of opening it, and stay until Ctrl-C")
	a.listen = home.DefaultPort
	flags.Var(option.New("PORT", home.DefaultPort, func(text string) error {
		if _, err := strconv.ParseUint(text, 10, 16); err != nil {
			return fmt.Errorf("%q is no port: they are numbers up to 65535", text)
		}
		a.listen = text
		return nil
	}), "port", "Home's `PORT` on this machine; another one if it is taken")
	flags.StringVar(&a.name, "name", defaultName(), "")
	flags.StringVar(&a.at, "at", "", "")
	flags.Lookup("name").Hidden, flags.Lookup("at").Hidden = true, true
	a.lan = listing.Auto
	option.Word(cmd, &a.lan, "lan", listing.Auto, []listing.LAN{listing.Auto, listing.On, listing.Off},
		"look for rooms and servers on the local network")
}

// run starts Home, or opens the one that the user already has.
func (a *atHome) run(ctx context.Context) error {
	if a.invitation != nil {
		a.noBrowser = false // overrides config.toml: a page must ask
	}
	file, err := userfile.State("home")
	if err != nil {
		return hint.NoFolder("what Home keeps", err)
	}
	instance, other, err := home.Claim(ctx, filepath.Dir(file))
	if err != nil {
		return err
	}
	if other != nil {
		return a.show(ctx, other)
	}
	defer instance.Release()
	listener, err := home.Listen(a.listen)
	if err != nil {
		return hint.With(fmt.Errorf("cannot listen on loopback: %w", hint.Reason(err)),
			"does something on this machine forbid it? the commands work without: muster --help")
	}
	defer listener.Close()
	h := home.New(ctx, listener.Addr(), a.config())
	if err := instance.Publish(h.Running()); err != nil {
		a.warn(fmt.Errorf("a second start will not find this one: %w", hint.Reason(err)))
	}
	running := h.Running()
	if !a.noBrowser && a.desk().HasDesktop() { // a double click has no terminal
		a.screen.Say("Home is open in your browser. It ends by Quit there, by Ctrl-C here, or when no page is open for a while.")
		a.desk().StartBrowser(ctx, running.URL+h.Ticket())
	}
	if a.invitation != nil { // the room's page comes in front of Home's, which stays for its questions
		h.Open(*a.invitation, func(path string) { a.desk().StartBrowser(ctx, running.URL+path) })
	}
	fmt.Fprintf(a.out, "home  %s\n", a.out.Bold(running.Link()))
	return h.Serve(listener)
}

// show takes the user to the Home that is running.
func (a *atHome) show(ctx context.Context, other *home.Running) error {
	var err error
	if a.invitation != nil {
		err = other.Invite(ctx, *a.invitation)
	}
	ticket := ""
	if err == nil {
		ticket, err = other.Ticket(ctx)
	}
	if err != nil {
		return hint.With(err, "end it with Ctrl-C where it runs, or wait a few seconds, and start muster again")
	}
	a.screen.Say("Home is running already: this shows it")
	if !a.noBrowser && a.desk().HasDesktop() {
		a.desk().StartBrowser(ctx, ticket)
	}
	fmt.Fprintf(a.out, "home  %s\n", a.out.Bold(other.Link()))
	return nil
}

// config returns what Home needs from the commands.
func (a *atHome) config() home.Config {
	allowance := prober.NewAllowance() // for everything that Home asks
	c := home.Config{
		Page: web.Home(), Version: release.Running().Version, Name: a.name, At: a.at,
		Stays: a.noBrowser || !a.desk().HasDesktop(),
		Run: func(ctx context.Context, request home.Request, t home.Terminal) error {
			p := a.inside(&t, io.Discard, allowance)
			language := a.screen.Language
			if t.Language != "" {
				language = languages.In(t.Language)
			}
			p.screen = term.NewScreen(p.screen.Terminal, language)
			return p.doRequest(ctx, request, a.lan == listing.Off)
		},
		Games: a.choices,
		Form:  wire.FormOf(wire.MaxPlayers, false, true),
		Players: func(ctx context.Context, id string, at netip.AddrPort) ([]home.Player, error) {
			return a.players(ctx, id, at, allowance)
		},
		Computer: func(ctx context.Context) (any, error) {
			checks := doctor.Examine(ctx, a.patient()).Checks
			return slices.DeleteFunc(checks, func(c doctor.Check) bool { return c.Name == "terminal" }), nil // people look at a browser
		},
		Standing: func() ([]home.Standing, error) { return lobby.Standing(time.Now()) },
		Settings: a.said, Settle: a.settle, SteamKey: func() any { return a.steam().Kept() },
		KeepSteamKey: func(key string) error { return a.steam().Store(strings.NewReader(key)) },
		ForgetSteamKey: func() error {
			_, err := a.steam().Forget()
			return err
		},
		Import: func(to home.List, text string) (string, error) {
			l := lists{program: a.program, game: to.Game, hidden: to.Hidden}
			return l.merge(strings.NewReader(text), input.Name(input.Standard))
		},
		Export: func(of home.List, as favourites.As) (string, error) {
			l := lists{program: a.program, game: of.Game, hidden: of.Hidden, form: as}
			text, _, err := l.written()
			return text, err
		},
		Favourites: favouritesFile(), Kept: configFile("config.toml"), Logger: a.logger(),
	}
	if a.lan != listing.Off {
		c.Rooms = func(ctx context.Context) iter.Seq2[[]lan.Found, error] { return lan.Browse(ctx, a.logger()) }
		c.Way = way
	}
	return c
}

// way returns the link to a room on the local network, without its code.
func way(ctx context.Context, f lan.Found) (string, error) {
	at, err := lobby.ReachRoom(ctx, f)
	if err != nil {
		return "", err
	}
	return lobby.LinkTo(f, at, "").String(), nil
}

func (a *atHome) choices() ([]home.Game, error) {
	games, err := a.games()
	if err != nil {
		return nil, err
	}
	user, _ := a.steam().User() // none if the key is bad
	list := []home.Game{}
	steam := a.steam().Folders()
	for _, g := range games.All() {
		_, err := g.Sources(user)
		_, tells := g.Protocol().(discovery.Roll)
		place, isHere := g.Where(steam)
		list = append(list, home.Game{ID: g.ID, Name: g.Name, Aliases: g.Aliases, Rule: string(g.Rule), Listed: err == nil, Here: isHere,
			Where: discovery.CleanText(place.Path), By: place.By, Tells: tells, Steam: g.OnSteam(), Silent: g.WhySilent(), Dump: g.Regions.Command})
	}
	return list, nil
}

// players asks a server who plays there.
func (a *atHome) players(ctx context.Context, id string, at netip.AddrPort, allowance *prober.Allowance) ([]home.Player, error) {
	games, err := a.games()
	if err != nil {
		return nil, err
	}
	g, err := games.Find(id)
	if err != nil {
		return nil, err
	}
	roll, tells := g.Protocol().(discovery.Roll)
	if !tells {
		return nil, hint.Say("find.who-untold-by", "game", g.Name)
	}
	engine, err := prober.New(prober.Options{Protocol: roll.Roll(), Names: g.Names(), Allowance: allowance, Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	people, err := browse.Players(ctx, engine, at)
	if err != nil {
		return nil, err
	}
	list := []home.Player{}
	for _, p := range people {
		list = append(list, home.Player{Name: p.Name, Score: p.Score, Ping: p.Ping.Milliseconds()})
	}
	return list, nil
}

// settable returns the keys of config.toml that Muster changes.
func settable() []string {
	return []string{"name", "rate", "at", "lan", "launch", "port_map", "downloads"}
}

// everyKey returns the keys of config.toml that are valid outside its tables.
func everyKey() config.Known {
	known := config.Known{ownTable: nil}
	for _, g := range grantable() {
		known[""] = append(known[""], g.key)
	}
	return known
}

// said returns their values in config.toml.
func (a *atHome) said() (map[string]string, error) {
	settings, err := a.settings(everyKey())
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for _, key := range settable() {
		if value, is := settings.Values[key]; is {
			said[key] = strings.Join(value.Texts, "")
		}
	}
	return said, nil
}

// settle changes config.toml, provided that the commands accept the new values.
func (p *program) settle(changes map[string]string) error {
	for key, text := range changes {
		at := slices.IndexFunc(grantable(), func(g granted) bool { return g.key == key })
		if at < 0 || !slices.Contains(settable(), key) {
			return hint.Say("computer.no-setting", "setting", key)
		}
		if text == "" {
			continue
		}
		trial := newHost(&hostCommand{program: p})
		if err := option.Default(trial, grantable()[at].flag, []string{text}); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if _, err := publicHost(text); key == "at" && err != nil {
			return hint.With(hint.Say("computer.no-host", "address", text), hint.Of(err))
		}
		if rate, err := strconv.ParseFloat(text, 64); key == "rate" && (err != nil || !(rate > 0)) {
			return hint.Say("computer.no-rate", "rate", text)
		}
		if info, err := os.Stat(text); key == "downloads" && (err != nil || !info.IsDir()) {
			return hint.Say("computer.no-folder", "folder", text)
		}
	}
	return config.Change(configFile("config.toml"), changes, everyKey())
}
