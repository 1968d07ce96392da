// Package cli is the command muster: one file a command. Results go to standard
// output, progress and logs to standard error, and every error says what to do
// about it if that is known.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Exit statuses of the command.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNothing = 3 // nothing suitable was found
)

// Streams are the program's input and output.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run executes the command line and returns the exit status.
func Run(ctx context.Context, args []string, streams Streams) int {
	root := newRoot(&program{streams: streams, env: os.Getenv})
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	return report(streams.Err, root.ExecuteContext(ctx))
}

// program is what all commands share.
type program struct {
	streams Streams
	env     func(string) string
	verbose bool
}

func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "Find the game server that is best for everyone, and go there together",
		Long: `Muster finds the game server that is best for a whole group.

  muster host --game openarena     open a room; it prints a link for your friends
  muster join LINK                 join a room
  muster demo                      see a whole game night on this machine`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err) })
	root.PersistentFlags().BoolVarP(&p.verbose, "verbose", "v", false, "log what goes on inside")
	root.AddCommand(
		newDemo(p), newHost(p), newJoin(p), newDiscover(p), newSelect(p), newFleet(p), newGames(p),
	)
	for _, command := range root.Commands() {
		wrapArgs(command)
	}
	return root
}

// unknownCommand refuses a word that is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return hinted(usageError(err), fmt.Sprintf("did you mean muster %s?", like[0]))
	}
	return hinted(usageError(err), "muster --help lists the commands")
}

// wrapArgs makes a command's complaints about its arguments errors of usage.
func wrapArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return hinted(usageError(err), "see muster "+cmd.Name()+" --help")
		}
		return nil
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// report prints an error as people read it and returns the exit status.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	if !errors.Is(err, errReported) {
		printError(w, err)
	}
	var usage *usage
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errNothing):
		return exitNothing
	}
	return exitFailed
}
