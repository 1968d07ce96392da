package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/browse"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/internal/watch"
)

// after watches the table or connects to one of its servers, as the player asked.
func (d *discover) after(ctx context.Context, g game.Game, table []report.Measurement) error {
	if d.connect > len(table) {
		return hint.With(fmt.Errorf("%w: the table has %s, and --connect %d none", errNothing,
			term.Count(len(table), "server"), d.connect), "see which there are without --connect")
	}
	if d.watch {
		if err := d.watches(ctx, g, table); err != nil || d.connect == 0 || ctx.Err() != nil {
			return err
		}
	}
	if d.connect == 0 {
		return nil
	}
	return d.goes(ctx, g, table[d.connect-1])
}

// watches polls the table's servers until ctx ends, or until the server to connect to has a free
// seat. It updates the table.
func (d *discover) watches(ctx context.Context, g game.Game, table []report.Measurement) error {
	watched := table[:min(d.room().For(len(table)), watch.Max)]
	if d.connect > 0 {
		watched = table[d.connect-1 : d.connect]
	}
	engine, err := d.prober(g)
	if err != nil {
		return err
	}
	defer engine.Close()
	watches := browse.Watch{Screen: d.screen, IsLive: d.isLive()}
	if d.home != nil {
		watches.Heard = d.home.Found
	}
	return watches.Run(ctx, engine, watched, d.connect > 0)
}

// goes takes the player to a server, after a yes.
func (d *discover) goes(ctx context.Context, g game.Game, to report.Measurement) (err error) {
	if d.launcher.Games, err = d.games(); err != nil {
		return err
	}
	in := d.in
	if d.sources.HasStdin() {
		in = strings.NewReader("")
	}
	d.launcher.Player, d.launcher.Console = d.name, d.desk().Console(in, func() {})
	d.screen.Say("%s, %s, %s", browse.Label(to), browse.WholeMS(time.Duration(to.RTT)), to.Connect())
	if to.Password {
		d.screen.Say("it has a password, which muster does not know: have it ready for your game")
	}
	var came wire.LaunchState
	d.launcher.Launch(ctx, wire.Launch{Game: g.ID, Address: to.Connect().String(), QueryPort: to.Addr.Port(),
		Name: to.Name}, sentence.Sentence{}, func(state wire.LaunchState, _ sentence.Sentence) {
		came = state
		if d.home != nil {
			d.home.Launches(string(state))
		}
	})
	if came == wire.LaunchFailed {
		return errors.New("the game was not started")
	}
	return ctx.Err()
}

// isAsked reports whether somebody at a terminal can be asked.
func (p *program) isAsked() bool {
	return term.IsTerminal(p.in) && p.screen.IsTerminal
}

// oneGame takes a game as the only argument.
func oneGame(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%s takes one game, and got %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}
