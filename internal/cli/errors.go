package cli

import (
	"log/slog"

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
	return slog.New(hint.NewLog(p.screen.Writer))
}
