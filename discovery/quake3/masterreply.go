package quake3

import (
	"bytes"
	"encoding/binary"
	"iter"
	"net/netip"

	"muster/discovery"
)

// A master's reply is one or more datagrams, in any order:
//
//	FF FF FF FF "getserversResponse"    *( "\" IPv4[4] port[2] ) [ "\EOT" 00 00 00 ]
//	FF FF FF FF "getserversExtResponse" *( "\" IPv4[4] port[2] | "/" IPv6[16] port[2] ) [ … ]
//
// Ports are big-endian. Any byte of an address may be a backslash, so only the
// fixed lengths tell where an entry ends.
const (
	plainReply    = "getserversResponse"
	extendedReply = "getserversExtResponse"
	endMark       = "\\EOT\x00\x00\x00"
	entry4        = 1 + 4 + 2
	entry6        = 1 + 16 + 2
	// maxMasterReply is the longest datagram of dpmaster.
	maxMasterReply = 1400
)

// ParseMasterReply appends the servers of one datagram to addrs. The end is the
// master's mark for its last datagram; old masters put it in every one, so that
// silence is the surer sign. Addresses are unmapped, and those without a host or
// a port are dropped. Along with an error come the servers read before it.
func ParseMasterReply(b []byte, addrs []netip.AddrPort) (_ []netip.AddrPort, end bool, err error) {
	b, extended, ok := cutReplyHeader(b)
	if !ok {
		return addrs, false, malformed("no list of servers")
	}
	for len(b) > 0 {
		if isEnd(b) {
			return addrs, true, nil
		}
		n := entryLen(b[0], extended)
		switch {
		case n == 0 && isPadding(b):
			return addrs, false, nil
		case n == 0:
			return addrs, false, malformed("byte %#02x where a server should start", b[0])
		case n > len(b):
			return addrs, false, malformed("a server cut after %d bytes", len(b))
		}
		if a := parseEntry(b[1:n]); a.Port() != 0 && !a.Addr().IsUnspecified() {
			addrs = append(addrs, a)
		}
		b = b[n:]
	}
	return addrs, false, nil
}

// cutReplyHeader is what follows the word, from the first entry on.
func cutReplyHeader(b []byte) (rest []byte, extended, ok bool) {
	if rest, ok = cutHeader(b, extendedReply); ok {
		return trimPadding(rest), true, true
	}
	rest, ok = cutHeader(b, plainReply)
	return trimPadding(rest), false, ok
}

// padding is what some masters put before the first entry or after the last.
const padding = "\x00\n\r "

func trimPadding(b []byte) []byte { return bytes.TrimLeft(b, padding) }
func isPadding(b []byte) bool     { return len(trimPadding(b)) == 0 }

// isEnd distinguishes the end mark, EOT or EOF, from the address 69.79.84.x, whose bytes
// spell it: only the mark has port 0 after it, or is cut short.
func isEnd(b []byte) bool {
	if !bytes.HasPrefix(b, []byte(`\EOT`)) && !bytes.HasPrefix(b, []byte(`\EOF`)) {
		return false
	}
	rest := b[len(`\EOT`):]
	return len(rest) < 3 || bytes.HasPrefix(rest, []byte{0, 0, 0})
}

// entryLen is the length of the entry that starts with c, or 0 if none does.
func entryLen(c byte, extended bool) int {
	switch {
	case c == '\\':
		return entry4
	case c == '/' && extended:
		return entry6
	}
	return 0
}

// parseEntry reads 4 or 16 bytes of address and 2 of port.
func parseEntry(b []byte) netip.AddrPort {
	host := len(b) - 2
	addr, _ := netip.AddrFromSlice(b[:host])
	return discovery.Canonical(netip.AddrPortFrom(addr, binary.BigEndian.Uint16(b[host:])))
}

// MasterReplies are the datagrams with which a master lists addrs, in their
// order, as dpmaster 2 sends them: the end mark is in the last only. A plain
// reply has no room for IPv6 addresses, and passes over them.
func MasterReplies(addrs []netip.AddrPort, extended bool) iter.Seq[[]byte] {
	header := oob + plainReply
	if extended {
		header = oob + extendedReply
	}
	return func(yield func([]byte) bool) {
		b := []byte(header)
		for _, a := range addrs {
			a = discovery.Canonical(a)
			if !a.IsValid() || a.Addr().Is6() && !extended {
				continue
			}
			entry := appendEntry(nil, a)
			if len(b)+len(entry)+len(endMark) > maxMasterReply {
				if !yield(b) {
					return
				}
				b = []byte(header)
			}
			b = append(b, entry...)
		}
		yield(append(b, endMark...))
	}
}

func appendEntry(b []byte, a netip.AddrPort) []byte {
	mark := byte('\\')
	if a.Addr().Is6() {
		mark = '/'
	}
	b = append(b, mark)
	b = append(b, a.Addr().AsSlice()...)
	return binary.BigEndian.AppendUint16(b, a.Port())
}
