package geo

import "net/netip"

// notRouted are the IPv4 blocks that the Internet does not route to one place
// (IANA IPv4 Special-Purpose Address Registry), and in which databases have no
// business. Proxies hand out 198.18.0.0/15 as "FakeIP" for names that they
// resolve elsewhere.
var notRouted = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast and reserved
}

// globalUnicast is all that IPv6 routes so far, and documentation a hole in it
// (RFC 4291 §2.4, RFC 3849).
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	documentation = netip.MustParsePrefix("2001:db8::/32")
)

// routed: the Internet may route addr, so that it can have a place.
func routed(addr netip.Addr) bool {
	if addr.Is6() {
		return globalUnicast.Contains(addr) && !documentation.Contains(addr)
	}
	for _, block := range notRouted {
		if block.Contains(addr) {
			return false
		}
	}
	return addr.IsValid()
}
