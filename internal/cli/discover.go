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
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/internal/game"
)

// discover is the command that finds servers near one player.
type discover struct {
	*program
	game    string
	sources sources
	probing probing
	filter  filter
	planning
	fresh  bool
	name   string
	format format
	json   bool
	top    int
}

func newDiscover(p *program) *cobra.Command {
	d := &discover{program: p}
	cmd := &cobra.Command{
		Use:   "discover --game ID",
		Short: "Find servers near you, alone",
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
	d.filter.bind(flags)
	flags.IntVar(&d.top, "top", wholeScreen, "rows of the table, `N`; 0 is all, -1 what a terminal has room for")
	bindWord(cmd, &d.format, "format", formatTable, formats, "output")
	flags.BoolVar(&d.json, "json", false, "the same as --format json")
	flags.StringVar(&d.name, "name", defaultName(), "your `NAME` in the report")
	d.sources.bind(cmd)
	d.probing.bind(flags)
	return cmd
}

func (d *discover) run(ctx context.Context) error {
	if d.json {
		d.format = formatJSON
	}
	if err := d.check(); err != nil {
		return err
	}
	g, err := d.findGame(d.game)
	if err != nil {
		return err
	}
	options, err := d.probing.options(d.program, g.Protocol())
	if err != nil {
		return err
	}
	listing, near, err := d.sources.all(ctx, d.screen(), g)
	if err != nil {
		return err
	}
	for _, line := range append(warningLines(listing.Warnings), describe(listing.Servers, near, g)) {
		fmt.Fprintln(d.streams.Err, line)
	}
	servers := withThose(listing.Servers, near)
	return d.look(ctx, g, servers, indexesOf(near, servers), options)
}

func (d *discover) check() error {
	if d.top < wholeScreen {
		return usagef("--top %d: say how many servers, 0 for all", d.top)
	}
	return d.planning.check()
}

// look measures, those first that are on the local network, and shows what came
// of it.
func (d *discover) look(ctx context.Context, g game.Game, servers []discovery.Server, first []int, options prober.Options) error {
	found, claim, stopped := d.measure(ctx, g, servers, first, options)
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	found.Servers = slices.DeleteFunc(found.Servers, func(m report.Measurement) bool { return !d.filter.keeps(&m) })
	if err := d.write(found, g.QStatTypes[0]); err != nil {
		return err
	}
	for _, line := range d.summary(found, claim) {
		fmt.Fprintln(d.streams.Err, wrapped(line, "", width(d.streams.Err)))
	}
	return verdict(found, stopped)
}

// verdict is the exit status: an interrupted discovery shows what it has.
func verdict(r report.Report, stopped error) error {
	s := r.Summary
	switch {
	case stopped != nil:
		return fmt.Errorf("stopped after %d of %d servers", s.Probed, s.Listed)
	case s.Answered == 0:
		return hinted(fmt.Errorf("%w: none of %d servers answered", errNothing, s.Probed), "is the list of today? does a firewall let UDP through?")
	case !slices.ContainsFunc(r.Servers, isAnswered):
		return hinted(fmt.Errorf("%w: %d servers answered, none passes the filters", errNothing, s.Answered), "leave out a filter")
	}
	return nil
}

func isAnswered(m report.Measurement) bool { return m.State == discovery.Answered }

// measure runs the plan over the list, and asks some servers before it.
func (d *discover) measure(ctx context.Context, g game.Game, servers []discovery.Server, first []int, options prober.Options) (report.Report, discovery.Claim, error) {
	head := report.Report{Peer: d.name, Game: g.ID, Strategy: string(d.strategy), Started: time.Now()}
	visits := d.recall(g, head.Started)
	plan, err := d.plan(servers)
	if err != nil {
		return head, discovery.Claim{}, err
	}
	engine, err := prober.New(options)
	if err != nil {
		return head, discovery.Claim{}, err
	}
	defer engine.Close()
	var results []discovery.Result
	view := d.view(servers)
	err = engine.Run(ctx, servers, asFirst(first, plan), func(r discovery.Result) {
		results = append(results, r)
		view.add(r)
	})
	view.end()
	d.remember(visits, servers, results)
	if err != nil && ctx.Err() == nil {
		return head, discovery.Claim{}, err
	}
	summarize(&head.Summary, plan.Summary(), engine.Stats(), time.Since(head.Started))
	return report.New(head, servers, results), plan.Summary().Claim, ctx.Err()
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

// summary is what people read below the servers.
func (d *discover) summary(r report.Report, claim discovery.Claim) []string {
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
	if all := len(answering(r)); d.format == formatTable && d.options.Nearest == 0 && d.shown(all) < all {
		lines = append(lines, fmt.Sprintf("the nearest %d of %d shown; --top 0 shows all", d.shown(all), all))
	}
	return lines
}

func wholeMS(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// defaultName is what the system calls the user, without a Windows domain.
func defaultName() string {
	u, err := user.Current()
	if err != nil {
		return "player"
	}
	_, name, found := strings.Cut(u.Username, `\`)
	if !found {
		name = u.Username
	}
	return cmp.Or(name, "player")
}
