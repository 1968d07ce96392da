package discovery

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Reach tells from how far away an address means the same machine.
type Reach int

const (
	// NoReach is for addresses that no single machine has: multicast, broadcast,
	// 0.0.0.0/8.
	NoReach Reach = iota
	// MachineReach is loopback. On another machine it means that other machine.
	MachineReach
	// NetworkReach is private (RFC 1918, RFC 4193), link-local, behind a carrier's NAT
	// (RFC 6598), and the like. Other networks use the same addresses.
	NetworkReach
	// InternetReach is for all other addresses.
	InternetReach
)

// ReachOf returns the reach of an address. An IPv6 address that a translator or a relay
// turns into an IPv4 one has the reach of the latter. Otherwise it could name a private
// network in disguise.
func ReachOf(a netip.Addr) Reach {
	a = embedded(a.WithZone(""))
	switch {
	case !a.IsValid() || a.IsMulticast() || within(noMachines, a):
		return NoReach
	case a.IsLoopback():
		return MachineReach
	case a.IsPrivate() || a.IsLinkLocalUnicast() || within(networks, a) || IsCarrierNAT(a) || IsStandIn(a):
		return NetworkReach
	}
	return InternetReach
}

// These prefixes hold no machine on the internet by IANA's registries of
// special-purpose addresses, and netip has no test for them. Addresses for
// documentation are not among them: nothing is there, and many examples and tests use
// them.
var (
	noMachines = prefixes(
		"0.0.0.0/8",   // this network (RFC 791)
		"240.0.0.0/4", // reserved (RFC 1112), with the broadcast address
		"::/96",       // unspecified, and the deprecated IPv4-compatible (RFC 4291), apart from ::1
		"100::/64",    // discarded (RFC 6666)
	)
	networks = prefixes(
		"192.0.0.0/24",   // between a router and its provider (RFC 6890)
		"64:ff9b:1::/48", // a network's own translators (RFC 8215)
		"fec0::/10",      // site-local, deprecated (RFC 3879)
	)
)

// These prefixes hold addresses with an IPv4 address inside.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96") // NAT64 (RFC 6052)
	relayed    = netip.MustParsePrefix("2002::/16")    // 6to4 (RFC 3056)
)

// embedded returns the IPv4 address inside an IPv6 one, or the address itself.
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

// carriers is the block that providers and overlay networks give their customers
// addresses from.
var carriers = netip.MustParsePrefix("100.64.0.0/10")

// IsCarrierNAT reports whether an address is an IPv4 one behind a carrier's NAT (RFC 6598).
func IsCarrierNAT(a netip.Addr) bool { return carriers.Contains(a.Unmap()) }

// standIns is the block for benchmarks of devices (RFC 2544). Proxies also use it for made-up
// addresses.
var standIns = netip.MustParsePrefix("198.18.0.0/15")

// keys holds addresses that only tell entries of a list apart. No machine has them,
// because they are for documentation (RFC 3849).
var keys = netip.MustParsePrefix("2001:db8:6d75::/48")

// Placeholder returns the address of an entry that has none, such as a region that a game
// measures itself. Sum tells it apart. Placeholders are in different networks.
func Placeholder(sum uint64) netip.AddrPort {
	b := keys.Addr().As16()
	binary.LittleEndian.PutUint64(b[6:], sum) // its low bits, which vary most, tell networks apart
	return netip.AddrPortFrom(netip.AddrFrom16(b), 1)
}

// IsPlaceholder reports whether [Placeholder] makes such an address. Nothing is sent there, and people
// need not read it.
func IsPlaceholder(a netip.Addr) bool { return keys.Contains(a) }

// IsStandIn reports whether an address may be the stand-in of a proxy on this machine
// for a name ("FakeIP"). The proxy forwards packets for it to that name. So a program
// that may connect to the internet by name may connect to such an address.
func IsStandIn(a netip.Addr) bool { return standIns.Contains(a.Unmap()) }
