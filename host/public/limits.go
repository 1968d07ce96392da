// Package public says what strangers may do on a public host: the rooms they open, the settings and
// lists they choose, and how long an empty room stays.
package public

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Limits are what a public host allows strangers. Strangers may name games of the host's table and
// addresses of servers, but never a program, a file, or anything that the host would fetch.
//
// A nil pointer stands for a host that is not public. Nobody may open rooms there, and nothing is
// bounded.
type Limits struct {
	// Rooms is how many rooms the host holds, and PerAddress how many of those one address may have
	// opened. In IPv6 an address is one household's /64.
	Rooms, PerAddress int
	// Players is how many players one room takes, and Servers how many servers its own list may
	// have.
	Players, Servers int
	// Places is how many candidate places a room's players may measure. None of them may be in a
	// private network.
	Places int
	// Memory bounds a room's measurements, in bytes. Messages is how many messages a second a
	// player's program may send before the host slows it down. Idle is how long a room without any
	// program lasts, at most [room.KeepEmpty]. 0 leaves each to the host.
	Memory   int
	Messages int
	Idle     time.Duration
	// Standing bounds the rooms that stay after the game night.
	Standing Standing
	// Leagues open rooms by their keys, and are not limited by their addresses.
	Leagues []League
	// Games are the games that rooms may be for.
	Games []Game
	// Search returns those of them that a text may mean, the nearest first; a nil Search finds all.
	Search func(text string) []Game
	// Own reads an organiser's own list of servers for a game, one server a line. from is the
	// organiser's address: people on the internet may only name servers there.
	Own func(game string, lines []string, from netip.Addr) ([]netip.AddrPort, error)
	// Annotate adds country and origin AS to the servers of such a list; a nil Annotate adds
	// nothing.
	Annotate func([]discovery.Server) error
	// Hosts returns the names of the hosts that hold the service's rooms, if they are known; nil
	// stands for this host alone.
	Hosts func() []string
	// Beacon is the UDP port at which the host answers measurements; 0 is none.
	Beacon uint16
	// Version is the program's version, for people who need the same one. Commit and Date say what
	// it was built from. They are empty or zero if unknown.
	Version, Commit string
	Date            time.Time
}

// Game is a game for which strangers may open a room.
type Game = wire.OpenGame

// Service returns what the host says of itself.
func (p *Limits) Service() wire.Service {
	return wire.Service{
		Format: wire.ServiceFormat, Version: p.Version, Commit: p.Commit, Date: p.Date, Games: p.Games,
		MaxPlayers: p.Players, MaxServers: p.Servers, Beacon: p.Beacon,
	}
}

// Standing is what a public host keeps for groups that meet again. A sleeping room costs a few
// kilobytes, and one check of the time a day.
type Standing struct {
	// Rooms is how many standing rooms the host keeps, and PerAddress how many of those one address
	// may have, counted since the host started. 0 allows none.
	Rooms, PerAddress int
	// Keep is how long a standing room stays without a program in it.
	Keep time.Duration
}

// Changed returns new limits for a running host. The limits on what one address may open, and the
// games and the beacon, stay as they were at the start.
func (p *Limits) Changed(to Limits) *Limits {
	to.PerAddress, to.Standing.PerAddress, to.Hosts = p.PerAddress, p.Standing.PerAddress, p.Hosts
	to.Games, to.Search, to.Beacon = p.Games, p.Search, p.Beacon
	return &to
}

const (
	// entryBytes is more than an address of an own list takes in JSON, and openingBytes more than
	// everything else in an opening.
	entryBytes, openingBytes = 64, 8 << 10
)

// LongestOpening bounds the settings of a room, or its own list, in bytes.
func (p *Limits) LongestOpening() int64 { return int64(openingBytes + entryBytes*p.Servers) }
