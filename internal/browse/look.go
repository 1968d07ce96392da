// Package browse is a server browser. It asks a game's servers by a plan, and shows the servers that a player wants to
// see in the player's order, while it asks and at the end. Afterwards it can watch them for free seats.
package browse

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/discovery/prober"
	"muster/discovery/report"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/internal/visits"
)

// Look is one look at a list of servers.
type Look struct {
	// Game and Player appear in the report.
	Game, Player string
	Strategy     discovery.Strategy
	Options      discovery.PlanOptions
	// Fresh ignores what earlier visits remembered.
	Fresh bool
	// Discreet bounds how many servers may see the player's address; 0 means no bound.
	Discreet int
	Servers  []discovery.Server
	// First are the servers to ask before all others.
	First []int
	// Said is what the list says of the servers.
	Said discovery.Said
	Say  func(format string, a ...any)
	Log  *slog.Logger
}

// Viewer watches while servers are asked.
type Viewer interface {
	Add(discovery.Result)
	// End frees the terminal for what follows.
	End()
}

// Run asks the servers until the plan or ctx ends, and shows the viewer each result. The claim is what the plan
// concludes about the servers that it did not ask.
func (l Look) Run(ctx context.Context, engine *prober.Prober, viewer Viewer) (report.Report, discovery.Claim, error) {
	head := report.Report{Peer: l.Player, Game: l.Game, Strategy: string(l.Strategy), Started: time.Now()}
	visits := visits.Recall(l.Game, l.Fresh, l.Log)
	if l.Options.Priors = visits.Priors(head.Started); len(l.Options.Priors) > 0 && l.Strategy != discovery.Conventional {
		seen := visits.Newest()
		l.Say("starting from the last visit, %s (%s ago): %s remembered; --fresh starts anew",
			seen.Local().Format("2 Jan 15:04"), roughly(head.Started.Sub(seen)), term.Count(len(l.Options.Priors), "network"))
	}
	plan, err := plan.New(l.Strategy, topology.New(l.Servers), l.Options)
	if err != nil {
		return head, discovery.Claim{}, hint.Usage(err)
	}
	var results []discovery.Result
	l.Say("%s", catalogue.InEnglish().Say(discovery.ExposureNotice(0, l.Discreet, len(l.Servers))))
	exposure := &discovery.Exposure{Max: l.Discreet}
	defer func() { l.Say("%s", catalogue.InEnglish().Say(exposure.Of(len(l.Servers)).Sentence())) }()
	err = engine.Run(ctx, l.Servers, exposure.Watch(asFirst(l.First, plan), l.Servers, nil), func(r discovery.Result) {
		if r.State == discovery.Answered {
			r.Info = r.Info.Completed(l.Said.Infos[l.Servers[r.Server].Addr])
		}
		results = append(results, r)
		viewer.Add(r)
	})
	viewer.End()
	if visits.OutdatedBy(l.Servers, results) {
		l.Say("what was remembered does not hold here, and is forgotten")
	}
	visits.Keep(l.Servers, results, time.Now())
	if err != nil && ctx.Err() == nil {
		return head, discovery.Claim{}, err
	}
	done := plan.Summary()
	summarize(&head.Summary, done, engine.Stats(), time.Since(head.Started))
	return report.New(head, l.Servers, results), done.Claim, ctx.Err()
}

// asFirst returns a plan that asks some servers before all others.
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

// Summary returns the lines below the servers. table are the servers that the player wants to see, and isTable reports
// whether they appear as a table of this size.
func (l Look) Summary(
	r report.Report, table []report.Measurement, claim discovery.Claim, filter *Filter, isTable bool, room Room,
) []string {
	s := r.Summary
	lines := []string{fmt.Sprintf("%d of %d servers asked in %.1f s: %d answered, %d lost, %d refused",
		s.Probed, s.Listed, float64(s.ElapsedMS)/1000, s.Answered, s.Lost, s.Refused)}
	switch sentence := claim.String(); {
	case s.AutoStopped && sentence != "":
		lines = append(lines, "stopped by itself: "+sentence)
	case s.AutoStopped && l.Options.Nearest > 0 && l.Strategy == discovery.Adaptive:
		lines = append(lines, "stopped by itself: hardly any nearer server can be left")
	case s.AutoStopped:
		lines = append(lines, fmt.Sprintf("stopped by itself: few servers under %s can be left", WholeMS(l.Options.MaxRTT)))
	}
	switch shift := time.Duration(s.OwnShift).Round(time.Millisecond); {
	case shift > 0:
		lines = append(lines, fmt.Sprintf("your connection was busy: all pings rose by about %s for a while, and near servers "+
			"may be missing; look again when nothing else uses it", WholeMS(shift)))
	case shift < 0:
		lines = append(lines, fmt.Sprintf("your connection was busy at first: all pings fell by about %s meanwhile, and near "+
			"servers may be missing; look again", WholeMS(-shift)))
	}
	if isTable && slices.ContainsFunc(table, func(m report.Measurement) bool { return m.AsListed }) {
		lines = append(lines, fmt.Sprintf("* as the list said %s ago, where the server says little itself", roughly(time.Since(l.Said.At))))
	}
	if all, first := len(table), "nearest"; isTable && l.Options.Nearest == 0 && room.For(all) < all {
		if filter.Sort != ByPing {
			first = "first"
		}
		lines = append(lines, fmt.Sprintf("the %s %d of %d shown; --top 0 shows all", first, room.For(all), all))
	}
	return lines
}

// roughly returns a duration as people say it.
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
