package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"muster/discovery"
	"muster/host/wire"
)

// usage is an error in how the command was called.
type usage struct{ err error }

func usageError(err error) error      { return &usage{err} }
func usagef(f string, a ...any) error { return &usage{fmt.Errorf(f, a...)} }
func (u *usage) Error() string        { return u.err.Error() }
func (u *usage) Unwrap() error        { return u.err }

// errNothing says that nothing suitable was found.
var errNothing = errors.New("nothing suitable found")

// errReported marks an error that the user has been told already.
var errReported = errors.New("already reported")

// hint is an error with what to do about it.
type hint struct {
	err  error
	text string
}

func hinted(err error, text string) error { return &hint{err, text} }
func (h *hint) Error() string             { return h.err.Error() }
func (h *hint) Unwrap() error             { return h.err }
func (h *hint) Hint() string              { return h.text }

// printError writes "muster: …" and, where there is one, "hint: …". Errors may
// quote strangers, so their text is cleaned.
func printError(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "muster: %s\n", withoutPackage(discovery.CleanText(line)))
	}
	if text := hintOf(err); text != "" {
		fmt.Fprintf(w, "hint: %s\n", discovery.CleanText(text))
	}
}

// withoutPackage drops the name of the package an error comes from: it helps
// developers, not players.
func withoutPackage(text string) string {
	for _, prefix := range []string{"discovery: ", "game: ", "geo: ", "host: ", "master: ", "peer: ", "prober: ", "qstat: ", "selection: ", "sim: ", "wire: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// hintOf finds what to do about an error.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	var refusal wire.Refusal
	if errors.As(err, &refusal) {
		return refusal.Hint
	}
	return ""
}
