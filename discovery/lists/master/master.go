// Package master fetches lists of servers: from masters over UDP, services on the web,
// Steam, and files.
//
//	client                                     master
//	getserversExt Xonotic 3 empty full  ──▶
//	                                    ◀──    some hundred datagrams in a burst,
//	                                           the last one marked EOT
//	getservers Xonotic 3 empty full     ──▶    and once more: EOT comes even
//	                                    ◀──    when the network lost a part
//
// discovery/protocol/quake3 reads the datagrams, and discovery/lists/weblist the
// answers of services on the web:
//
//	URLs, one after another ─▶ body, bounded in size and time ─▶ weblist.Form ─▶ rows
//	         │                                                                    │
//	         └─ none answers ─▶ cache on disk, with its age ──────────────────────┤
//	                                        a share of each address, names looked up ─▶ servers
package master

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/lists/weblist"
	"muster/discovery/names"
)

// Bounds of a master's time.
const (
	// silence is the wait after the last datagram of an unfinished list: masters send
	// theirs in one burst. The first datagram may take twice as long, for a slow line's
	// round trip and a master that first collects its list.
	silence = time.Second
	// settle is the wait after the end mark: datagrams overtake each other, and old
	// masters put the mark in every one.
	settle = 250 * time.Millisecond
	// patience bounds the wait for a master that never stops sending.
	patience = 20 * time.Second
)

// Client fetches and resolves lists. The zero value uses the machine's resolver and the
// waits that the internet needs.
type Client struct {
	// Lookup finds the addresses of a host name; nil is the machine's resolver.
	Lookup names.Lookup
	// Silence is how long a master may be silent between two datagrams, and twice as
	// long before the first one; 0 is a second.
	Silence time.Duration
	// Service is the SRV service of a domain's server (_minecraft._tcp). It is looked up for names
	// with the game's own port. Empty means no such service. LookupSRV finds the service; nil means
	// the machine's resolver.
	Service   string
	LookupSRV names.LookupSRV
	// Patience is how long a service on the web may take; 0 is 30 s.
	Patience time.Duration
	// Cache keeps lists of the web.
	Cache Cache
}

// Listing is a list of servers, and the warnings from fetching it.
type Listing struct {
	// Servers holds each server once, in the order of the list.
	Servers []discovery.Server
	// Said is what lists of the web say about servers. It may be old or untrue. But it
	// is all that is known about servers that tell nothing themselves.
	Said discovery.Said
	// Led is where the names among the servers led when the list was read, by their keys: for
	// tables of addresses.
	Led map[netip.AddrPort]netip.Addr
	// Warnings are [*MasterError]s, [*NameError]s and the like: the parts that could
	// not be fetched, while the rest could.
	Warnings []error
}

// MasterError explains why one master gave no list.
type MasterError struct {
	// Master is the name in the query, or a list's service.
	Master string
	Err    error
	udp    bool
}

func (e *MasterError) Error() string { return fmt.Sprintf("master: %s: %v", e.Master, e.Err) }

func (e *MasterError) Unwrap() error { return e.Err }

// UnreachableError reports that no master gave a list.
type UnreachableError struct{ Masters []*MasterError }

func (e *UnreachableError) Error() string {
	var b strings.Builder
	switch {
	case e.allFailed(isOther):
		b.WriteString("master: no list is as it should be: ")
	case e.isWeb():
		b.WriteString("master: no list can be had: ")
	default:
		b.WriteString("master: no master answers: ")
	}
	for i, m := range e.Masters {
		b.WriteString(m.Master)
		switch next := e.Masters[i+1:]; {
		case len(next) == 0:
			fmt.Fprintf(&b, ": %v", m.Err)
		case next[0].Err.Error() == m.Err.Error():
			b.WriteString(", ") // the next one tells why
		default:
			fmt.Fprintf(&b, ": %v; ", m.Err)
		}
	}
	return b.String()
}

// Unwrap returns each master's error.
func (e *UnreachableError) Unwrap() []error {
	errs := make([]error, len(e.Masters))
	for i, m := range e.Masters {
		errs[i] = m
	}
	return errs
}

// Hint returns advice for the user.
func (e *UnreachableError) Hint() string {
	var key *SteamKeyError
	var damaged *DamagedError
	switch {
	case errors.As(e, &damaged):
		return damaged.Hint()
	case errors.As(e, &key):
		return key.Hint()
	case e.allFailed(isOther):
		return "say in games.toml where in the answer the servers are (docs/games.md), or take a saved list with --servers FILE"
	case e.allFailed(isStatus):
		return "does the URL in games.toml still hold? Try again in a while, or take a saved list with --servers FILE"
	case e.isWeb():
		return "is this machine online? Try again in a while, or take a saved list with --servers FILE"
	}
	return "is this machine online? Name another master with --master HOST:PORT, or take a saved list with --servers FILE"
}

// isWeb reports whether none of the sources is a UDP master.
func (e *UnreachableError) isWeb() bool {
	return !slices.ContainsFunc(e.Masters, func(m *MasterError) bool { return m.udp })
}

// allFailed reports whether all sources failed in the given way.
func (e *UnreachableError) allFailed(way func(error) bool) bool {
	return !slices.ContainsFunc(e.Masters, func(m *MasterError) bool { return !way(m.Err) })
}

// isStatus reports whether a service answered with an error of its own.
func isStatus(err error) bool {
	var status *StatusError
	return errors.As(err, &status)
}

// isOther reports whether an invalid answer came.
func isOther(err error) bool {
	var shape *weblist.ShapeError
	return errors.As(err, &shape) || errors.Is(err, discovery.ErrMalformed)
}
