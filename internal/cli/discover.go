package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/names"
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
	"muster/host/wire"
	"muster/internal/browse"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/listing"
	"muster/internal/option"
	"muster/internal/term"
	"muster/internal/venue"
)

// discover is the command that finds servers near one player.
type discover struct {
	*program
	game    string
	sources listing.Sources
	probing probing
	planning
	fresh  bool
	name   string
	format format
	json   bool
	top    int
	want   browse.Filter
	// These say what follows the table.
	watch    bool
	connect  int
	places   wire.Venues
	launcher game.Launcher
}

// format is the output format of a report.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatCSV   format = "csv"
	formatQStat format = "qstat-xml"
)

func newDiscover(d *discover) *cobra.Command {
	p := d.program
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "discover [GAME]",
		Short:   "Find servers near you, alone",
		Long: `Discover is a server browser: it asks a game's servers and shows the nearest
first. It learns while it asks where near servers are, and stops when hardly any
can be left; --auto-stop off asks them all. What it learnt makes the next visit
start well, unless you are somewhere else by then.`,
		Example: `  muster discover xonotic --not-empty --sort players
  muster discover xonotic --name-contains duel --connect 1     (goes to the nearest)
  muster discover --game openarena --nearest 20
  muster discover --game openarena --auto-stop off --json >ann.json    (for muster select)`,
		Args: oneGame,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if d.game, err = p.pickGame(cmd.Context(), d.game, args); err != nil {
				return err
			}
			return d.run(cmd.Context())
		},
	}
	flags, section := cmd.Flags(), option.Sections(cmd)
	section("What you look for")
	p.gameFlag(cmd, &d.game)
	bindAsked(flags, &d.want.Criteria.Wishes, "")
	flags.BoolVar(&d.want.NotFull, "not-full", false, "only servers with a free seat")
	flags.BoolVar(&d.want.NotEmpty, "not-empty", false, "only servers where people play; bots do not count")
	flags.StringVar(&d.want.NameContains, "name-contains", "", "only servers with `TEXT` in their name")
	flags.StringVar(&d.want.Country, "country", "", "only servers in this country, by its two letters, such as `DE`")
	d.planning.bindNear(flags)
	p.bindVenues(cmd, &d.places, "default: none")
	section("What is shown")
	option.Word(cmd, &d.want.Sort, "sort", browse.ByPing, browse.Columns(), "order of the table")
	flags.IntVar(&d.top, "top", browse.WholeScreen, "rows of the table, `N`; 0 is all, -1 what a terminal has room for")
	option.Word(cmd, &d.format, "format", formatTable, []format{formatTable, formatJSON, formatCSV, formatQStat}, "output")
	flags.BoolVar(&d.json, "json", false, "the same as --format json")
	flags.StringVar(&d.name, "name", defaultName(), "your `NAME` in the report")
	section("What comes then")
	flags.IntVar(&d.connect, "connect", 0, "go to the `N`th server of the table")
	flags.BoolVar(&d.watch, "watch", false, "keep asking the servers of the table, gently, and tell of free seats; with "+
		"--connect wait for one there")
	bindLaunch(cmd, &d.launcher)
	section("Where servers are listed")
	p.bindSources(cmd, &d.sources)
	section("How servers are asked")
	d.probing.bind(flags)
	section("In which order, and until when")
	d.planning.bindOrder(cmd)
	flags.BoolVar(&d.fresh, "fresh", false, "start anew, without what is remembered of the last visits")
	section("Other")
	return cmd
}

// defaultName returns the user's name on this system, without a Windows domain.
func defaultName() string {
	u, err := user.Current()
	if err != nil {
		return "player"
	}
	return cmp.Or(u.Username[strings.Index(u.Username, `\`)+1:], "player")
}

func (d *discover) run(ctx context.Context) error {
	if d.json {
		d.format = formatJSON
	}
	if d.top < browse.WholeScreen {
		return usagef("--top %d: say how many servers, 0 for all", d.top)
	}
	if d.connect < 0 {
		return usagef("--connect %d: the first of the table is 1", d.connect)
	}
	if len(d.want.Country) != 0 && len(d.want.Country) != len("DE") {
		return usagef("--country %q: two letters are wanted, such as DE", d.want.Country)
	}
	if err := checkLaunch(&d.launcher); err != nil {
		return err
	}
	if err := d.planning.check(); err != nil {
		return err
	}
	g, err := d.findGame(d.game)
	if err != nil {
		return err
	}
	d.warnSilent(g)
	if err := d.probing.check(); err != nil {
		return err
	}
	d.sources.Say, d.sources.Log = d.screen.Say, d.logger()
	if err := d.sources.FirstList(g, d.in, d.screen); err != nil {
		return err
	}
	listed, near, err := d.sources.Game(ctx, g)
	if err != nil {
		return err
	}
	d.warn(listed.Warnings...)
	d.screen.Say("%s", listing.Describe(listed.Servers, near, g))
	servers := listing.With(listed.Servers, near)
	if d.home != nil {
		d.home.Listed(len(servers))
	}
	look := browse.Look{
		Game: g.ID, Player: d.name, Strategy: d.strategy, Options: d.options, Fresh: d.fresh, Discreet: d.probing.Discreet,
		Servers: servers, First: listing.PlacesOf(near, servers), Said: listed.Said, Say: d.screen.Say, Log: d.logger(),
	}
	found, claim, stopped := d.ask(ctx, look, g)
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	table := d.want.Rank(&found, d.room())
	if err := d.write(found, table, g.QStatType()); err != nil {
		return err
	}
	for _, line := range look.Summary(found, table, claim, &d.want, d.format == formatTable, d.room()) {
		d.screen.Say("%s", d.screen.Wrap(line, 0))
	}
	if len(d.places) > 0 && stopped == nil {
		var nearest time.Duration
		if len(table) > 0 {
			nearest = time.Duration(slices.MinFunc(table, func(a, b report.Measurement) int { return cmp.Compare(a.RTT, b.RTT) }).RTT)
		}
		ask := func(by discovery.Protocol) (*prober.Prober, error) {
			return d.probing.prober(d.program, by, names.Resolver{}, nil)
		}
		if err := venue.Compare(ctx, d.screen, d.places, nearest, ask); err != nil {
			return err
		}
	}
	switch s := found.Summary; { // an interrupted discovery shows what it has
	case stopped != nil:
		return fmt.Errorf("stopped after %d of %d servers", s.Probed, s.Listed)
	case s.Answered == 0:
		return hint.With(fmt.Errorf("%w: none of %d servers answered", errNothing, s.Probed),
			"is the list of today? does a firewall let the game through?")
	case len(table) == 0:
		return hint.With(fmt.Errorf("%w: %d servers answered, none passes the filters", errNothing, s.Answered), "leave out a filter")
	}
	return d.after(ctx, g, table)
}

// prober returns a prober for the listed servers of a game.
func (d *discover) prober(g game.Game) (*prober.Prober, error) {
	by := g.Names()
	by.MinReach = d.sources.MinReach()
	return d.probing.prober(d.program, g.Protocol(), by, nil)
}

// ask probes the servers, while people watch the results come in.
func (d *discover) ask(ctx context.Context, look browse.Look, g game.Game) (report.Report, discovery.Claim, error) {
	if g.Regions.IsPasted() {
		return report.Report{}, discovery.Claim{}, hint.With(usagef("%s measures its regions itself", g.Name),
			"enter "+g.Regions.Command+" in its console, which lists them")
	}
	engine, err := d.prober(g)
	if err != nil {
		return report.Report{}, discovery.Claim{}, err
	}
	defer engine.Close()
	if d.home != nil {
		return look.Run(ctx, engine, pageView{d.home, look.Servers})
	}
	view := &browse.View{Filter: &d.want, Servers: look.Servers, Near: d.options.MaxRTT, Screen: d.screen}
	if d.isLive() {
		view.Live = &term.Live{Terminal: d.screen.Terminal, Max: d.room().For(browse.MaxLive)}
	}
	return look.Run(ctx, engine, view)
}

// pageView passes results to Home's page.
type pageView struct {
	home    *home.Terminal
	servers []discovery.Server
}

func (v pageView) Add(r discovery.Result) {
	for _, m := range report.New(report.Report{}, v.servers, []discovery.Result{r}).Servers { // none if the server may not be asked
		v.home.Found(m)
	}
}

func (v pageView) End() {}

// isLive reports whether a table on the terminal shows the progress.
func (d *discover) isLive() bool {
	return d.format == formatTable && d.home == nil && d.screen.IsAnimated && d.out.IsTerminal
}

// room returns how much the table shows.
func (d *discover) room() browse.Room {
	room := browse.Room{Top: d.top, Nearest: d.options.Nearest}
	if d.out.IsTerminal {
		_, room.Rows = d.out.Size()
	}
	return room
}

// write prints the report, and the table of servers that the player wants to see. kind is QStat's
// type of the game's servers. As JSON, which muster select reads, the report contains everything
// that was asked.
func (d *discover) write(r report.Report, table []report.Measurement, kind string) error {
	if d.format == formatJSON {
		return r.WriteJSON(d.out)
	}
	r.Servers = slices.DeleteFunc(slices.Clone(r.Servers), func(m report.Measurement) bool { return !d.want.Keeps(&m) })
	switch d.format {
	case formatCSV:
		return r.WriteCSV(d.out)
	case formatQStat:
		return qstat.WriteXML(d.out, kind, r)
	}
	if len(table) > 0 {
		browse.Table(table[:d.room().For(len(table))]).Write(d.out)
	}
	return nil
}
