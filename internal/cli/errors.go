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

// warn prints warnings about what could not be read or fetched. The rest goes on without it.
func (p *program) warn(warnings ...error) {
	for _, line := range hint.Warnings(p.screen.Language, warnings...) {
		p.screen.Say("%s", line)
	}
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
