package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"muster/discovery"
	"muster/discovery/master"
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

// hint is an error with what to do about it.
type hint struct {
	err  error
	text string
}

func hinted(err error, text string) error { return &hint{err, text} }
func (h *hint) Error() string             { return h.err.Error() }
func (h *hint) Unwrap() error             { return h.err }
func (h *hint) Hint() string              { return h.text }

// printError writes "muster: …" and, where there is one, "hint: …".
func printError(w io.Writer, err error) {
	for _, line := range errorLines(err) {
		fmt.Fprintln(w, line)
	}
}

// errorLines are what printError writes. Errors may quote strangers, so their
// text is cleaned.
func errorLines(err error) []string {
	if errors.Is(err, context.Canceled) {
		return []string{"muster: stopped"}
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, "muster: "+withoutPackage(discovery.CleanText(line)))
	}
	if text := hintOf(err); text != "" {
		lines = append(lines, "hint: "+discovery.CleanText(text))
	}
	return lines
}

// withoutPackage drops the names of the packages an error comes from: they help
// developers, not players.
func withoutPackage(text string) string {
	for {
		name, rest, found := strings.Cut(text, ": ")
		if !found || !isPackage(name) {
			return text
		}
		text = rest
	}
}

func isPackage(name string) bool {
	switch name {
	case "a2s", "discovery", "fleet", "game", "geo", "host", "lan", "master", "peer", "portmap", "prober", "qstat", "quake3",
		"selection", "sim", "wire":
		return true
	}
	return false
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

// reason is the heart of a network's or a file's error: "connection refused"
// rather than which call was made on which address.
func reason(err error) error {
	var (
		dns *net.DNSError
		op  *net.OpError
		sys *os.SyscallError
		pth *os.PathError
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("%s: %w", dns.Name, master.LookupReason(dns))
	case errors.As(err, &sys):
		return sys.Err
	case errors.As(err, &op):
		return op.Err
	case errors.As(err, &pth):
		return pth.Err
	}
	return err
}
