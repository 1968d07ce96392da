package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/lobby"
)

func usageError(err error) error      { return hint.Usage(err) }
func usagef(f string, a ...any) error { return hint.Usagef(f, a...) }

// errNothing says that nothing suitable was found.
var errNothing = lobby.ErrNothing

// warn says what could not be had while the rest could.
func (p *program) warn(warnings ...error) {
	for _, line := range hint.Warnings(warnings...) {
		p.screen.Say("%s", line)
	}
}

// logger writes warnings and, if the user asked for it, what goes on inside.
func (p *program) logger() *slog.Logger {
	if p.verbose {
		return slog.New(slog.NewTextHandler(p.screen.Writer, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(plainLog{w: p.screen.Writer})
}

// plainLog writes warnings for people: what is wrong, why, and the particulars.
type plainLog struct {
	w     io.Writer
	attrs []slog.Attr
}

func (p plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (p plainLog) Handle(_ context.Context, r slog.Record) error {
	var why string
	var facts []string
	tell := func(a slog.Attr) bool {
		if err, is := a.Value.Any().(error); is {
			why = ": " + hint.Plain(hint.Reason(err).Error())
		} else {
			facts = append(facts, fmt.Sprintf("%s %v", a.Key, a.Value))
		}
		return true
	}
	for _, a := range p.attrs {
		tell(a)
	}
	r.Attrs(tell)
	text := "muster: warning: " + discovery.CleanText(hint.Plain(r.Message)+why)
	if len(facts) > 0 {
		text += " " + discovery.CleanText("("+strings.Join(facts, ", ")+")")
	}
	_, err := fmt.Fprintln(p.w, text)
	return err
}

func (p plainLog) WithAttrs(more []slog.Attr) slog.Handler {
	p.attrs = append(slices.Clip(p.attrs), more...)
	return p
}

func (p plainLog) WithGroup(string) slog.Handler { return p }
