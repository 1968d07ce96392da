package cli

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether people look at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is the width of the terminal behind w, or what is safe without one.
func width(w io.Writer) int {
	const safe = 100
	f, ok := w.(*os.File)
	if !ok {
		return safe
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 40 {
		return safe
	}
	return columns
}

// logger writes what goes on inside, if the user asked for it.
func (p *program) logger() *slog.Logger {
	level := slog.LevelWarn
	if p.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(p.streams.Err, &slog.HandlerOptions{Level: level}))
}

// style wraps text in a colour if people look at w and do not mind.
type style struct{ on bool }

func (p *program) style(w io.Writer) style {
	return style{isTerminal(w) && p.env("NO_COLOR") == "" && p.env("TERM") != "dumb"}
}

func (s style) bold(text string) string  { return s.wrap("1", text) }
func (s style) faint(text string) string { return s.wrap("2", text) }

func (s style) wrap(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
