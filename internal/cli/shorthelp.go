package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everything is the word after --help that asks for all flags.
const everything = "all"

// shortHelp makes the help of a command say what people need most. Its whole help follows
// --help all.
func shortHelp(cmd *cobra.Command, about, flags string) {
	whole := cmd.HelpFunc()
	cmd.SetHelpFunc(func(asked *cobra.Command, args []string) {
		if asked != cmd || slices.Contains(args, everything) {
			whole(asked, args)
			return
		}
		few := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
		few.SortFlags = false
		for name := range strings.FieldsSeq(flags) {
			if flag := cmd.Flags().Lookup(name); flag != nil {
				short := *flag
				short.Usage, _, _ = strings.Cut(short.Usage, "; ")
				few.AddFlag(&short)
			}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nWhat people use most:\n%s\nEverything: %s --help %s\n",
			about, cmd.UseLine(), cmd.Example, few.FlagUsages(), cmd.CommandPath(), everything)
	})
}
