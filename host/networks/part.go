package networks

import (
	"cmp"
	"encoding/binary"
	"net/netip"

	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

// origin is where players come from: a country, and an AS or 0.
type origin struct {
	asn     uint32
	country uint16
}

func (o origin) compare(to origin) int {
	return cmp.Or(cmp.Compare(o.country, to.country), cmp.Compare(o.asn, to.asn))
}

// part is a [memory.Part] in few bytes.
type part struct {
	asn uint32
	// prefix has the first bytes of a prefix: two of a /16, four of an IPv6 /32.
	prefix  uint32
	country uint16
	kind    kind
}

// kind is the level of a part. A larger kind is a smaller part.
type kind uint8

const (
	ofCountry kind = iota + 1
	ofAS
	ofPrefix4
	ofPrefix6
)

// level returns the level of a kind in a list's topology.
func (k kind) level() topology.Level {
	switch k {
	case ofCountry:
		return topology.Country
	case ofAS:
		return topology.AS
	}
	return topology.Prefix16
}

// compare orders parts as a list's tree does: a part before those in it.
func (p part) compare(to part) int {
	switch {
	case p.country != to.country:
		return int(p.country) - int(to.country)
	case p.asn != to.asn:
		return cmp.Compare(p.asn, to.asn)
	case p.kind != to.kind:
		return int(p.kind) - int(to.kind)
	}
	return cmp.Compare(p.prefix, to.prefix)
}

// isSound reports whether a part's fields fit each other.
func (p part) isSound() bool {
	switch p.kind {
	case ofCountry:
		return p.asn == 0 && p.prefix == 0
	case ofAS:
		return p.asn != 0 && p.prefix == 0
	case ofPrefix4:
		return p.prefix&0xffff == 0
	}
	return p.kind == ofPrefix6
}

// packed returns a part in few bytes, and false if it is smaller than a /16 or has no country.
func packed(p memory.Part) (part, bool) {
	country, known := packedCountry(p.Country)
	small := part{asn: p.ASN, country: country}
	switch addr := p.Prefix.Addr(); p.Level() {
	case topology.Country:
		small.kind = ofCountry
	case topology.AS:
		small.kind = ofAS
	case topology.Prefix16:
		if small.kind = ofPrefix6; addr.Is4() {
			small.kind = ofPrefix4
		}
		small.prefix = binary.BigEndian.Uint32(addr.AsSlice())
	default:
		return part{}, false
	}
	return small, known
}

// packedCountry returns a country's code as a number, and false if the text is no code.
func packedCountry(code string) (uint16, bool) {
	if len(code) != 2 || code[0]-'A' > 'Z'-'A' || code[1]-'A' > 'Z'-'A' {
		return 0, false
	}
	return uint16(code[0])<<8 | uint16(code[1]), true
}

// partAbove returns the part that a /16 or an AS is in. A /16 of an unknown AS is in its country.
func partAbove(p memory.Part) memory.Part {
	if p.Prefix.IsValid() {
		return memory.Part{Country: p.Country, ASN: p.ASN}
	}
	return memory.Part{Country: p.Country}
}

// networkOf returns the network of a player's address: a /24, or of IPv6 a /48.
func networkOf(addr netip.Addr) netip.Prefix { return topology.Prefix24.Prefix(addr.Unmap()) }
