// Package sim is a synthetic internet. A World knows places, servers and the distances between
// them. Replay runs a discovery plan on it in virtual time. Package fleet, below, answers for its
// servers on real loopback sockets.
package sim

import (
	"time"

	"muster/discovery"
)

// Place is the location of a player.
type Place struct {
	Name     string
	Country  string  // ISO 3166-1 alpha-2
	Lat, Lon float64 // degrees
	// Access is what the player's own line adds to every round trip.
	Access time.Duration
}

// Server is one game server of a world.
type Server struct {
	// Server holds the facts that a list and the databases tell of it.
	discovery.Server
	Info     discovery.Info
	Lat, Lon float64 // degrees
	// Access is what the server's own line adds to every round trip.
	Access time.Duration
	// Silent servers are listed but never answer.
	Silent bool
	// Refusing servers are closed ports: the machine answers with ICMP.
	Refusing bool
	// Limited servers answer one source address 10 times at once and then once
	// a second, as ioquake3 does.
	Limited bool
	// Loss is the share of probes or replies that get lost on the way.
	Loss float64
}

// World is a synthetic internet: the places of players, and the servers.
type World struct {
	Seed    uint64
	Places  []Place
	Servers []Server
	// floor holds the shortest round trip of each place and server,
	// place by place.
	floor []time.Duration
	// jitter is the median of the jitter that Sample adds.
	jitter time.Duration
}

// RTT returns the shortest round trip between a place and a server, without jitter.
func (w *World) RTT(place, server int) time.Duration {
	return w.floor[place*len(w.Servers)+server]
}

// List returns the servers as a master lists them.
func (w *World) List() []discovery.Server {
	list := make([]discovery.Server, len(w.Servers))
	for i, s := range w.Servers {
		list[i] = s.Server
	}
	return list
}

// NewWorld returns a world with these distances. Its packet pairs have no jitter except for the
// rare spike.
func NewWorld(seed uint64, places []Place, servers []Server, rtt func(place, server int) time.Duration) *World {
	w := &World{Seed: seed, Places: places, Servers: servers}
	for place := range places {
		for server := range servers {
			w.floor = append(w.floor, rtt(place, server))
		}
	}
	return w
}
