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
	"muster/discovery/plans"
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
	"muster/discovery/topology"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/listing"
	"muster/internal/term"
	"muster/internal/visits"
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
	mapName, mode                 string
	version, mod, tags            string
	notFull, notEmpty, noPassword bool
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
		Use:     "discover --game ID",
		Short:   "Find servers near you, alone",
		Long: `Discover is a server browser: it asks a game's servers and shows the nearest
first. It learns while it asks where near servers are, and stops when hardly any
can be left; --auto-stop off asks them all. What it learnt makes the next visit
start well, unless you are somewhere else by then.`,
		Example: `  muster discover --game xonotic --not-empty
  muster discover --game openarena --nearest 20
  muster discover --game openarena --auto-stop off --json >ann.json    (for muster select)`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	p.gameFlag(cmd, &d.game)
	d.planning.bind(cmd)
	flags.BoolVar(&d.fresh, "fresh", false, "start anew, without what is remembered of the last visits")
	flags.StringVar(&d.mapName, "map", "", "only servers on this `MAP`")
	flags.StringVar(&d.mode, "mode", "", "only servers of this game `MODE`")
	flags.StringVar(&d.version, "version", "", "only servers of this `VERSION` of the game, or with the number of their protocol")
	flags.StringVar(&d.mod, "mod", "", "only servers with this `MOD`")
	flags.StringVar(&d.tags, "tags", "", "only servers with all of these `TAGS`, and none that has a minus before it: \"no3rd -mod\"")
	flags.BoolVar(&d.notFull, "not-full", false, "only servers with a free seat")
	flags.BoolVar(&d.notEmpty, "not-empty", false, "only servers where people play; bots do not count")
	flags.BoolVar(&d.noPassword, "no-password", false, "only servers without a password")
	flags.IntVar(&d.top, "top", wholeScreen, "rows of the table, `N`; 0 is all, -1 what a terminal has room for")
	bindWord(cmd, &d.format, "format", formatTable, []format{formatTable, formatJSON, formatCSV, formatQStat}, "output")
	flags.BoolVar(&d.json, "json", false, "the same as --format json")
	flags.StringVar(&d.name, "name", defaultName(), "your `NAME` in the report")
	p.bindSources(cmd, &d.sources)
	d.probing.bind(flags)
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
	if err := d.planning.check(); err != nil {
		return err
	}
	g, err := d.findGame(d.game)
	if err != nil {
		return err
	}
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
	found, claim, stopped := d.measure(ctx, g, servers, listed.Said, listing.PlacesOf(near, servers))
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	found.Servers = slices.DeleteFunc(found.Servers, func(m report.Measurement) bool { return !d.keeps(&m) })
	if err := d.write(found, g.QStatType()); err != nil {
		return err
	}
	for _, line := range d.summary(found, claim, listed.Said.At) {
		d.screen.Say("%s", d.screen.Wrap(line, 0))
	}
	switch s := found.Summary; { // an interrupted discovery shows what it has
	case stopped != nil:
		return fmt.Errorf("stopped after %d of %d servers", s.Probed, s.Listed)
	case s.Answered == 0:
		return hint.With(fmt.Errorf("%w: none of %d servers answered", errNothing, s.Probed), "is the list of today? does a firewall let UDP through?")
	case len(answering(found)) == 0:
		return hint.With(fmt.Errorf("%w: %d servers answered, none passes the filters", errNothing, s.Answered), "leave out a filter")
	}
	return nil
}

// keeps reports whether the player wants to see a server. What does not answer
// has no map and no seats: it stays in reports, and is not shown anyway.
func (d *discover) keeps(m *report.Measurement) bool {
	switch {
	case m.State != discovery.Answered:
		return true
	case d.mapName != "" && !strings.EqualFold(d.mapName, m.Map),
		d.mode != "" && !strings.EqualFold(d.mode, m.Mode),
		d.version != "" && !m.Info().IsOfVersion(d.version),
		d.mod != "" && !strings.EqualFold(d.mod, m.Mod),
		!m.Tags.Meets(d.tags),
		d.notFull && m.Players >= m.MaxPlayers && m.Players > 0 && !(m.AsListed && m.MaxPlayers == 0), // who counts no seats may have any
		d.notEmpty && m.Players <= m.Bots,
		d.noPassword && m.Password:
		return false
	}
	return true
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
	plan, err := plans.New(d.strategy, topology.New(servers), d.options)
	if err != nil {
		return head, discovery.Claim{}, usageError(err)
	}
	engine, err := d.probing.prober(d.program, g.Protocol())
	if err != nil {
		return head, discovery.Claim{}, err
	}
	defer engine.Close()
	var results []discovery.Result
	view := d.view(servers)
	err = engine.Run(ctx, servers, asFirst(first, plan), func(r discovery.Result) {
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
	s.ElapsedMS = elapsed.Milliseconds()
	s.PacketsSent = int64(stats.PacketsSent)
	s.BytesSent = int64(stats.BytesSent)
	s.BytesReceived = int64(stats.BytesReceived)
}

// write writes the report to standard output. kind is QStat's type of the
// game's servers.
func (d *discover) write(r report.Report, kind string) error {
	switch d.format {
	case formatJSON:
		return r.WriteJSON(d.out)
	case formatCSV:
		return r.WriteCSV(d.out)
	case formatQStat:
		return qstat.WriteXML(d.out, kind, r)
	}
	if near := answering(r); len(near) > 0 {
		serverTable(near[:d.shown(len(near))]).Write(d.out)
	}
	return nil
}

// summary is what people read below the servers. Said is from when the list's word on
// them is.
func (d *discover) summary(r report.Report, claim discovery.Claim, said time.Time) []string {
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
	if d.format == formatTable && slices.ContainsFunc(answering(r), func(m report.Measurement) bool { return m.AsListed }) {
		lines = append(lines, fmt.Sprintf("* as the list said %s ago, where the server says little itself", roughly(time.Since(said))))
	}
	if all := len(answering(r)); d.format == formatTable && d.options.Nearest == 0 && d.shown(all) < all {
		lines = append(lines, fmt.Sprintf("the nearest %d of %d shown; --top 0 shows all", d.shown(all), all))
	}
	return lines
}

func wholeMS(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// answering are the servers that answered, the nearest first.
func answering(r report.Report) []report.Measurement {
	near := slices.DeleteFunc(slices.Clone(r.Servers), func(m report.Measurement) bool { return m.State != discovery.Answered })
	slices.SortFunc(near, byRTT)
	return near
}

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
