package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/plans"
	"muster/discovery/topology"
	"muster/selection"
)

// planning are the flags that say in which order servers are asked, and when
// that is enough.
type planning struct {
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (o *planning) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	bindWord(cmd, &o.strategy, "strategy", discovery.Adaptive, discovery.Strategies(), "order of probing")
	flags.IntVar(&o.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.DurationVar(&o.options.MaxRTT, "max-rtt", 200*time.Millisecond, "the `RTT` over which a server is not near")
	bindWord(cmd, &o.options.AutoStop, "auto-stop", discovery.StopDefault, discovery.AutoStops(), "when to stop (default: the strategy's)")
	flags.IntVar(&o.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Var(tuning{&o.options}, "tune", "thresholds of the strategies (muster simulate --help lists them)")
	flags.Uint64Var(&o.options.Seed, "seed", 1, "the same `SEED` and replies give the same order")
}

// check refuses what no plan can be made of.
func (o *planning) check() error {
	switch {
	case o.options.Nearest < 0:
		return usagef("--nearest %d is below 0", o.options.Nearest)
	case o.options.Nearest > 0 && o.strategy != discovery.Adaptive:
		return hinted(usagef("--nearest is for the adaptive strategy, not for %s", o.strategy), "leave out --strategy")
	case o.options.MaxRTT <= 0:
		return usagef("--max-rtt %v: no server is that near", o.options.MaxRTT)
	case o.options.Window < 1:
		return usagef("--window %d: auto-stop looks at one reply at least", o.options.Window)
	}
	return nil
}

// plan is how the list is gone through.
func (o *planning) plan(servers []discovery.Server) (discovery.Plan, error) {
	plan, err := plans.New(o.strategy, topology.New(servers), o.options)
	if err != nil {
		return nil, usageError(err)
	}
	return plan, nil
}

// bindRule adds the flag for the rule of the choice.
func bindRule(cmd *cobra.Command, rule *selection.Rule, standard selection.Rule, help string) {
	bindWord(cmd, rule, "by", standard, selection.Rules(), help)
}

// bindLimits adds the flag for the limits of the choice.
func bindLimits(flags *pflag.FlagSet, limits *[]time.Duration) {
	flags.Var(durations{limits}, "max-rtt", "nobody may be over this RTT; of several the strictest that can be kept holds")
}

// bindFilters adds the flags for the servers that are no choice, and for who counts
// how much.
func bindFilters(flags *pflag.FlagSet, wish *selection.Criteria, when string) {
	flags.StringVar(&wish.Map, "map", "", when+"only servers on this `MAP`")
	flags.StringVar(&wish.Mode, "mode", "", when+"only servers of this game `MODE`")
	flags.BoolVar(&wish.NoPassword, "no-password", false, when+"only servers without a password")
	flags.Var(weights{&wish.Weights}, "weights", when+"players who count for more or less than 1")
}

// needsLimit refuses a rule about limits that has none.
func needsLimit(rule selection.Rule, limits []time.Duration) error {
	if (rule == selection.Threshold || rule == selection.FairThreshold) && len(limits) == 0 {
		return hinted(usagef("--by %s needs a limit", rule), "say what is too much, such as --max-rtt 150ms, or a ladder, --max-rtt 100ms,150ms")
	}
	return nil
}
