package ranges

import (
	"encoding/binary"
	"net/netip"
)

// Key is where an address stands among all addresses: an IPv4 address is its 32
// bits, an IPv6 address the upper 64 of its 128, for nobody routes less than a
// /64. The two do not collide because ::/32 is reserved: an address in there,
// IPv4-mapped ones included, has no key, nor has the zero Addr.
func Key(addr netip.Addr) (key uint64, ok bool) {
	switch {
	case addr.Is4():
		b := addr.As4()
		return uint64(binary.BigEndian.Uint32(b[:])), true
	case addr.Is6():
		b := addr.As16()
		key = binary.BigEndian.Uint64(b[:])
		return key, key>>32 != 0
	}
	return 0, false
}
