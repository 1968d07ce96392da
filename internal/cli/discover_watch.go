package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/discovery"
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
	watched := table[:min(d.room().For(len(table)), watch.Most)]
	if d.connect > 0 {
		watched = table[d.connect-1 : d.connect]
		if watched[0].MaxPlayers == 0 {
			return fmt.Errorf("%s does not tell its seats: nobody sees when one is free", browse.Label(watched[0]))
		}
	}
	servers, infos := make([]discovery.Server, len(watched)), make([]*discovery.Info, len(watched))
	for i, m := range watched {
		servers[i], infos[i] = m.Server(), m.Info()
	}
	engine, err := d.probing.prober(d.program, g.Protocol(), nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	live := (*term.Live)(nil)
	if d.isLive() {
		live = &term.Live{Terminal: d.screen.Terminal, Most: watch.Most}
		defer live.Erase()
	}
	d.screen.Say("watching %s; Ctrl-C ends it", term.Count(len(watched), "server"))
	if d.connect > 0 && !watch.IsFull(infos[0]) {
		return nil
	}
	return watch.Servers(ctx, engine, servers, infos, func(news watch.News) (more bool) {
		d.heard(&watched[news.Server], report.New(report.Report{}, servers, []discovery.Result{news.Result}).Servers, news.Freed)
		if live != nil {
			live.Draw(func() (*term.Table, string) { return browse.Table(watched), "Ctrl-C ends the watch" })
		}
		return d.connect == 0 || watch.IsFull(watched[0].Info())
	})
}

// heard updates a server's row with its newest answer, and announces what people wait for.
func (d *discover) heard(row *report.Measurement, said []report.Measurement, isFreed bool) {
	for _, now := range said { // one, or none if the server may not be asked
		if d.home != nil {
			d.home.Found(now)
		}
		if now.State != discovery.Answered {
			continue
		}
		*row = now
		if !isFreed {
			continue
		}
		bell := ""
		if d.screen.IsTerminal {
			bell = "\a"
		}
		d.screen.Say("%s%s has a free seat: %d of %d", bell, browse.Label(now), now.Players, now.MaxPlayers)
	}
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
	d.launcher.Player, d.launcher.Console = d.name, d.desk().Console(in, func(string) {}, func() {})
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
	in, isFile := p.in.(interface{ Write([]byte) (int, error) })
	return isFile && p.screen.IsTerminal && term.New(in, p.env).IsTerminal
}

// oneGame takes a game as the only argument.
func oneGame(args []string, command string) error {
	if len(args) > 1 {
		return usagef("%s takes one game, and got %d arguments", command, len(args))
	}
	return nil
}
