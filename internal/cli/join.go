package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/access"
	"muster/host/wire"
)

// join is the command that takes a player into a room.
type join struct {
	*program
	code      string
	name      string
	probing   probing
	launching launching
	once      bool
}

func newJoin(p *program) *cobra.Command {
	j := &join{program: p}
	cmd := &cobra.Command{
		Use:     "join [LINK]",
		Aliases: []string{"peer"},
		Short:   "Join a room",
		Long: `Join takes you into a room: this machine measures the servers from where you
sit, and at the end starts your game on the server that is best for everyone.
It asks you first; the host never says what to run. Without a link it looks for
rooms on the local network. A room that is open to everybody needs no code.`,
		Example: `  muster join http://192.0.2.1:7777/#TABOMI --name ann
  muster join 192.0.2.1 --code TABOMI --launch auto
  muster join lan-party.example          (asks for the code if the room has one)
  muster join LINK --launch-command "flatpak run org.openarena +connect {address}"`,
		Args: oneLink,
		RunE: func(cmd *cobra.Command, args []string) error { return j.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&j.code, "code", "", "the room's `CODE`, if it is not in the link")
	flags.StringVar(&j.name, "name", defaultName(), "your `NAME` in the room")
	j.launching.bind(cmd)
	flags.BoolVar(&j.once, "once", false, "leave after the first launch")
	j.probing.bind(flags)
	return cmd
}

// oneLink refuses a second argument, which mostly is the code.
func oneLink(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return hinted(usagef("muster join takes one link or address, and got %d", len(args)), "a code apart goes after --code: muster join 192.0.2.1 --code TABOMI")
	}
	return nil
}

func (j *join) run(ctx context.Context, args []string) error {
	var to invitation
	var err error
	if len(args) > 0 {
		if to, err = parseInvitation(args[0], j.code); err != nil {
			return err
		}
	}
	if err := j.launching.check(); err != nil {
		return err
	}
	if _, err := j.probing.options(j.program, nil); err != nil {
		return err
	}
	games, err := j.games()
	if err != nil {
		return err
	}
	screen := j.screen()
	in := bufio.NewReader(j.streams.In)
	ask := &asking{screen, in}
	if len(args) == 0 {
		if to, err = j.look(ctx, ask); err != nil {
			return err
		}
	}
	playing := &playing{
		program: j.program, probing: j.probing, games: games, name: j.name, once: j.once,
		narrator: &narrator{screen: screen, help: playerHelp(to)},
		launcher: &launcher{
			launching: j.launching, games: games, player: j.name, room: to.code, screen: screen,
			console: newConsole(in, screen, func() {}, func() {}), after: j.after(),
		},
	}
	screen.say("connecting to %s …", to.host)
	isGiven := j.code != "" || len(args) > 0 && to.code != ""
	return j.enter(ctx, ask, playing, to, isGiven)
}

// after is what to say after a launch.
func (j *join) after() string {
	if j.once {
		return ""
	}
	return nextRound
}

// enter plays. Unless a code was given it is asked for when the host wants one,
// and again if it was mistyped: an open room takes everybody without.
func (j *join) enter(ctx context.Context, c *asking, y *playing, to invitation, isGiven bool) error {
	for {
		err := y.play(ctx, to)
		refusal := refusalFor(err, wire.ReasonCode)
		if isGiven || refusal == nil {
			return explain(err, to)
		}
		if to.code != "" {
			c.say("%s", discovery.CleanText(refusal.Message))
		}
		answer, ok := c.ask(ctx, "the room's code: ")
		if !ok {
			return explain(err, to)
		}
		to.code = access.CanonicalCode(answer)
		y.launcher.room = to.code
	}
}

// refusalFor is the host's refusal, if that is why.
func refusalFor(err error, reason string) *wire.Refusal {
	var refusal wire.Refusal
	if errors.As(err, &refusal) && refusal.Reason == reason {
		return &refusal
	}
	return nil
}
