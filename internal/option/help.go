package option

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/hint"
)

// everything is the word after --help that asks for all flags.
const everything = "all"

// ShortHelp makes the help of a command a short text. The whole help follows --help all.
func ShortHelp(cmd *cobra.Command, text func() string) {
	whole := cmd.HelpFunc()
	cmd.SetHelpFunc(func(asked *cobra.Command, args []string) {
		if asked != cmd || slices.Contains(args, everything) {
			whole(asked, args)
			return
		}
		fmt.Fprint(cmd.OutOrStdout(), text())
	})
}

// MostUsed returns a short help: the text about a command, its examples, and a few of its flags.
func MostUsed(cmd *cobra.Command, about, flags string) string {
	few := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	few.SortFlags = false
	for name := range strings.FieldsSeq(flags) {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			short := *flag
			short.Usage, _, _ = strings.Cut(short.Usage, "; ")
			few.AddFlag(&short)
		}
	}
	return fmt.Sprintf("%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nWhat people use most:\n%s\nEverything: %s --help %s\n",
		about, cmd.UseLine(), cmd.Example, few.FlagUsages(), cmd.CommandPath(), everything)
}

// Strict completes a program's root command, which has all its commands. Unknown words, and wrong
// arguments and flags, are usage errors that say what to do. The help lists flags in order of
// importance.
func Strict(root *cobra.Command) {
	root.Args = unknownCommand
	root.SetFlagErrorFunc(Explain)
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd(root.Name())
	strict(root.Commands())
}

func strict(commands []*cobra.Command) {
	for _, cmd := range commands {
		cmd.Flags().SortFlags = false
		if cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.Args, cmd.RunE = unknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check == nil {
				check = cobra.NoArgs
			}
			err := check(cmd, args)
			if err != nil && !hint.IsUsage(err) { // it is cobra's
				err = hint.Usage(wrongWords(cmd, args))
			}
			if err != nil && hint.Of(err) == "" {
				err = hint.With(err, "see "+cmd.CommandPath()+" --help")
			}
			return err
		}
		strict(cmd.Commands())
	}
}

// wrongWords says which words a command takes, as its help writes them, in place of those that it got.
func wrongWords(cmd *cobra.Command, args []string) error {
	wanted := strings.Fields(cmd.Use)[1:]
	if end := slices.IndexFunc(wanted, func(word string) bool { return strings.HasPrefix(word, "-") }); end >= 0 {
		wanted = wanted[:end]
	}
	name := cmd.CommandPath()
	switch {
	case len(wanted) == 0:
		return fmt.Errorf("%s takes no argument, and got %q", name, args[0])
	case len(args) == 0:
		return fmt.Errorf("%s needs a word more: %s %s", name, name, strings.Join(wanted, " "))
	}
	return fmt.Errorf("%s takes one word, %s, and got %d: a name with spaces stands in quotation marks", name, strings.Trim(wanted[0], "[]"), len(args))
}

// newHelp replaces cobra's help command, which accepts any word as a command.
func newHelp(root *cobra.Command) *cobra.Command {
	all := false
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help for a command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			isAll := all || slices.Equal(rest, []string{everything})
			if err != nil || cmd == root && len(rest) > 0 && !isAll {
				return unknownCommand(root, args)
			}
			if isAll {
				rest = append(rest, everything)
			}
			cmd.InitDefaultHelpFlag()
			cmd.HelpFunc()(cmd, rest)
			return nil
		},
	}
	help.Flags().BoolVar(&all, everything, false, "say everything, where the help is short")
	return help
}

// unknownCommand refuses a word that is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := hint.Usagef("unknown command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return hint.With(err, fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), like[0]))
	}
	if !cmd.HasParent() {
		return hint.With(err, cmd.CommandPath()+" --help "+everything+" lists the commands")
	}
	return hint.With(err, cmd.CommandPath()+" --help lists the commands")
}
