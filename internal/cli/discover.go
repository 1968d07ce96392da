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
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/listing"
	"muster/internal/term"
	"muster/internal/visits"
	"muster/selection"
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
	// The servers that the player wants to see.
	want                  selection.Criteria
	notFull, notEmpty     bool
	nameContains, country string
	sort                  column
	// What comes after the table.
	watch    bool
	connect  int
	places   wire.Venues
	launcher game.Launcher
}

// format is how a report is written.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatCSV   format = "csv"
	formatQStat format = "qstat-xml"
)

// wholeScreen is the number of rows that leaves a terminal full.
const wholeScreen = -1

func newDiscover(p *program) *cobra.Command {
	d := &discover{program: p}
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
		Args: func(_ *cobra.Command, args []string) error { return oneGame(args, "muster discover") },
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if d.game, err = p.pickGame(cmd.Context(), d.game, args); err != nil {
				return err
			}
			return d.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	p.gameFlag(cmd, &d.game)
	d.planning.bind(cmd)
	flags.BoolVar(&d.fresh, "fresh", false, "start anew, without what is remembered of the last visits")
	bindAsked(flags, &d.want, "")
	flags.BoolVar(&d.notFull, "not-full", false, "only servers with a free seat")
	flags.BoolVar(&d.notEmpty, "not-empty", false, "only servers where people play; bots do not count")
	flags.StringVar(&d.nameContains, "name-contains", "", "only servers with `TEXT` in their name")
	flags.StringVar(&d.country, "country", "", "only servers in this country, by its two letters, such as `DE`")
	bindWord(cmd, &d.sort, "sort", byPing, columns(), "order of the table")
	flags.BoolVar(&d.watch, "watch", false, "keep asking the servers of the table, gently, and tell of free seats; with --connect wait for one there")
	flags.IntVar(&d.connect, "connect", 0, "go to the `N`th server of the table")
	p.bindVenues(cmd, &d.places)
	bindLaunch(cmd, &d.launcher)
	flags.IntVar(&d.top, "top", wholeScreen, "rows of the table, `N`; 0 is all, -1 what a terminal has room for")
	bindWord(cmd, &d.format, "format", formatTable, []format{formatTable, formatJSON, formatCSV, formatQStat}, "output")
	flags.BoolVar(&d.json, "json", false, "the same as --format json")
	flags.StringVar(&d.name, "name", defaultName(), "your `NAME` in the report")
	p.bindSources(cmd, &d.sources)
	d.probing.bind(flags)
	inSections(cmd, ofDiscover())
	return cmd
}

// defaultName is what the system calls the user, without a Windows domain.
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
	if d.top < wholeScreen {
		return usagef("--top %d: say how many servers, 0 for all", d.top)
	}
	if d.connect < 0 {
		return usagef("--connect %d: the first of the table is 1", d.connect)
	}
	if len(d.country) != 0 && len(d.country) != len("DE") {
		return usagef("--country %q: two letters are wanted, such as DE", d.country)
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
	if err := d.firstList(&d.sources, g); err != nil {
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
	found, claim, stopped := d.measure(ctx, g, servers, listed.Said, listing.PlacesOf(near, servers))
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	table := d.rank(&found)
	if err := d.write(found, table, g.QStatType()); err != nil {
		return err
	}
	for _, line := range d.summary(found, table, claim, listed.Said.At) {
		d.screen.Say("%s", d.screen.Wrap(line, 0))
	}
	if len(d.places) > 0 && stopped == nil {
		var nearest time.Duration
		if len(table) > 0 {
			nearest = time.Duration(slices.MinFunc(table, func(a, b report.Measurement) int { return cmp.Compare(a.RTT, b.RTT) }).RTT)
		}
		if err := d.tellPlaces(ctx, &d.probing, d.places, nearest); err != nil {
			return err
		}
	}
	switch s := found.Summary; { // an interrupted discovery shows what it has
	case stopped != nil:
		return fmt.Errorf("stopped after %d of %d servers", s.Probed, s.Listed)
	case s.Answered == 0:
		return hint.With(fmt.Errorf("%w: none of %d servers answered", errNothing, s.Probed), "is the list of today? does a firewall let UDP through?")
	case len(table) == 0:
		return hint.With(fmt.Errorf("%w: %d servers answered, none passes the filters", errNothing, s.Answered), "leave out a filter")
	}
	return d.after(ctx, g, table)
}

// measure runs the plan over the list, and asks some servers before it.
func (d *discover) measure(ctx context.Context, g game.Game, servers []discovery.Server, said discovery.Said, first []int) (report.Report, discovery.Claim, error) {
	head := report.Report{Peer: d.name, Game: g.ID, Strategy: string(d.strategy), Started: time.Now()}
	visits := visits.Recall(g.ID, d.fresh, d.logger())
	if d.options.Priors = visits.Priors(head.Started); len(d.options.Priors) > 0 && d.strategy != discovery.Conventional {
		seen := visits.Newest()
		d.screen.Say("starting from the last visit, %s (%s ago): %s remembered; --fresh starts anew",
			seen.Local().Format("2 Jan 15:04"), roughly(head.Started.Sub(seen)), term.Count(len(d.options.Priors), "network"))
	}
	plan, err := plan.New(d.strategy, topology.New(servers), d.options)
	if err != nil {
		return head, discovery.Claim{}, usageError(err)
	}
	engine, err := d.probing.prober(d.program, g.Protocol(), nil)
	if err != nil {
		return head, discovery.Claim{}, err
	}
	defer engine.Close()
	var results []discovery.Result
	d.screen.Say("%s", discovery.Before(0, d.probing.discreet, len(servers)))
	exposure := &discovery.Exposure{Most: d.probing.discreet}
	defer func() { d.screen.Say("%s", exposure.Of(len(servers))) }()
	view := d.view(servers)
	err = engine.Run(ctx, servers, exposure.Watch(asFirst(first, plan), servers, nil), func(r discovery.Result) {
		if r.State == discovery.Answered {
			r.Info = r.Info.Completed(said.Infos[servers[r.Server].Addr])
		}
		results = append(results, r)
		view.add(r)
	})
	view.end()
	if visits.OutdatedBy(servers, results) {
		d.screen.Say("what was remembered does not hold here, and is forgotten")
	}
	visits.Keep(servers, results, time.Now())
	if err != nil && ctx.Err() == nil {
		return head, discovery.Claim{}, err
	}
	done := plan.Summary()
	summarize(&head.Summary, done, engine.Stats(), time.Since(head.Started))
	return report.New(head, servers, results), done.Claim, ctx.Err()
}

// asFirst is a plan that asks some servers before all others.
func asFirst(servers []int, plan discovery.Plan) discovery.Plan {
	if len(servers) == 0 {
		return plan
	}
	agenda := discovery.NewAgenda(plan, nil)
	agenda.Ask(servers)
	return agenda
}

func summarize(s *report.Summary, plan discovery.PlanSummary, stats prober.Stats, elapsed time.Duration) {
	s.Clusters, s.Calibration, s.AutoStopped = plan.Clusters, plan.Calibration, plan.AutoStopped
	s.OwnShift = discovery.Millis(plan.Shift)
	s.ElapsedMS = elapsed.Milliseconds()
	s.PacketsSent = int64(stats.PacketsSent)
	s.BytesSent = int64(stats.BytesSent)
	s.BytesReceived = int64(stats.BytesReceived)
}

// write writes the report to standard output, and the table of what the player wants to
// see. kind is QStat's type of the game's servers. As JSON, which muster select reads,
// all that was asked stands in it.
func (d *discover) write(r report.Report, table []report.Measurement, kind string) error {
	if d.format == formatJSON {
		return r.WriteJSON(d.out)
	}
	r.Servers = slices.DeleteFunc(slices.Clone(r.Servers), func(m report.Measurement) bool { return !d.keeps(&m) })
	switch d.format {
	case formatCSV:
		return r.WriteCSV(d.out)
	case formatQStat:
		return qstat.WriteXML(d.out, kind, r)
	}
	if len(table) > 0 {
		serverTable(table[:d.shown(len(table))]).Write(d.out)
	}
	return nil
}

// summary is what people read below the servers, of which table are those that they want
// to see. Said is from when the list's word on them is.
func (d *discover) summary(r report.Report, table []report.Measurement, claim discovery.Claim, said time.Time) []string {
	s := r.Summary
	lines := []string{fmt.Sprintf("%d of %d servers asked in %.1f s: %d answered, %d lost, %d refused",
		s.Probed, s.Listed, float64(s.ElapsedMS)/1000, s.Answered, s.Lost, s.Refused)}
	switch sentence := claim.String(); {
	case s.AutoStopped && sentence != "":
		lines = append(lines, "stopped by itself: "+sentence)
	case s.AutoStopped && d.options.Nearest > 0 && d.strategy == discovery.Adaptive:
		lines = append(lines, "stopped by itself: hardly any nearer server can be left")
	case s.AutoStopped:
		lines = append(lines, fmt.Sprintf("stopped by itself: few servers under %s can be left", wholeMS(d.options.MaxRTT)))
	}
	switch shift := time.Duration(s.OwnShift).Round(time.Millisecond); {
	case shift > 0:
		lines = append(lines, fmt.Sprintf("your connection was busy: all pings rose by about %s for a while, and near servers may be missing; look again when nothing else uses it", wholeMS(shift)))
	case shift < 0:
		lines = append(lines, fmt.Sprintf("your connection was busy at first: all pings fell by about %s meanwhile, and near servers may be missing; look again", wholeMS(-shift)))
	}
	if d.format == formatTable && slices.ContainsFunc(table, func(m report.Measurement) bool { return m.AsListed }) {
		lines = append(lines, fmt.Sprintf("* as the list said %s ago, where the server says little itself", roughly(time.Since(said))))
	}
	if all, first := len(table), "nearest"; d.format == formatTable && d.options.Nearest == 0 && d.shown(all) < all {
		if d.sort != byPing {
			first = "first"
		}
		lines = append(lines, fmt.Sprintf("the %s %d of %d shown; --top 0 shows all", first, d.shown(all), all))
	}
	return lines
}

func wholeMS(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// byRTT orders servers by ping.
func byRTT(a, b report.Measurement) int {
	return cmp.Or(cmp.Compare(a.RTT, b.RTT), discovery.CompareAddr(a.Server(), b.Server()))
}

// shown is how many of so many servers the table shows: as many as were asked
// for, or else the nearest ones that a terminal has room for.
func (d *discover) shown(servers int) int {
	const (
		least   = 10
		besides = 6 // rows: the titles, the summary and the prompt
	)
	switch nearest := d.options.Nearest; {
	case d.top > 0:
		return min(servers, d.top)
	case nearest > 0:
		return min(servers, nearest)
	case d.top == wholeScreen && d.out.IsTerminal:
		_, rows := d.out.Size()
		return min(servers, max(least, rows-besides))
	}
	return servers
}

// roughly is a time as people say it.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.of); n >= 1 {
			return term.Count(n, u.name)
		}
	}
	return "a moment"
}
