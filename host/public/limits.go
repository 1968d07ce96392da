// Package public says what strangers may do on a host that holds rooms for everybody: which
// rooms they open, with what settings and lists, and how long an empty room stays.
package public

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// Limits are what a host that holds rooms for everybody allows strangers. What they say names
// games of the host's table and addresses of servers: never a program, a file, or anything
// that the host would fetch.
//
// A nil pointer is a host that is not public: it lets nobody open rooms, and bounds nothing.
type Limits struct {
	// Rooms is how many the host holds, and PerAddress how many of those one address
	// may have opened: in IPv6, one household's /64.
	Rooms, PerAddress int
	// Players is how many one room takes, and Servers how many its own list may have.
	Players, Servers int
	// Places is how many candidate places the players of a room may measure, none of them in
	// a private network.
	Places int
	// Memory bounds a room's measurements, in bytes. Messages is how many messages a second a
	// player's program may say before it is heard more slowly. Idle is the time without any
	// program after which a room ends, at most [room.KeepEmpty]. 0 leaves each to the host.
	Memory   int
	Messages int
	Idle     time.Duration
	// Standing bounds the rooms that stay when the night ends.
	Standing Standing
	// Games are those that rooms may be for.
	Games []Game
	// Own reads an organiser's own list of servers for a game, a server a line.
	// From is who wants it: people on the internet get only servers there.
	Own func(game string, lines []string, from netip.Addr) ([]netip.AddrPort, error)
	// Annotate adds country and origin AS to the servers of such a list; nil adds
	// nothing.
	Annotate func([]discovery.Server) error
	// Hosts are the names of the hosts that hold the service's rooms, as far as they are
	// known; nil is this one alone.
	Hosts func() []string
	// Version is the program's, for those who look for the right one, Commit and Date what
	// it was made from; empty, or zero, if that is not known.
	Version, Commit string
	Date            time.Time
}

// Game is a game for which strangers may open a room.
type Game struct {
	wire.Game
	// By is its rule, unless the organiser says another. Listed: somebody lists its
	// servers; an organiser must bring a list for those of others.
	By     selection.Rule `json:"by"`
	Listed bool           `json:"listed"`
	// Steam: those who have a key to Steam's Web API, or favourites there, get a list.
	Steam bool `json:"steam,omitempty"`
}

// Standing is what a public host keeps for groups that come again. A room that sleeps
// costs its few kilobytes, and a look at the time a day.
type Standing struct {
	// Rooms is how many standing rooms the host keeps, and PerAddress how many of those one
	// address may have, as counted since the host started; 0 is none at all.
	Rooms, PerAddress int
	// Keep is how long one is kept without anybody's program in it.
	Keep time.Duration
}

// Changed returns other limits for a host that runs. What one address may open, and the
// games, stay as they were when the host began.
func (p *Limits) Changed(to Limits) *Limits {
	to.PerAddress, to.Standing.PerAddress, to.Games, to.Hosts = p.PerAddress, p.Standing.PerAddress, p.Games, p.Hosts
	return &to
}

const (
	// entryBytes is more than an address of an own list takes in JSON, and openingBytes more
	// than everything else of an opening.
	entryBytes, openingBytes = 64, 8 << 10
)

// LongestOpening returns how long the settings of a room, or its own list, may be in bytes.
func (p *Limits) LongestOpening() int64 { return int64(openingBytes + entryBytes*p.Servers) }
