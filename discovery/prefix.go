package discovery

import "net/netip"

// Bits is the length of a prefix in both address families. A registry hands out
// an IPv6 /20 where it handed out an IPv4 /8, a provider gets a /32 where it
// got a /16, a site a /48 where it got a /24, and a machine has a /64.
type Bits struct{ V4, V6 int }

// Of is the address's prefix of this length.
func (b Bits) Of(addr netip.Addr) netip.Prefix {
	n := b.V6
	if addr.Is4() {
		n = b.V4
	}
	p, err := addr.Prefix(n)
	if err != nil { // the zero address, or a length that there is not
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	return p
}

// valid reports whether such prefixes exist.
func (b Bits) valid() bool { return 0 < b.V4 && b.V4 <= 32 && 0 < b.V6 && b.V6 <= 128 }
