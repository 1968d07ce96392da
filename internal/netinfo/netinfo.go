// Package netinfo finds out the addresses where others reach this machine, and what its system allows for measuring.
// No packet leaves the machine.
package netinfo

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// Localhost is this machine's address for itself.
var Localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// These documentation addresses (RFC 5737, RFC 3849) are routed like any other.
const (
	somewhere4 = "192.0.2.1:9"
	somewhere6 = "[2001:db8::1]:9"
)

// Source4 and Source6 return the addresses that this machine uses towards the internet; zero without a route. On a
// machine with bridges and tunnels, the first address is often the wrong one.
func Source4() netip.Addr { return sourceTowards(somewhere4) }
func Source6() netip.Addr { return sourceTowards(somewhere6) }

// SourceTowards returns the address that this machine uses towards another; zero without a route.
func SourceTowards(to netip.AddrPort) netip.Addr { return sourceTowards(to.String()) }

// Names returns this machine's own names.
func Names() (names []string) {
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		names = append(names, name, short)
	}
	return names
}

// IsOwn reports whether an address belongs to one of this machine's interfaces. Firewalls do not stand between a
// machine and itself.
func IsOwn(addr netip.Addr) bool {
	own, _ := net.InterfaceAddrs() // an error leaves none
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		network, is := a.(*net.IPNet)
		return is && network.IP.Equal(addr.Unmap().WithZone("").AsSlice())
	})
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

// Reachable returns the address at which others reach a listener on this machine: the address it is bound to, or else
// the likeliest of the machine's. Without a network it is a loopback address.
func Reachable(listening netip.AddrPort) netip.AddrPort {
	if !listening.Addr().IsUnspecified() {
		return listening
	}
	var own []netip.Addr
	addrs, _ := net.InterfaceAddrs() // an error leaves none
	for _, network := range prefixes(addrs) {
		own = append(own, network.Addr())
	}
	return netip.AddrPortFrom(likeliest(Source4(), Source6(), own), listening.Port())
}

// Loopback returns the address at which this machine reaches its own listener.
func Loopback(listening netip.AddrPort) netip.AddrPort {
	if listening.Addr().IsUnspecified() {
		return netip.AddrPortFrom(Localhost, listening.Port())
	}
	return listening
}

// likeliest returns the address where others reach a machine with these routes towards the internet (zero without
// one) and these own addresses. IPv4 comes first, because most others have it.
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

// IsAtHome reports whether an address belongs to a neighbour in the network that leads this machine to the internet.
// Neighbours share a public address. Other networks, such as a VPN's, say nothing about where people sit.
func IsAtHome(addr netip.Addr) bool {
	out := Source4()
	return out.IsValid() && sharesAddress(addr) && slices.ContainsFunc(cardOf(out), func(network netip.Prefix) bool {
		return network.Contains(addr.WithZone(""))
	})
}

// sharesAddress reports whether an address may belong to a network that shares a public one. Behind a router, addresses
// are private, or IPv6, which servers count by network. A public IPv4 address counts by itself.
func sharesAddress(addr netip.Addr) bool {
	return addr.IsPrivate() || addr.Is6() && addr.IsGlobalUnicast()
}

// cardOf returns the networks of the interface with an address.
func cardOf(addr netip.Addr) []netip.Prefix {
	cards, _ := net.Interfaces() // an error leaves none
	for _, card := range cards {
		addrs, _ := card.Addrs() // a removed card has none
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

// TrySocket makes a socket send a packet to itself. buffer is how many of the wanted bytes its receive buffer holds, 0
// if unknown. stamps reports whether the kernel records when a packet arrived.
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

// IsOwnRequest reports whether a request on this machine comes from a program of this user.
func IsOwnRequest(r *http.Request) bool {
	client, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	server, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return err == nil && is && IsOwnUser(client, server)
}
