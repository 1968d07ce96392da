package discovery

import "net/netip"

// Bits is the length of a prefix in both address families. A registry that hands out an
// IPv4 /8 hands out an IPv6 /20. Likewise a provider gets a /32 for a /16, a site a /48
// for a /24, and a machine a /64.
type Bits struct{ V4, V6 int }

// Of returns the address's prefix of this length.
func (b Bits) Of(addr netip.Addr) netip.Prefix {
	n := b.V6
	if addr.Is4() {
		n = b.V4
	}
	p, err := addr.Prefix(n)
	if err != nil { // the zero address, or an impossible length
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	return p
}

// valid reports whether such prefixes exist.
func (b Bits) valid() bool { return 0 < b.V4 && b.V4 <= 32 && 0 < b.V6 && b.V6 <= 128 }
