package hint

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"muster/discovery"
)

// NewLog returns a log handler that writes warnings and errors for people, and nothing below.
func NewLog(w io.Writer) slog.Handler { return plainLog{w: w} }

// plainLog writes each warning on a line, with its cause and details.
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
			why = ": " + Plain(Reason(err))
		} else {
			facts = append(facts, fmt.Sprintf("%s %v", a.Key, a.Value))
		}
		return true
	}
	for _, a := range p.attrs {
		tell(a)
	}
	r.Attrs(tell)
	text := "muster: warning: " + discovery.CleanText(unprefixed(r.Message)+why)
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
