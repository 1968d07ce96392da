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

// whatPeopleDo is the short help of muster itself: what people do, each with an example.
const whatPeopleDo = `Muster finds the game server that is best for a whole group, and takes everyone there.

What people do most:
  muster                                  all of it in the browser, without a terminal
  muster host openarena --players 4       open a room; it prints a link for your friends
  muster join LINK                        join a friend's room
  muster discover xonotic --not-empty     find servers near you, alone
  muster demo                             see a whole game night on this machine

If something does not work:
  muster doctor                           what this machine and network can do

One command:  muster COMMAND --help
Everything:   muster --help all
`

// shortRootHelp makes the help of muster itself short, as shortHelp does for a command.
func shortRootHelp(root *cobra.Command) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(asked *cobra.Command, args []string) {
		if asked != root || slices.Contains(args, everything) {
			whole(asked, args)
			return
		}
		fmt.Fprint(root.OutOrStdout(), whatPeopleDo)
	})
}
