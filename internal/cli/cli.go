// Package cli is the command muster: one file a command. Results go to standard output, progress
// and logs to standard error. Errors say what to do about them if that is known.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery/prober"
	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/release"
	"muster/internal/steam"
	"muster/internal/term"
	"muster/internal/userfile"
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

// Run executes the command line and returns the exit status. A pending read of In cannot be
// cancelled and may outlive Run; everything else has ended when Run returns.
func Run(ctx context.Context, args []string, streams Streams) int {
	p := newProgram(streams, os.Getenv)
	if len(args) == 0 {
		named, done, err := p.doubleClicked(ctx)
		if done {
			return p.report(err)
		}
		if len(named) > 0 {
			args = named
		}
	}
	root := newRoot(p)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	return p.report(root.ExecuteContext(ctx))
}

// Command returns the command line itself, for generating documents from it.
func Command() *cobra.Command {
	return newRoot(newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, func(string) string { return "" }))
}

// program holds what all commands share.
type program struct {
	in      io.Reader
	out     term.Terminal
	screen  *term.Screen // standard error
	env     func(string) string
	verbose bool
	// origins say where flags that the command line omits were set, by flag.
	origins map[string]string
	// trouble is what is wrong in config.toml and the environment, for a command that only checks.
	trouble error
	// home is the page that replaces a terminal; nil on a terminal.
	home *home.Terminal
	// front shows rooms in place of a terminal, together with home; nil on a terminal and on Home.
	front *lobby.Front
	// log replaces the log on the terminal; nil does not.
	log *slog.Logger
	// greets is what a command asks before it joins a room.
	greets greeting
	// invitation is what Home asks the person about; nil for nothing.
	invitation *home.Invitation
	// allowance is shared by all commands of this program; nil gives each its own.
	allowance *prober.Allowance
}

func newProgram(s Streams, env func(string) string) *program {
	return &program{
		in: s.In, out: term.New(s.Out, env), screen: term.NewScreen(term.New(s.Err, env), localeOf(env)), env: env,
		origins: map[string]string{},
	}
}

// configFile returns the path of a file in the user's configuration folder for Muster.
func configFile(name string) string { return userfile.Config(name) }

// steam returns access to the user's Steam.
func (p *program) steam() steam.Steam { return steam.Steam{File: configFile("steam-key"), Env: p.env} }

// desk returns the desk of the person who runs a command.
func (p *program) desk() *lobby.Desk {
	d := lobby.NewDesk(p.in, p.out, p.screen, p.home, p.env, p.logger())
	d.Front = p.front
	return d
}

// Groups of commands in the help.
const (
	toPlay = "play"
	toLook = "look"
	toTry  = "try"
)

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

func newRoot(p *program) *cobra.Command {
	a, tellsVersion := &atHome{program: p}, false
	summary, _, _ := strings.Cut(whatPeopleDo, "\n\nIf something")
	root := &cobra.Command{
		Use:                        "muster",
		Short:                      "Find the game server that is best for everyone, and go there together",
		Long:                       summary,
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableAutoGenTag:          true,
		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tellsVersion {
				fmt.Fprintln(p.out, "muster", release.Running())
				return nil
			}
			return a.run(cmd.Context())
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := p.grant(cmd)
			if only := cmd.Flags().Lookup(checkOnly); only != nil && only.Changed {
				p.trouble = err // which it reports with everything else
				return nil
			}
			if cmd.HasParent() || err == nil {
				return err
			}
			p.warn(err) // Home reports it, too: a double click shows no terminal
			return nil
		},
	}
	a.bind(root)
	// cobra's own flag would keep templates in the program; see package markup.
	root.Flags().BoolVar(&tellsVersion, "version", false, "version for muster")
	root.PersistentFlags().BoolVarP(&p.verbose, "verbose", "v", false, "log what goes on inside")
	root.PersistentFlags().Var(p.languageFlag(), languageFlag, "what a room says here is in the language of this `TAG`, such as en "+
		"(default: the system's)")
	option.Complete(root, languageFlag, languages.Tags())
	root.AddGroup(
		&cobra.Group{ID: toPlay, Title: "To play:"},
		&cobra.Group{ID: toLook, Title: "To look for servers:"},
		&cobra.Group{ID: toTry, Title: "To try things out:"},
	)
	for _, c := range []*cobra.Command{newHost(&hostCommand{program: p}), newJoin(&join{program: p}), newServe(p),
		newDiscover(&discover{program: p}), newWhere(&whereCommand{program: p}), newSelect(p), newGames(p), newPlaces(p),
		newLaws(p), newMatch(p), newLists(p), newDoctor(p), newGeo(p), newVerify(p), newRegister(p), newOpen(p),
		newBeacon(&beaconCommand{program: p}), newDemo(p),
		newSimulate(p), newFleet(p), newRPC(p)} {
		root.AddCommand(c)
	}
	option.ShortHelp(root, func() string { return whatPeopleDo })
	option.Strict(root)
	return root
}

// say prints an error for people.
func (p *program) say(err error) {
	for _, line := range hint.Lines(p.screen.Language, err) {
		fmt.Fprintln(p.screen.Writer, line)
	}
}

// report prints an error for people and returns the exit status.
func (p *program) report(err error) int {
	if err == nil {
		return exitDone
	}
	if isTold := new(told); !errors.As(err, isTold) {
		p.say(err)
	}
	switch {
	case hint.IsUsage(err):
		return exitUsage
	case errors.Is(err, errNothing):
		return exitNothing
	}
	return exitFailed
}

func usageError(err error) error      { return hint.Usage(err) }
func usagef(f string, a ...any) error { return hint.Usagef(f, a...) }

// errNothing says that nothing suitable was found.
var errNothing = lobby.ErrNothing

// warn prints warnings about what could not be read or fetched. The rest goes on without it.
func (p *program) warn(warnings ...error) {
	p.desk().Warn(warnings...)
}

// logger returns a log of warnings and, if the user asked for them, internal details.
func (p *program) logger() *slog.Logger {
	if p.log != nil {
		return p.log
	}
	if p.verbose {
		return slog.New(slog.NewTextHandler(p.screen.Writer, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(hint.NewLog(p.screen.Writer))
}

// languageFlag is the flag of the reader's language, which every command has.
const languageFlag = "language"

// localeOf returns the language that the system's user has chosen, English if Muster does not speak it
// (POSIX, Base Definitions, 8.2). Without such a variable the system's own settings count, where it
// has some.
func localeOf(env func(string) string) *catalogue.Language {
	if tag := cmp.Or(env("LC_ALL"), env("LC_MESSAGES"), env("LANG")); tag != "" {
		return languages.In(languages.Find(tag))
	}
	return languages.In(languages.Find(systemLanguages()...))
}

// languageFlag returns the flag, which gives the program a screen in its language.
func (p *program) languageFlag() option.Value {
	return option.New("TAG", "", func(text string) error {
		tag, suits := languages.Match(text)
		if !suits {
			return fmt.Errorf("%q is no language that Muster speaks: it speaks %s", text, strings.Join(languages.Tags(), ", "))
		}
		p.screen = term.NewScreen(p.screen.Terminal, languages.In(tag))
		return nil
	})
}
