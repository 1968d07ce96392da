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

	"muster/discovery/lists/master"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// hinted is an error and what to do about it.
type hinted struct {
	error
	text string
}

// With adds to err what to do about it.
func With(err error, text string) error { return &hinted{err, text} }

// NoFolder says that the folder for something cannot be made, and what to do about it.
func NoFolder(what string, err error) error {
	return With(fmt.Errorf("no folder for %s: %w", what, err),
		"is the disk read-only, or another user's? XDG_STATE_HOME in the environment names another place")
}

func (h *hinted) Unwrap() error { return h.error }
func (h *hinted) Hint() string  { return h.text }

// Of returns what to do about an error; it is empty if nobody knows.
func Of(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	if refusal, is := errors.AsType[wire.Refusal](err); is {
		if refusal.Link != "" {
			return strings.TrimPrefix(refusal.Hint+": "+refusal.Link, ": ")
		}
		return refusal.Hint
	}
	return ""
}

// packages are the prefixes in the texts of errors. They help developers, not players.
var packages = []string{
	"a2s", "access", "adaptive", "ase", "beacon", "bedrock", "calibrated", "cluster", "conn", "discovery", "doom3", "favourites",
	"fleet", "frostbite", "game", "gamespy", "geo", "handout", "history", "home", "host", "invite", "jamulus", "lan", "law", "lobby", "luanti",
	"master", "minecraft", "mindustry", "mumble", "odamex", "openttd", "peer", "plans", "portmap",
	"prober", "qstat", "quake3", "quakeworld", "register", "release", "report", "room", "samp", "satisfactory", "sauerbraten", "selection",
	"sim", "sqp", "store", "teeworlds", "unreal2", "wire", "zandronum",
}

// Plain returns an error's text without package names, and with players' words in place of what Go's own
// packages say.
func Plain(err error) string { return unprefixed(textOf(err)) }

// unprefixed returns a text without package names.
func unprefixed(text string) string {
	for {
		name, rest, found := strings.Cut(text, ": ")
		if !found || !slices.Contains(packages, name) {
			return text
		}
		text = rest
	}
}

// Lines returns an error as players read it in a language: "muster: …" and, if there is a hint,
// "hint: …". Text outside the catalogue is cleaned, because errors may quote strangers.
func Lines(l *catalogue.Language, err error) []string {
	if errors.Is(err, context.Canceled) {
		return []string{"muster: " + l.Words("term.stopped")}
	}
	var lines []string
	for line := range strings.Lines(Text(l, err)) {
		lines = append(lines, "muster: "+strings.TrimSuffix(line, "\n"))
	}
	begins := l.Words("term.hint") + " "
	for line := range strings.Lines(strings.Join(l.SayAll(advice(err)), "\n")) {
		lines = append(lines, begins+strings.TrimSuffix(line, "\n"))
		begins = ""
	}
	return lines
}

// maxWarnings is how many warnings people read: a list can have thousands.
const maxWarnings = 5

// Warnings returns the first warnings as players read them in a language, a line each, and how many
// more there are.
func Warnings(l *catalogue.Language, warnings ...error) (lines []string) {
	begins := "muster: " + l.Words("term.warning") + " "
	for _, w := range warnings[:min(maxWarnings, len(warnings))] {
		lines = append(lines, begins+strings.ReplaceAll(Text(l, w), "\n", " "))
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		lines = append(lines, begins+l.Words("term.more-warnings", "n", more))
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

// usage is an error in how a command was called.
type usage struct{ error }

func (u *usage) Unwrap() error { return u.error }

// Usage marks an error as one in how the command was called.
func Usage(err error) error { return &usage{err} }

// Usagef returns an error that says how the command was called wrongly.
func Usagef(format string, a ...any) error { return Usage(fmt.Errorf(format, a...)) }

// IsUsage reports whether the command was called wrongly.
func IsUsage(err error) bool {
	var wrong *usage
	return errors.As(err, &wrong)
}
