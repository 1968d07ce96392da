package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"sync/atomic"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/game"
)

// launchMode is who starts the game.
type launchMode string

const (
	launchAsk   launchMode = "ask"   // Muster, after a yes
	launchAuto  launchMode = "auto"  // Muster
	launchNever launchMode = "never" // the player
)

// launching are the flags that say how a player gets into the game.
type launching struct {
	mode     launchMode
	template string
}

func (l *launching) bind(cmd *cobra.Command) {
	bindWord(cmd, &l.mode, "launch", launchAsk, []launchMode{launchAsk, launchAuto, launchNever}, "start the game at the end")
	cmd.Flags().StringVar(&l.template, "launch-command", "", "start the game with this `TEMPLATE`, such as \"openarena +connect {address}\"")
}

// check refuses a template that cannot work, before anybody waits for it.
func (l *launching) check() error {
	if l.template == "" {
		return nil
	}
	template, err := game.Split(l.template)
	if err == nil {
		_, err = game.Game{}.Command(template, game.Target{Address: netip.MustParseAddrPort("192.0.2.1:27960"), Password: "secret"})
	}
	if err != nil {
		return usagef("--launch-command: %w", err)
	}
	return nil
}

// launcher starts the game for one player.
type launcher struct {
	launching
	games   game.Table
	console *console
	screen  *screen
	player  string
	room    string
	after   string // what to say at the end
	running atomic.Int32
}

// maxRunning is how many games that Muster has started may run when it starts
// another one unasked: a host may begin as many rounds as it likes.
const maxRunning = 3

// launch takes the player to the server the host names: with the player's own
// template, and only after a yes unless they said --launch auto.
func (l *launcher) launch(ctx context.Context, to wire.Launch, tell func(wire.LaunchState, string)) {
	if l.after != "" {
		defer l.screen.say("%s", l.after)
	}
	argv, env, err := l.command(to)
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	l.screen.say("%s", l.screen.style(l.screen.w).bold(game.Show(argv, to.Password)))
	if state := l.agreed(ctx, tell); state != "" {
		l.unmask(to)
		tell(state, "")
		return
	}
	if ctx.Err() != nil {
		return // another round has begun
	}
	started, err := game.Launch(ctx, argv, env)
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	l.running.Add(1)
	go func() { // reaps the game, which may outlive Muster
		started.Wait()
		l.running.Add(-1)
	}()
	l.screen.say("the game is starting; have fun")
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

// agreed asks the player if need be. The state is empty if the game is to be
// started, or if it is too late for that.
func (l *launcher) agreed(ctx context.Context, tell func(wire.LaunchState, string)) wire.LaunchState {
	switch n := l.running.Load(); {
	case l.mode == launchAuto && n < maxRunning:
		return ""
	case l.mode == launchAuto:
		l.screen.say("%d games that muster has started are still running", n)
	case l.mode == launchNever:
		l.screen.say("start it yourself with the line above")
		return wire.LaunchByHand
	}
	tell(wire.LaunchAsking, "")
	switch answer, ok := l.console.ask(ctx, "start it now? [Y/n] "); {
	case ctx.Err() != nil:
		return ""
	case !ok:
		l.screen.say("nobody here to answer: start it yourself with the line above, or say --launch auto")
		return wire.LaunchByHand
	case !yes(answer):
		l.screen.say("as you like; the line above takes you there later")
		return wire.LaunchDeclined
	}
	return ""
}

// unmask tells the game server's password to whoever has to type it; for the
// others it stays masked, as people look on.
func (l *launcher) unmask(to wire.Launch) {
	if to.Password != "" {
		l.screen.say("the server's password, *** above: %s", discovery.CleanText(to.Password))
	}
}

// failed says why the game does not start. The others in the room hear the
// reason, but not where this machine keeps its programs.
func (l *launcher) failed(to wire.Launch, err error, tell func(wire.LaunchState, string)) {
	var start *game.StartError
	if errors.As(err, &start) && errors.Is(err, exec.ErrNotFound) {
		err = hinted(fmt.Errorf("there is no program %s on this machine", start.Program), start.Hint())
	}
	for _, line := range errorLines(err) {
		l.screen.say("%s", line)
	}
	l.screen.say("connect by hand: %s", discovery.CleanText(to.Address))
	l.unmask(to)
	tell(wire.LaunchFailed, withoutPackage(err.Error()))
}
