// Package ranges is the compact form in which Muster carries its address tables: one
// number for every address, an AS or a country.
//
// The addresses are cut into ranges. A range is stored as its start, because it ends
// where the next one begins. A file is one gzip member. Its header names the table, its
// source and the time of the source. Its body is in columns because they compress
// better than rows:
//
//	version   uvarint           1
//	values    uvarint m         the distinct numbers, rising,
//	          m × uvarint       each as the distance from the one before
//	ranges    uvarint n
//	shifts    n × byte          distance of a start from the one before,
//	mantissas n × uvarint       as (2·mantissa + 1) << shift
//	indices   k × n × byte      which of the values, low bytes first; k is as
//	                            many bytes as m-1 needs
//
// A table of 600,000 ranges takes some 2 MB, and 0.6 to 1 MB compressed.
package ranges

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Step is where the number changes: Number holds from Start to the next step. 0 is
// unknown.
type Step struct {
	Start  uint64 // see [Key]
	Number uint32
}

// Table has a value for every address. It is safe for concurrent use, and a nil Table
// knows nothing.
type Table[V any] struct {
	starts []uint64
	index  []uint32 // into values, one for each start
	values []V
}

// Lookup returns the value of addr's range, or the zero value.
func (t *Table[V]) Lookup(addr netip.Addr) (v V) {
	key, ok := Key(addr)
	if t == nil || !ok {
		return v
	}
	i, found := slices.BinarySearch(t.starts, key)
	if !found {
		i--
	}
	if i < 0 {
		return v
	}
	return t.values[t.index[i]]
}

// Key returns an address's position among all addresses. An IPv4 address is its 32
// bits, an IPv6 address the upper 64 of its 128, because nobody routes less than a /64.
// The two do not collide because ::/32 is reserved: an address in there, IPv4-mapped
// ones included, has no key, nor has the zero Addr.
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

// CountryNumber returns the number of a two-letter code in a table; 0 is none.
func CountryNumber(code string) uint32 {
	if len(code) != 2 {
		return 0
	}
	return uint32(code[0])<<8 | uint32(code[1])
}

// CountryCode returns the code of a number, or "".
func CountryCode(number uint32) string {
	if number == 0 {
		return ""
	}
	return string([]byte{byte(number >> 8), byte(number)})
}
