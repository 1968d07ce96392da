package publichost

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"muster/host/operating"
	"muster/internal/release"
)

// NewLog returns the host's log. It is for operators, so it contains no addresses, codes or names of people.
func NewLog(to io.Writer, asJSON, isVerbose bool, node string) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: nameLevels}
	if isVerbose {
		options.Level = slog.LevelDebug
	}
	if asJSON {
		return slog.New(slog.NewJSONHandler(to, options)).With("version", release.Running().Version, "node", node)
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// nameLevels calls the level of lines about operators by name.
func nameLevels(groups []string, a slog.Attr) slog.Attr {
	if level, is := a.Value.Any().(slog.Level); is && len(groups) == 0 && a.Key == slog.LevelKey && level == operating.Audit {
		a.Value = slog.StringValue("AUDIT")
	}
	return a
}

// Lines returns a writer that turns lines for people into log records.
func Lines(log *slog.Logger) io.Writer { return &lineLog{log: log} }

// Begin writes the log's first line: the program and its settings.
func (s *Settings) Begin(log *slog.Logger, asJSON bool) {
	var settings []any
	clean := withoutSecrets(s.Texts)
	for _, name := range slices.Sorted(maps.Keys(clean)) {
		settings = append(settings, slog.String(name, clean[name]))
	}
	facts := []any{slog.Group("settings", settings...)}
	if !asJSON { // in JSON, each record contains them
		facts = append([]any{"version", release.Running().Version, "node", s.Cluster.Node}, facts...)
	}
	log.Info("muster serve starts", facts...)
}

// withoutSecrets returns settings that may be logged. From URLs it removes user and password, and the query, where
// services expect their keys.
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

// lineLog turns lines written for people into log records, one each, so that a program that reads the log finds nothing
// else.
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
