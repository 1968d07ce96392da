// Package origin tells where the people in a room come from, as far as their connections show it,
// and which players measure as one.
//
//	connection ─▶ Of ─▶ Origin ─▶ Beside, Reach, Place
//	                      │
//	                     Book ──▶ Groups: players behind one address, a NAT group
//
// An origin is shown to nobody.
package origin

import (
	"net/netip"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection/estimate"
)

// Origin is what a player's connection tells of the address that game servers see: the players
// behind one address are a NAT group, and measure as one. The zero value tells nothing, and its
// player is a group alone.
type Origin struct {
	Addr netip.Addr `json:"addr,omitzero"`
	// Home: in the host's own network, and so behind the host's public address.
	Home bool `json:"home,omitempty"`
	// Country and ASN say where Addr is, as far as the host's tables tell; empty and 0 if they do
	// not, as of every private address.
	Country string `json:"country,omitempty"`
	ASN     uint32 `json:"asn,omitempty"`
	// Near is the connection's own address, for the servers on networks that the host shares with
	// the player; invalid if it may be anybody's.
	Near netip.Addr `json:"near,omitzero"`
	// Here is by which address of the host's machine those on its networks reach the host's own
	// player; invalid for all others.
	Here netip.Addr `json:"here,omitzero"`
}

// Of judges an address that a player comes from; isHome reports whether it is in the host's own
// network. A public address is what servers see. A private one says so little that a wrong guess
// is likely (a VPN, a tunnel, a container), and a wrong guess gives players the RTTs of others: it
// counts only at home, in the network through which the host itself gets out. Loopback may be
// anybody who comes through a tunnel, but for the host's own player, whose program says so.
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

// LocatedBy returns the origin with its place in a table of addresses, which may be nil. An
// address at home stands for the host's public one, for which the table is not asked.
func (o Origin) LocatedBy(table func(netip.Addr) (country string, asn uint32)) Origin {
	if table != nil && !o.Home && o.Addr.IsValid() {
		o.Country, o.ASN = table(o.Addr)
	}
	return o
}

// Beside returns where people on the host's networks reach the player's machine; invalid if the
// player comes from elsewhere. It is what the connection itself shows, so nobody can name
// another's.
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

// Reach returns what a server must have for others to be sent to it by somebody there: people on
// the internet name none of a local network.
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

// Place returns where an origin is, for estimates. Those at home have the host's public address
// in common, and its place is not known.
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
