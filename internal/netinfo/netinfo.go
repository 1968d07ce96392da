// Package netinfo finds out by which addresses others reach this machine, and what
// its system grants those who measure. No packet leaves the machine.
package netinfo

import (
	"cmp"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// Localhost is this machine for itself.
var Localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Documentation addresses (RFC 5737, RFC 3849) are routed like any other.
const (
	somewhere4 = "192.0.2.1:9"
	somewhere6 = "[2001:db8::1]:9"
)

// Source4 and Source6 are the addresses that this machine uses towards the
// internet; zero if no way leads there. On a machine with bridges and tunnels the
// first address is often not the right one.
func Source4() netip.Addr { return sourceTowards(somewhere4) }
func Source6() netip.Addr { return sourceTowards(somewhere6) }

// Names are this machine's own.
func Names() (names []string) {
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		names = append(names, name, short)
	}
	return names
}

// sourceTowards connects a UDP socket, which sends nothing.
func sourceTowards(address string) netip.Addr {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return netip.Addr{}
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
}

// Reachable is the address at which others reach a listener on this machine: the
// one it was bound to, or else the likeliest of this machine's. It is a loopback
// address if the machine is on no network.
func Reachable(listening netip.AddrPort) netip.AddrPort {
	if !listening.Addr().IsUnspecified() {
		return listening
	}
	var own []netip.Addr
	addrs, _ := net.InterfaceAddrs() // without there are none
	for _, network := range prefixes(addrs) {
		own = append(own, network.Addr())
	}
	return netip.AddrPortFrom(likeliest(Source4(), Source6(), own), listening.Port())
}

// Loopback is the address at which this machine reaches its own listener.
func Loopback(listening netip.AddrPort) netip.AddrPort {
	if listening.Addr().IsUnspecified() {
		return netip.AddrPortFrom(Localhost, listening.Port())
	}
	return listening
}

// likeliest is the address by which others reach a machine with those towards the
// internet, zero if no way leads there, and its own: most others have IPv4.
func likeliest(route4, route6 netip.Addr, own []netip.Addr) netip.Addr {
	first := func(is4 bool) netip.Addr {
		for _, a := range own {
			if a.Is4() == is4 && a.IsGlobalUnicast() {
				return a
			}
		}
		return netip.Addr{}
	}
	return cmp.Or(route4, first(true), route6, first(false), Localhost)
}

// IsAtHome reports whether an address is a neighbour's in the network through
// which this machine reaches the internet: they share a public address. Other
// networks, such as a VPN's, say nothing of where somebody sits.
func IsAtHome(addr netip.Addr) bool {
	out := Source4()
	return out.IsValid() && sharesAddress(addr) && slices.ContainsFunc(cardOf(out), func(network netip.Prefix) bool {
		return network.Contains(addr.WithZone(""))
	})
}

// sharesAddress reports whether an address may be of a network that shares a public
// one: behind a router addresses are private, or IPv6's, which servers count by
// network. Whoever has a public IPv4 address is counted by that.
func sharesAddress(addr netip.Addr) bool {
	return addr.IsPrivate() || addr.Is6() && addr.IsGlobalUnicast()
}

// cardOf are the networks of the interface with an address.
func cardOf(addr netip.Addr) []netip.Prefix {
	cards, _ := net.Interfaces() // without there are none
	for _, card := range cards {
		addrs, _ := card.Addrs() // a card that has gone has none
		networks := prefixes(addrs)
		if slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Addr() == addr }) {
			return networks
		}
	}
	return nil
}

func prefixes(addrs []net.Addr) (list []netip.Prefix) {
	for _, a := range addrs {
		if network, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, network)
		}
	}
	return list
}

// examineTime is ample for a packet on loopback.
const examineTime = time.Second

// TrySocket has a socket send a packet to itself. buffer is how many bytes its
// receive buffer holds of those wanted, 0 if that cannot be known; stamps reports
// whether the kernel notes when a packet came.
func TrySocket(wanted int) (buffer int, stamps bool, failed error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: Localhost.AsSlice()})
	if err != nil {
		return 0, false, err
	}
	defer conn.Close()
	conn.SetReadBuffer(wanted)
	conn.SetDeadline(time.Now().Add(examineTime))
	buffer, stamps = granted(conn)
	if _, err = conn.WriteTo([]byte("muster"), conn.LocalAddr()); err == nil {
		_, _, err = conn.ReadFrom(make([]byte, 16))
	}
	return buffer, stamps, err
}
