package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
)

// planning are the flags that say in which order servers are asked, and when
// that is enough.
type planning struct {
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

// bind adds the flags, with their words as completions.
func (o *planning) bind(cmd *cobra.Command, strategy discovery.Strategy) {
	flags := cmd.Flags()
	flags.TextVar(&o.strategy, "strategy", strategy, "order of probing: "+words(discovery.Strategies()))
	flags.TextVar(&o.options.AutoStop, "auto-stop", discovery.StopDefault, "when to stop: "+words(discovery.AutoStops())+" (default: the strategy's)")
	flags.IntVar(&o.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.IntVar(&o.options.Window, "window", 100, "replies that auto-stop looks back on")
	flags.Uint64Var(&o.options.Seed, "seed", 1, "the same seed and replies give the same order")
	completeWords(cmd, "strategy", discovery.Strategies())
	completeWords(cmd, "auto-stop", discovery.AutoStops())
}

// bindMaxRTT adds the limit that auto-stop looks for.
func (o *planning) bindMaxRTT(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.options.MaxRTT, "max-rtt", 200*time.Millisecond, "the RTT over which a server is no use")
}

func (o *planning) plan(servers []discovery.Server) (discovery.Plan, error) {
	plan, err := discovery.NewPlan(o.strategy, servers, o.options)
	if err != nil {
		return nil, usageError(err)
	}
	return plan, nil
}

// words lists the values of a flag.
func words[W ~string](list []W) string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}

func completeWords[W ~string](cmd *cobra.Command, flag string, list []W) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var text []string
		for _, w := range list {
			text = append(text, string(w))
		}
		return text, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(fmt.Sprintf("cli: completion of --%s: %v", flag, err)) // the flag was added just before
	}
}
