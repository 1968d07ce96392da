package cli

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"

	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/game"
)

// launching are the flags that say how a player gets into the game.
type launching struct {
	mode     string
	template string
}

func (l *launching) bind(flags *pflag.FlagSet) {
	flags.StringVar(&l.mode, "launch", "ask", "start the game at the end: ask, auto, never")
	flags.StringVar(&l.template, "launch-command", "", "start the game with this `TEMPLATE`, such as \"openarena +connect {address}\"")
}

func (l *launching) check() error {
	switch l.mode {
	case "ask", "auto", "never":
	default:
		return hinted(usagef("unknown --launch %q", l.mode), "say ask, auto or never")
	}
	if l.template == "" {
		return nil
	}
	_, err := game.Split(l.template)
	if err != nil {
		return usageError(err)
	}
	return nil
}

// launcher starts the game for one player.
type launcher struct {
	*program
	launching
	games   game.Table
	console *console
	player  string
	room    string
}

// launch takes the player to the server the host names: its own template, and
// only after a yes unless the player said --launch auto.
func (l *launcher) launch(ctx context.Context, to wire.Launch, tell func(wire.LaunchState, string)) {
	argv, env, err := l.command(to)
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	fmt.Fprintf(l.streams.Err, "\neveryone to %s\n  %s\n", discovery.CleanText(to.Name), game.Show(argv, to.Password))
	if !l.agreed(ctx, tell) {
		return
	}
	started, err := game.Launch(ctx, argv, env)
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	go started.Wait() // reaps the game while Muster still runs; nobody waits for the verdict
	fmt.Fprintln(l.streams.Err, "the game is starting; have fun")
	tell(wire.LaunchStarted, "")
}

// command fills the player's template with what the host says.
func (l *launcher) command(to wire.Launch) (argv, env []string, err error) {
	g, err := l.games.Find(to.Game)
	if err != nil {
		return nil, nil, err
	}
	address, err := netip.ParseAddrPort(to.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("the host sends us to %q, which is no address", discovery.CleanText(to.Address))
	}
	template := g.Template(runtime.GOOS)
	if l.template != "" {
		if template, err = game.Split(l.template); err != nil {
			return nil, nil, err
		}
	}
	target := game.Target{Address: address, Password: to.Password, Player: l.player, Room: l.room}
	argv, err = g.Command(template, target)
	return argv, g.Environ(target, &discovery.Info{Name: to.Name}), err
}

// agreed asks the player, and tells the room what came of it.
func (l *launcher) agreed(ctx context.Context, tell func(wire.LaunchState, string)) bool {
	switch {
	case l.mode == "auto":
		return true
	case l.mode == "never":
		fmt.Fprintln(l.streams.Err, "start it yourself with the line above")
		tell(wire.LaunchByHand, "")
		return false
	}
	tell(wire.LaunchAsking, "")
	answer, ok := l.console.ask(ctx, "start it now? [Y/n] ")
	switch {
	case ctx.Err() != nil:
		return false
	case !ok:
		fmt.Fprintln(l.streams.Err, "\nnobody here to answer: start it yourself with the line above, or say --launch auto")
		tell(wire.LaunchByHand, "")
	case !yes(answer):
		tell(wire.LaunchDeclined, "")
	default:
		return true
	}
	return false
}

func (l *launcher) failed(to wire.Launch, err error, tell func(wire.LaunchState, string)) {
	printError(l.streams.Err, err)
	fmt.Fprintf(l.streams.Err, "connect by hand: %s\n", discovery.CleanText(to.Address))
	tell(wire.LaunchFailed, err.Error())
}
