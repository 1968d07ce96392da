package browse

import (
	"context"
	"fmt"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/term"
	"muster/internal/watch"
)

// Watch asks the servers of a table repeatedly, and announces free seats.
type Watch struct {
	Screen *term.Screen
	// IsLive says that the terminal shows the table, which changes.
	IsLive bool
	// Heard hears of each answer; it may be nil.
	Heard func(report.Measurement)
}

// Run watches until ctx ends or, if untilFree is set, until the only server has a free seat. It updates the rows.
func (w Watch) Run(ctx context.Context, ask watch.Asker, rows []report.Measurement, untilFree bool) error {
	if untilFree && rows[0].MaxPlayers == 0 {
		return fmt.Errorf("%s does not tell its seats: nobody sees when one is free", Label(rows[0]))
	}
	servers, infos := make([]discovery.Server, len(rows)), make([]*discovery.Info, len(rows))
	for i, m := range rows {
		servers[i], infos[i] = m.Server(), m.Info()
	}
	live := &term.Live{Terminal: w.Screen.Terminal, Max: watch.Max}
	if w.IsLive {
		defer live.Erase()
	}
	w.Screen.Say("watching %s; Ctrl-C ends it", term.Count(len(rows), "server"))
	if untilFree && !watch.IsFull(infos[0]) {
		return nil
	}
	return watch.Servers(ctx, ask, servers, infos, func(news watch.News) (more bool) {
		w.handleAnswer(&rows[news.Server], report.New(report.Report{}, servers, []discovery.Result{news.Result}).Servers, news.Freed)
		if w.IsLive {
			live.Draw(func() (*term.Table, string) { return Table(rows), "Ctrl-C ends the watch" })
		}
		return !untilFree || watch.IsFull(rows[0].Info())
	})
}

// handleAnswer updates a server's row with its newest answer, and announces what people wait for.
func (w Watch) handleAnswer(row *report.Measurement, said []report.Measurement, isFreed bool) {
	for _, now := range said { // one, or none if the server may not be asked
		if w.Heard != nil {
			w.Heard(now)
		}
		if now.State != discovery.Answered {
			continue
		}
		*row = now
		if !isFreed {
			continue
		}
		bell := ""
		if w.Screen.IsTerminal {
			bell = "\a"
		}
		w.Screen.Say("%s%s has a free seat: %d of %d", bell, Label(now), now.Players, now.MaxPlayers)
	}
}
