package discovery

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
)

// MaxServers is how many servers Muster takes from one master, file or report. It is
// several times the largest honest list, and needs little memory.
const MaxServers = 200_000

// MaxNames is how many servers of a list may be listed by name. Lists have addresses, and a name now and
// then. A list with thousands of names only aims at a name server.
const MaxNames = 1000

// Server is one entry of a server list.
type Server struct {
	// Addr is where the server is queried, never an IPv4-mapped IPv6 address. A server that is listed by
	// name has the name's key; see discovery/hostport.
	Addr netip.AddrPort
	// Country is the ISO 3166-1 alpha-2 code of the server's country, or empty.
	Country string
	// ASN is the number of the AS that originates the server's prefix, or 0.
	ASN uint32
}

// CompareAddr orders servers by address, then port. Ties break in this order everywhere
// in Muster.
func CompareAddr(a, b Server) int {
	return cmp.Or(a.Addr.Addr().Compare(b.Addr.Addr()), cmp.Compare(a.Addr.Port(), b.Addr.Port()))
}

// Canonical unwraps an IPv4-mapped IPv6 address, so that an address has only one map
// key and cluster.
func Canonical(addr netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// ParseASN reads the number of an AS, with or without the letters before it.
func ParseASN(text string) (asn uint32, ok bool) {
	if len(text) > len("AS") && strings.EqualFold(text[:len("AS")], "AS") {
		text = text[len("AS"):]
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

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
