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
// Multicast ends at the router. So the programs of a room's players announce it on their own
// networks, too. Such an announcement leads to the host's own address, and says whose program it
// comes from:
//
//	host ── 10.0.1.0/24 ── router ── 10.0.2.0/24 ─┬─ ann's program: "via ann, at 10.0.1.5"
//	                                              └─ zoe's finds it, and joins at 10.0.1.5
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
	"muster/discovery/sentence"
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
	// Fingerprint is the fingerprint of the host's certificate; empty without TLS. It is as good
	// as the network: anybody who can forge an announcement can forge it too.
	Fingerprint string
	// Open reports that joining needs no code.
	Open bool
	// ID is the same in all announcements of the room. If it is empty, an announcement has a
	// random one. It is not set in rooms that were found.
	ID string
	// Via is the player whose program announces the room, at the host's address Host. Both are
	// empty if the host announces the room itself, at the addresses of its network cards.
	Via  string
	Host netip.AddrPort
}

// Found is a room on the local network.
type Found struct {
	// ID distinguishes an entry from all others of a list. It does not reveal the room's code.
	ID string
	Room
	// Addrs are the host's addresses, the best first: those on a network of this
	// machine, IPv4 before IPv6. There is at least one.
	Addrs []netip.AddrPort
	// Relayed says that the host itself is not heard. The announcement is from the programs of the
	// players in Vias, or from anybody if there are none.
	Relayed bool
	Vias    []string
}

// IsUnknown reports whether nothing binds the entry to its host: it comes from somebody else, and
// there is no certificate that the host would have to show.
func (f Found) IsUnknown() bool { return f.Relayed && f.Fingerprint == "" }

// AnnouncedBy says who announces the room, if it is not its host.
func (f Found) AnnouncedBy() sentence.Sentence {
	switch {
	case !f.Relayed:
		return sentence.Sentence{}
	case len(f.Vias) == 0:
		return sentence.Of("found.by-somebody")
	case f.IsUnknown():
		return sentence.Of("found.by-unknown", "players", f.Vias)
	}
	return sentence.Of("found.by", "players", f.Vias)
}

// Server is a game server on the local network.
type Server struct {
	discovery.Server
	Info discovery.Info
	// Networks are the networks of the card that received the answer. A machine in one of them
	// reaches the server by this address.
	Networks []netip.Prefix
}

const (
	// service is DNS-SD's name for rooms.
	service = "_muster._tcp"
	// suffix is what names of rooms end with.
	suffix = "." + service + ".local."
)
