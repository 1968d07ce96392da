// Package hint words errors for players. It says what is wrong, without the names of packages and
// calls, and what to do about it.
package hint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/host/wire"
)

// hinted is an error and what to do about it.
type hinted struct {
	error
	text string
}

// With adds to err what to do about it.
func With(err error, text string) error { return &hinted{err, text} }

func (h *hinted) Unwrap() error { return h.error }
func (h *hinted) Hint() string  { return h.text }

// Of returns what to do about an error; it is empty if nobody knows.
func Of(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	var refusal wire.Refusal
	if errors.As(err, &refusal) {
		if refusal.Link != "" {
			return strings.TrimPrefix(refusal.Hint+": "+refusal.Link, ": ")
		}
		return refusal.Hint
	}
	return ""
}

// packages are the prefixes in the texts of errors. They help developers, not players.
var packages = []string{
	"a2s", "access", "adaptive", "beacon", "bedrock", "calibrated", "cluster", "conn", "discovery", "favourites",
	"fleet", "game", "gamespy", "geo", "handout", "history", "home", "host", "invite", "lan", "lobby", "luanti",
	"master", "minecraft", "mindustry", "mumble", "openttd", "peer", "plans", "portmap",
	"prober", "qstat", "quake3", "quakeworld", "register", "release", "report", "room", "sauerbraten", "selection",
	"sim", "store", "teeworlds", "wire",
}

// Plain returns an error's text without package names.
func Plain(text string) string {
	for {
		name, rest, found := strings.Cut(text, ": ")
		if !found || !slices.Contains(packages, name) {
			return text
		}
		text = rest
	}
}

// Lines returns an error as players read it: "muster: …" and, if there is a hint, "hint: …". The
// text is cleaned, because errors may quote strangers.
func Lines(err error) []string {
	if errors.Is(err, context.Canceled) {
		return []string{"muster: stopped"}
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, "muster: "+Plain(discovery.CleanText(line)))
	}
	begins := "hint: "
	for line := range strings.Lines(Of(err)) {
		lines = append(lines, begins+discovery.CleanText(strings.TrimSuffix(line, "\n")))
		begins = ""
	}
	return lines
}

// mostWarnings is how many warnings people read: a list can have thousands.
const mostWarnings = 5

// Warnings returns the first warnings as players read them, a line each, and how many more there
// are.
func Warnings(warnings ...error) (lines []string) {
	for _, w := range warnings[:min(mostWarnings, len(warnings))] {
		lines = append(lines, "muster: warning: "+Plain(discovery.CleanText(w.Error())))
	}
	if more := len(warnings) - mostWarnings; more > 0 {
		lines = append(lines, fmt.Sprintf("muster: warning: %d more like these", more))
	}
	return lines
}

// Reason returns the cause of a network or file error, such as "connection refused", without the
// call and the address.
func Reason(err error) error {
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
