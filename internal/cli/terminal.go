package cli

import (
	"io"
	"log/slog"
	"math"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// isTerminal tells whether people look at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// animated tells whether lines of w can be written anew.
func (p *program) animated(w io.Writer) bool {
	return isTerminal(w) && p.env("TERM") != "dumb" && understandsEscapes(w.(*os.File))
}

// size is how many columns and rows the terminal behind w has. Without one, for
// pipes and files, lines may be of any length.
func size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return math.MaxInt32, 25
}

func width(w io.Writer) int {
	columns, _ := size(w)
	return columns
}

// wrapped breaks a sentence between words into lines of at most width columns.
func wrapped(sentence, indent string, width int) string {
	var text strings.Builder
	column := 0
	for i, word := range strings.Fields(sentence) {
		w := runewidth.StringWidth(word)
		switch {
		case i == 0:
			text.WriteString(indent)
			column = len(indent)
		case column+1+w > width:
			text.WriteString("\n" + indent)
			column = len(indent)
		default:
			text.WriteString(" ")
			column++
		}
		text.WriteString(word)
		column += w
	}
	return text.String()
}

// logger writes warnings and, if the user asked for it, what goes on inside.
func (p *program) logger() *slog.Logger { return slog.New(p.logHandler()) }

func (p *program) logHandler() slog.Handler {
	if p.verbose {
		return slog.NewTextHandler(p.streams.Err, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	return plainLog{w: p.streams.Err}
}

// style wraps text in a colour if people look at w and do not mind
// (https://no-color.org).
type style struct{ on bool }

func (p *program) style(w io.Writer) style {
	return style{p.animated(w) && p.env("NO_COLOR") == ""}
}

func (s style) bold(text string) string  { return s.wrap("1", text) }
func (s style) faint(text string) string { return s.wrap("2", text) }

func (s style) wrap(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
