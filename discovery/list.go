package discovery

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"muster/discovery/hostport"
)

// An annotated list is the master's list of 6-byte records (IPv4 address and port, big
// endian) as NOSSDAV 2008 §3.4 proposes it. A record with port 0 is no server but a
// marker for the servers after it. Muster adds two markers, with values that no origin
// AS has (RFC 6996 keeps them private):
//
//	 address        port
//	┌──┬──┬──┬──┐  ┌──┬──┐
//	│  AS number │  │ 00 00│  origin AS from here on, 0: unknown   (paper)
//	│FF│ D│ E│00│  │ 00 00│  country from here on, blanks: unknown
//	│FF│00│00│06│  │ 00 00│  the next three records are one IPv6 server:
//	│  │  │  │  │  │      │  16 bytes of address, 2 of port
//	│FF│ n│00│07│  │ 00 00│  the next n records are one server that is listed by name:
//	└──┴──┴──┴──┘  └──┴──┘  2 bytes of port, then the name, then zeros up to the record's end
const (
	listRecord = 6
	// nameKind is the fourth byte of a name's marker.
	nameKind = 7
)

var ipv6Marker = [listRecord]byte{0xff, 0, 0, 6, 0, 0}

// AppendList appends the annotated list of servers to b, in their order. Adjacent
// servers with the same country and AS share their markers.
func AppendList(b []byte, servers []Server) []byte {
	var current Server
	for _, s := range servers {
		if looksLikeMarker(s.ASN) {
			s.ASN = 0
		}
		if s.Country != current.Country {
			country := s.Country
			if len(country) != 2 {
				country = "  "
			}
			b = append(b, 0xff, country[0], country[1], 0, 0, 0)
		}
		if s.ASN != current.ASN {
			b = append(binary.BigEndian.AppendUint32(b, s.ASN), 0, 0)
		}
		current = s
		if hostport.IsName(s.Addr.Addr()) {
			b = appendName(b, s.Addr)
			continue
		}
		if s.Addr.Addr().Is6() {
			b = append(b, ipv6Marker[:]...)
		}
		b = append(b, s.Addr.Addr().AsSlice()...)
		b = binary.BigEndian.AppendUint16(b, s.Addr.Port())
	}
	return b
}

// appendName appends a server that is listed by name.
func appendName(b []byte, at netip.AddrPort) []byte {
	name := hostport.Host(at.Addr())
	records := (2 + len(name) + listRecord - 1) / listRecord // at most 43
	b = append(b, 0xff, byte(records), 0, nameKind, 0, 0)
	b = append(binary.BigEndian.AppendUint16(b, at.Port()), name...)
	return append(b, make([]byte, records*listRecord-2-len(name))...)
}

// parseName reads the records behind a name's marker.
func parseName(b []byte) (at netip.AddrPort, err error) {
	name := strings.TrimRight(string(b[2:]), "\x00")
	at = hostport.Of(name, binary.BigEndian.Uint16(b))
	if !at.IsValid() || hostport.Host(at.Addr()) != name {
		return at, fmt.Errorf("%w: %q is no name of a server", ErrMalformed, CleanText(name))
	}
	return at, nil
}

// looksLikeMarker reports whether a reader would take an AS number for one of our
// markers. No network has such a number, but a user's own file may.
func looksLikeMarker(asn uint32) bool {
	marker := binary.BigEndian.AppendUint32(nil, asn)
	return marker[0] == 0xff && (marker[3] == 0 || marker[2] == 0 && marker[3] == nameKind) || [4]byte(marker) == [4]byte(ipv6Marker[:4])
}

// ParseList reads an annotated list. If the list was cut off, has more than [MaxNames] names, or a server
// that is none, the error wraps [ErrMalformed].
func ParseList(b []byte) ([]Server, error) {
	servers := make([]Server, 0, len(b)/listRecord)
	names := 0
	var current Server
	for offset := 0; len(b) > 0; {
		size, err := parseRecord(b, &current)
		if err != nil {
			return nil, fmt.Errorf("discovery: server list, byte %d: %w", offset, err)
		}
		if hostport.IsName(current.Addr.Addr()) {
			if names++; names > MaxNames {
				return nil, fmt.Errorf("discovery: server list: %w: over %d names", ErrMalformed, MaxNames)
			}
		}
		if current.Addr.IsValid() {
			servers = append(servers, current)
			current.Addr = netip.AddrPort{}
		}
		b, offset = b[size:], offset+size
	}
	return servers, nil
}

// parseRecord reads the marker or server at the start of b into current. Only a server
// sets its address.
func parseRecord(b []byte, current *Server) (size int, err error) {
	if len(b) < listRecord {
		return 0, fmt.Errorf("%w: cut off inside a record", ErrMalformed)
	}
	port := binary.BigEndian.Uint16(b[4:])
	switch {
	case port != 0:
		current.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), port)
	case [listRecord]byte(b) == ipv6Marker:
		if len(b) < 4*listRecord {
			return 0, fmt.Errorf("%w: cut off inside an IPv6 server", ErrMalformed)
		}
		addr := netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[listRecord:])), binary.BigEndian.Uint16(b[listRecord+16:]))
		if addr.Port() == 0 || addr.Addr().Is4In6() {
			return 0, fmt.Errorf("%w: %v is no server", ErrMalformed, addr)
		}
		current.Addr = addr
		return 4 * listRecord, nil
	case b[0] == 0xff && b[2] == 0 && b[3] == nameKind:
		size = listRecord * (1 + int(b[1]))
		if size == listRecord || len(b) < size {
			return 0, fmt.Errorf("%w: cut off inside a name", ErrMalformed)
		}
		current.Addr, err = parseName(b[listRecord:size])
		return size, err
	case b[0] == 0xff && b[3] == 0:
		current.Country = ""
		if country := string(b[1:3]); strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			current.Country = country
		}
	default:
		current.ASN = binary.BigEndian.Uint32(b)
	}
	return listRecord, nil
}
