package discovery

import (
	"net/netip"
	"slices"
)

// Reach is from how far away an address is one and the same machine's.
type Reach int

const (
	// NoReach: no single machine has it, such as multicast, broadcast, 0.0.0.0/8.
	NoReach Reach = iota
	// MachineReach: loopback, which is another machine's own elsewhere.
	MachineReach
	// NetworkReach: private (RFC 1918, RFC 4193), link-local, or behind a
	// carrier's NAT (RFC 6598), and the like. Other networks have the same addresses.
	NetworkReach
	// InternetReach: all others.
	InternetReach
)

// ReachOf is from how far away an address can be reached. An IPv6 address that a translator
// or a relay turns into an IPv4 one reaches as far as that: else a private network could be
// named in disguise.
func ReachOf(a netip.Addr) Reach {
	a = embedded(a.WithZone(""))
	switch {
	case !a.IsValid() || a.IsMulticast() || within(noMachines, a):
		return NoReach
	case a.IsLoopback():
		return MachineReach
	case a.IsPrivate() || a.IsLinkLocalUnicast() || within(networks, a) || IsCarriers(a) || IsStandIn(a):
		return NetworkReach
	}
	return InternetReach
}

// What IANA's registries of special-purpose addresses say is no machine on the internet,
// and netip has no word for. Addresses for documentation are left out: nothing is there,
// and examples and tests are full of them.
var (
	noMachines = prefixes(
		"0.0.0.0/8",   // this network (RFC 791)
		"240.0.0.0/4", // reserved (RFC 1112), with the broadcast address
		"::/96",       // unspecified, and IPv4-compatible, which is given up (RFC 4291); ::1 is no matter of it
		"100::/64",    // thrown away (RFC 6666)
	)
	networks = prefixes(
		"192.0.0.0/24",   // between a router and its provider (RFC 6890)
		"64:ff9b:1::/48", // translators of a network's own (RFC 8215)
		"fec0::/10",      // site-local, which is given up (RFC 3879)
	)
)

// Prefixes whose addresses hold an IPv4 one, and where.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96") // NAT64 (RFC 6052)
	relayed    = netip.MustParsePrefix("2002::/16")    // 6to4 (RFC 3056)
)

// embedded is the IPv4 address that an IPv6 one stands for, or the address itself.
func embedded(a netip.Addr) netip.Addr {
	a = a.Unmap()
	b := a.As16()
	switch {
	case translated.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:]))
	case relayed.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:]))
	}
	return a
}

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

func within(list []netip.Prefix, a netip.Addr) bool {
	return a != netip.IPv6Loopback() && slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// carriers is what providers and overlay networks number their customers from.
var carriers = netip.MustParsePrefix("100.64.0.0/10")

// IsCarriers reports whether an address is an IPv4 one behind a carrier's NAT (RFC 6598).
func IsCarriers(a netip.Addr) bool { return carriers.Contains(a.Unmap()) }

// standIns are for labs that measure devices (RFC 2544), and for proxies.
var standIns = netip.MustParsePrefix("198.18.0.0/15")

// IsStandIn reports whether a proxy on this machine may have given an address for a name
// ("FakeIP"), and carries to that name what is sent there: who connects to somewhere on the
// internet by its name may connect to that.
func IsStandIn(a netip.Addr) bool { return standIns.Contains(a.Unmap()) }
