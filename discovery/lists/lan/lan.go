// Package lan finds rooms and game servers on the local network.
//
// A host announces each open room by multicast DNS, DNS-SD's service _muster._tcp (RFC
// 6762, RFC 6763), on every suitable network card:
//
//	host                                            peer
//	Announce ─┬─ answers on eth0  ◀── PTR? ──┬─ asks on eth0  ─ Browse
//	          └─ answers on wlan0  ── TXT ──▶└─ asks on wlan0
//	          └─ multicasts unasked: a new room, a change, the end
//
// Game servers do not speak mDNS, but they answer a broadcast query:
//
//	Servers ── getinfo to 192.168.1.255:27960 ──▶ all ── infoResponse ──▶
//
// Nothing here is secret, and nothing here is sure: anybody on the network can announce
// anything. A room's code is never announced.
package lan

import (
	"net/netip"

	"muster/discovery"
)

// Room is the public description of a room on the local network.
type Room struct {
	Name      string
	Game      string
	Organiser string
	// Players are in the room, of Seats; 0 seats are any number.
	Players, Seats int
	// Version is the host program's.
	Version string
	// Port is where the host listens.
	Port uint16
	// Fingerprint is that of the host's certificate; empty without TLS. It is as good
	// as the network: anybody who can forge an announcement can forge it too.
	Fingerprint string
	// Open reports that joining needs no code.
	Open bool
}

// Found is a room on the local network.
type Found struct {
	// ID distinguishes a room from others of its name. It does not reveal its code.
	ID string
	Room
	// Addrs are the host's addresses, the best first: those on a network of this
	// machine, IPv4 before IPv6. There is at least one.
	Addrs []netip.AddrPort
}

// Server is a game server on the local network.
type Server struct {
	discovery.Server
	Info discovery.Info
	// Networks are those of the card that received its answer. A machine in one of them
	// reaches the server by this address.
	Networks []netip.Prefix
}

const (
	// service is DNS-SD's name for rooms.
	service = "_muster._tcp"
	// suffix is what names of rooms end with.
	suffix = "." + service + ".local."
)
