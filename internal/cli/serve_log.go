package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"muster/internal/release"
	"muster/internal/term"
)

// recorded is a flag that remembers what it was set to: the settings of a host stand in its
// log, and are compared with those that a reload finds.
type recorded struct {
	pflag.Value
	texts []string
}

func (r *recorded) Set(text string) error {
	err := r.Value.Set(text)
	if err == nil {
		r.texts = append(r.texts, text)
	}
	return err
}

// record has all flags of a command remember what they are set to.
func record(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) { f.Value = &recorded{Value: f.Value} })
}

// textsOf returns what each flag was set to, by its name; flags that nobody set are left out.
func textsOf(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		r, is := f.Value.(*recorded)
		switch {
		case !is || len(r.texts) == 0:
		case isRepeatable(f):
			all[f.Name] = strings.Join(r.texts, ",")
		default:
			all[f.Name] = r.texts[len(r.texts)-1]
		}
	})
	return all
}

// withoutSecrets returns settings as the log may have them: of a URL neither user and
// password, nor what follows the question mark, where services want their keys.
func withoutSecrets(settings map[string]string) map[string]string {
	clean := map[string]string{}
	for name, text := range settings {
		parts := strings.Split(text, ",")
		for i, part := range parts {
			parts[i] = withoutSecret(part)
		}
		clean[name] = strings.Join(parts, ",")
	}
	return clean
}

func withoutSecret(text string) string {
	scheme, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = "…@" + rest[at+1:]
	}
	if isURL {
		if before, query, has := strings.Cut(rest, "?"); has && query != "" {
			rest = before + "?…"
		}
		if u, err := url.Parse(scheme + rest); err == nil && u.Fragment != "" {
			rest, _, _ = strings.Cut(rest, "#")
		}
	}
	return scheme + rest
}

// lineLog takes lines that were written for people into a log, a record each, so that a
// program that reads the log finds nothing else there.
type lineLog struct {
	log *slog.Logger

	mu   sync.Mutex // guards rest
	rest []byte
}

func (l *lineLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, text...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		l.rest = rest
		l.take(string(line))
	}
}

func (l *lineLog) take(line string) {
	text := strings.TrimSpace(line)
	if text == "" {
		return
	}
	if warning, is := strings.CutPrefix(text, "muster: warning: "); is {
		l.log.Warn(warning)
	} else if fault, is := strings.CutPrefix(text, "muster: "); is {
		l.log.Error(fault)
	} else {
		l.log.Info(text)
	}
}

// logAs chooses how the log is written. In JSON everything that goes to standard error is
// part of the log, the command's own lines and its last error included.
func (s *serving) logAs(format string) {
	s.log = format
	if s.plain == nil {
		s.plain = s.screen
	}
	s.screen = s.plain
	if format == "json" {
		s.screen = term.NewScreen(term.Terminal{Writer: &lineLog{log: s.logs()}})
	}
}

// logs are for operators, and so have no addresses, codes and names of people.
func (s *serving) logs() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if s.verbose {
		options.Level = slog.LevelDebug
	}
	if s.log == "json" {
		return slog.New(slog.NewJSONHandler(s.plain.Writer, options)).With("version", release.Running().Version, "node", s.cluster.Node)
	}
	return slog.New(slog.NewTextHandler(s.screen.Writer, options))
}

// begins writes the first line of the log: which program this is, and what it was told.
func (s *serving) begins(log *slog.Logger) {
	var settings []any
	clean := withoutSecrets(s.settings)
	for _, name := range slices.Sorted(maps.Keys(clean)) {
		settings = append(settings, slog.String(name, clean[name]))
	}
	facts := []any{slog.Group("settings", settings...)}
	if s.log != "json" { // there each line has them
		facts = append([]any{"version", release.Running().Version, "node", s.cluster.Node}, facts...)
	}
	log.Info("muster serve starts", facts...)
}

// says tells the operator where the page is and what the host begins with.
func (s *serving) says(log *slog.Logger, page string, rooms int) {
	if s.log == "json" {
		log.Info("serving", "page", page, "rooms", rooms)
		return
	}
	fmt.Fprintf(s.out, "page  %s\n", s.out.Bold(page))
	s.screen.Say("rooms for everybody, of which %d are from before; Ctrl-C ends it, and the rooms go on with the next start", rooms)
}
