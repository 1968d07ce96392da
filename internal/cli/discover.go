package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/user"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/internal/game"
)

// probing are the flags that say how servers are asked.
type probing struct {
	rate     float64
	inFlight int
	retries  int
	timeout  time.Duration
	local    string
}

func (o *probing) bind(flags *pflag.FlagSet) {
	flags.Float64Var(&o.rate, "rate", prober.DefaultRate, "new servers asked a second; more may overflow a home router")
	flags.IntVar(&o.inFlight, "in-flight", prober.DefaultInFlight, "most servers asked and not yet answered")
	flags.IntVar(&o.retries, "retries", prober.DefaultRetries, "repeats of a query that gets no reply")
	flags.DurationVar(&o.timeout, "timeout", prober.DefaultTimeout, "silence that counts as no reply")
	flags.StringVar(&o.local, "listen-addr", "", "ask from this `IP` of the machine")
}

// options are the prober's, checked.
func (o *probing) options(p *program, protocol discovery.Protocol) (prober.Options, error) {
	options := prober.Options{
		Protocol: protocol, Rate: o.rate, InFlight: o.inFlight, Retries: o.retries, Timeout: o.timeout, Logger: p.logger(),
	}
	if o.retries == 0 {
		options.Retries = -1 // the prober's zero is its default
	}
	switch {
	case !(o.rate > 0):
		return options, usagef("--rate %v: at least one server has to be asked now and then", o.rate)
	case o.inFlight < 1:
		return options, usagef("--in-flight %d: at least one server has to be under way", o.inFlight)
	case o.retries < 0:
		return options, usagef("--retries %d is below 0", o.retries)
	case o.timeout <= 0:
		return options, usagef("--timeout %v: a reply needs some time", o.timeout)
	}
	if o.local != "" {
		addr, err := netip.ParseAddr(o.local)
		if err != nil {
			return options, usagef("--listen-addr %q is not an IP address", o.local)
		}
		options.LocalAddr = addr
	}
	return options, nil
}

// discover is the command that finds servers near one player.
type discover struct {
	*program
	game    string
	sources sources
	probing probing
	filter  filter
	planning
	name   string
	format string
	json   bool
	top    int
	kind   string // QStat's type of the game's servers
}

func newDiscover(p *program) *cobra.Command {
	d := &discover{program: p}
	cmd := &cobra.Command{
		Use:   "discover --game ID",
		Short: "Find servers near you, alone",
		Example: `  muster discover --game xonotic
  muster discover --game openarena --servers my-servers.txt --not-full --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	p.gameFlag(cmd, &d.game)
	d.sources.bind(flags)
	d.planning.bind(cmd, discovery.Conventional)
	d.bindMaxRTT(cmd)
	d.probing.bind(flags)
	d.filter.bind(flags)
	flags.StringVar(&d.name, "name", defaultName(), "the player's name in the report")
	flags.StringVar(&d.format, "format", "table", "output: "+formatNames)
	flags.BoolVar(&d.json, "json", false, "the same as --format json")
	flags.IntVar(&d.top, "top", 0, "rows of the table; 0 is all")
	return cmd
}

func (d *discover) run(ctx context.Context) error {
	if d.json {
		d.format = "json"
	}
	write, err := writerOf(d.format)
	if err != nil {
		return err
	}
	g, err := d.findGame(d.game)
	if err != nil {
		return err
	}
	d.kind = g.QStatTypes[0]
	options, err := d.probing.options(d.program, g.Protocol())
	if err != nil {
		return err
	}
	listing, err := d.sources.list(ctx, g, d.streams.In)
	if err != nil {
		return err
	}
	d.warn(listing.Warnings)
	fmt.Fprintln(d.streams.Err, describe(listing.Servers, g))
	report, stopped := d.measure(ctx, g, listing.Servers, options)
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	report.Servers = slices.DeleteFunc(report.Servers, func(m discovery.Measurement) bool { return !d.filter.keeps(&m) })
	if err := write(d, report); err != nil {
		return err
	}
	return d.verdict(report, stopped)
}

// verdict is the exit status: an interrupted discovery shows what it has.
func (d *discover) verdict(report discovery.Report, stopped error) error {
	switch {
	case stopped != nil:
		return fmt.Errorf("stopped after %d of %d servers", report.Summary.Probed, report.Summary.Listed)
	case report.Summary.Answered == 0:
		return fmt.Errorf("%w: none of %d servers answered", errNothing, report.Summary.Probed)
	case !slices.ContainsFunc(report.Servers, isAnswered):
		return fmt.Errorf("%w: %d servers answered, none passes the filters", errNothing, report.Summary.Answered)
	}
	return nil
}

func isAnswered(m discovery.Measurement) bool { return m.State == discovery.Answered }

// measure runs the plan over the list.
func (d *discover) measure(ctx context.Context, g game.Game, servers []discovery.Server, options prober.Options) (discovery.Report, error) {
	head := discovery.Report{Peer: d.name, Game: g.ID, Strategy: string(d.strategy), Started: time.Now()}
	plan, err := d.plan(servers)
	if err != nil {
		return head, err
	}
	engine, err := prober.New(options)
	if err != nil {
		return head, err
	}
	defer engine.Close()
	var results []discovery.Result
	answered := 0
	progress := d.progress("probing", len(servers))
	err = engine.Run(ctx, servers, plan, func(r discovery.Result) {
		results = append(results, r)
		if r.State == discovery.Answered {
			answered++
		}
		progress.set(len(results), fmt.Sprintf("%d answered", answered))
	})
	progress.finish()
	if err != nil && ctx.Err() == nil {
		return head, err
	}
	summarize(&head.Summary, plan.Summary(), engine.Stats(), time.Since(head.Started))
	return discovery.NewReport(head, servers, results), ctx.Err()
}

func summarize(s *discovery.Summary, plan discovery.PlanSummary, stats prober.Stats, elapsed time.Duration) {
	s.Clusters, s.Calibration, s.AutoStopped = plan.Clusters, plan.Calibration, plan.AutoStopped
	s.ElapsedMS = elapsed.Milliseconds()
	s.PacketsSent = int64(stats.PacketsSent)
	s.BytesSent = int64(stats.BytesSent)
	s.BytesReceived = int64(stats.BytesReceived)
}

func (p *program) warn(warnings []error) {
	const most = 5
	for i, w := range warnings {
		if i == most {
			fmt.Fprintf(p.streams.Err, "muster: warning: %d more\n", len(warnings)-most)
			return
		}
		fmt.Fprintf(p.streams.Err, "muster: warning: %s\n", withoutPackage(discovery.CleanText(w.Error())))
	}
}

// defaultName is what the system calls the user.
func defaultName() string {
	u, err := user.Current()
	if err != nil {
		return "player"
	}
	return cmp.Or(u.Username, "player")
}

// filter are the flags that say which servers the player wants to see.
type filter struct {
	mapName, mode                 string
	notFull, notEmpty, noPassword bool
}

func (f *filter) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.mapName, "map", "", "only servers on this `MAP`")
	flags.StringVar(&f.mode, "mode", "", "only servers of this game `MODE`")
	flags.BoolVar(&f.notFull, "not-full", false, "only servers with a free seat")
	flags.BoolVar(&f.notEmpty, "not-empty", false, "only servers where people play; bots do not count")
	flags.BoolVar(&f.noPassword, "no-password", false, "only servers without a password")
}
