// Package origin knows where the people in a room are, by their connections, and which players
// measure as one.
//
//	connection ─▶ Of ─▶ Origin ─▶ Beside, Reach, Place
//	                      │
//	                     Book ──▶ Groups: players behind one address, a NAT group
//
// Nobody ever sees an origin.
package origin

import (
	"net/netip"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection/estimate"
)

// Origin tells where a player's connection comes from: the address that game servers see, and its
// place. The players behind one address are a NAT group, and measure as one. The zero value tells
// nothing, and its player is a group of one.
type Origin struct {
	Addr netip.Addr `json:"addr,omitzero"`
	// Home says that the player is in the host's own network, behind the host's public address.
	Home bool `json:"home,omitempty"`
	// Country and ASN say where Addr is, by the host's tables. They are empty and 0 if the tables
	// lack it, as for every private address.
	Country string `json:"country,omitempty"`
	ASN     uint32 `json:"asn,omitempty"`
	// Near is the connection's own address, for servers on networks that the host shares with the
	// player. It is invalid if anybody could have it, as through a tunnel.
	Near netip.Addr `json:"near,omitzero"`
	// Here is the address at which people on the host's networks reach the host's own player. It is
	// invalid for all others.
	Here netip.Addr `json:"here,omitzero"`
}

// Of returns the origin of a connection from an address. IsHome says that the address is in the
// host's own network. Servers see a public address as it is. A private address may be that of a
// VPN, a tunnel or a container, and a wrong guess gives players the RTTs of others. So it counts
// only at home, in the network through which the host itself gets out. Loopback may be anybody who
// comes through a tunnel, unless the program says that it is the host's own player's.
func Of(from netip.Addr, probes wire.Probes, isHome bool) Origin {
	switch {
	case !from.IsValid():
		return Origin{}
	case from.IsLoopback():
		if probes != wire.ProbesAtHost {
			return Origin{}
		}
		isHome = true
	case !isHome && discovery.ReachOf(from) != discovery.InternetReach:
		return Origin{Near: from}
	}
	if probes == wire.ProbesElsewhere {
		return Origin{Near: from}
	}
	return Origin{Addr: from, Home: isHome, Near: from}
}

// LocatedBy returns the origin with its place in a table of addresses, which may be nil. It looks
// up no address at home, because that stands for the host's public address.
func (o Origin) LocatedBy(table func(netip.Addr) (country string, asn uint32)) Origin {
	if table != nil && !o.Home && o.Addr.IsValid() {
		o.Country, o.ASN = table(o.Addr)
	}
	return o
}

// Beside returns the address at which people on the host's networks reach the player's machine. It
// is invalid if the player comes from elsewhere. It is the address of the connection, so nobody can
// claim another player's.
func (o Origin) Beside() netip.Addr {
	at := o.Near
	if at.IsLoopback() {
		at = o.Here
	}
	if at = at.Unmap(); discovery.ReachOf(at) != discovery.NetworkReach || at.IsLinkLocalUnicast() {
		return netip.Addr{}
	}
	return at
}

// Reach returns the least reach of a server that somebody from there may bring. People on the
// internet may bring no server of a local network.
func (o Origin) Reach() discovery.Reach {
	if !o.Addr.IsValid() && !o.Home && !o.Near.IsValid() {
		return discovery.InternetReach
	}
	at := o.Addr
	if o.Near.IsValid() {
		at = o.Near
	}
	return max(discovery.ReachOf(at), discovery.MachineReach)
}

// behindHost stands for the host's public address, which nobody here knows.
var behindHost = netip.IPv4Unspecified()

// Place returns where an origin is, for estimates. Players at home share the host's public address,
// whose place is unknown.
func (o Origin) Place() estimate.Place {
	p := estimate.Place{Country: o.Country, ASN: o.ASN}
	switch {
	case o.Home:
		p.Addr = behindHost
	case discovery.ReachOf(o.Addr) == discovery.InternetReach:
		p.Addr = o.Addr
	}
	return p
}
