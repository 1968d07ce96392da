package quake3

import (
	"bytes"
	"encoding/binary"
	"iter"
	"net/netip"
	"strconv"

	"muster/discovery"
)

// MasterQuery is a client's query to a master.
//
//	"getservers"    [SP game] SP protocol *(SP filter)
//	"getserversExt"  SP game  SP protocol *(SP filter)
//
// Masters send only servers that are neither empty nor full, unless the filters empty
// and full ask for these too. (dpmaster, doc/techinfo.txt)
type MasterQuery struct {
	// Game is the game's name, one word. DarkPlaces' games and every extended query need it. Quake
	// III Arena's masters want no name in a plain query.
	Game string
	// Protocol is the version that the listed servers speak: 68, 71, 3.
	Protocol int
	// Extended asks for IPv6 servers too, where the master knows the query.
	Extended bool
	// IPv4 and IPv6 choose the families in an extended query; neither is both.
	IPv4, IPv6 bool
	// Empty and Full ask for servers without players and without free seats.
	Empty, Full bool
}

// AppendMasterQuery appends the datagram that asks a master for its list.
func AppendMasterQuery(b []byte, q MasterQuery) []byte {
	b = append(b, oob+"getservers"...)
	if q.Extended {
		b = append(b, "Ext"...)
	}
	if q.Game != "" {
		b = append(b, ' ')
		b = append(b, q.Game...)
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(q.Protocol), 10)
	for _, f := range q.filters() {
		if *f.set {
			b = append(b, ' ')
			b = append(b, f.word...)
		}
	}
	return b
}

// AppendListQuery appends the datagram that asks a master for its list. With it a query is
// a [discovery.Lister].
func (q MasterQuery) AppendListQuery(b []byte) []byte { return AppendMasterQuery(b, q) }

// ParseList reads one datagram of a list.
func (MasterQuery) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (end bool, err error) {
	addrs, end, err := ParseMasterReply(b, nil)
	for _, at := range addrs {
		yield(at, nil)
	}
	return end, err
}

// Repeats is true: lists have many datagrams, and some get lost.
func (MasterQuery) Repeats() bool { return true }

// ParseMasterQuery reads a client's query as dpmaster does: a plain query may leave out
// the game, and unknown filters are ignored.
func ParseMasterQuery(b []byte) (MasterQuery, error) {
	r, err := ParseRequest(b)
	if err != nil {
		return MasterQuery{}, err
	}
	q := MasterQuery{Extended: r.Command == "getserversExt"}
	if !q.Extended && r.Command != "getservers" {
		return MasterQuery{}, malformed("%s is not for masters", r.Command)
	}
	args := r.Args
	if len(args) > 0 && (q.Extended || !isProtocol(args[0])) {
		q.Game, args = args[0], args[1:]
	}
	if len(args) == 0 || !isProtocol(args[0]) {
		return MasterQuery{}, malformed("a query without protocol number")
	}
	q.Protocol, _ = strconv.Atoi(args[0])
	for _, word := range args[1:] {
		for _, f := range q.filters() {
			if f.word == word {
				*f.set = true
			}
		}
	}
	return q, nil
}

type filter struct {
	word string
	set  *bool
}

// filters are the words that may follow the protocol, in dpmaster's order. Only
// an extended query chooses address families.
func (q *MasterQuery) filters() []filter {
	fs := []filter{{"empty", &q.Empty}, {"full", &q.Full}}
	if q.Extended {
		fs = append([]filter{{"ipv4", &q.IPv4}, {"ipv6", &q.IPv6}}, fs...)
	}
	return fs
}

// isProtocol distinguishes a protocol number from the name of a game.
func isProtocol(word string) bool {
	n, err := strconv.ParseUint(word, 10, 31)
	return err == nil && strconv.FormatUint(n, 10) == word
}

// A master's reply is one or more datagrams, in any order:
//
//	FF FF FF FF "getserversResponse"    *( "\" IPv4[4] port[2] ) [ "\EOT" 00 00 00 ]
//	FF FF FF FF "getserversExtResponse" *( "\" IPv4[4] port[2] | "/" IPv6[16] port[2] ) [ … ]
//
// Ports are big-endian. Any byte of an address may be a backslash, so only the fixed
// lengths tell where an entry ends.
const (
	plainReply    = "getserversResponse"
	extendedReply = "getserversExtResponse"
	endMark       = "\\EOT\x00\x00\x00"
	portLen       = 2
	entry4        = 1 + 4 + portLen
	entry6        = 1 + 16 + portLen
	// Some masters put padding before the first entry or after the last.
	padding = "\x00\n\r "
	// maxMasterReply is the longest datagram of dpmaster, in bytes.
	maxMasterReply = 1400
)

// ParseMasterReply appends the servers of one datagram to addrs. The end is the
// master's mark for its last datagram; old masters put it in every one, so silence is
// the surer sign. Addresses are unmapped, and those without a host or a port are
// dropped. With an error it returns the servers read before it.
func ParseMasterReply(b []byte, addrs []netip.AddrPort) (_ []netip.AddrPort, end bool, err error) {
	rest, extended := cutHeader(b, extendedReply)
	if !extended {
		var plain bool
		if rest, plain = cutHeader(b, plainReply); !plain {
			return addrs, false, malformed("no list of servers")
		}
	}
	for b = bytes.TrimLeft(rest, padding); len(b) > 0; {
		if isEnd(b) {
			return addrs, true, nil
		}
		var n int
		switch mark := b[0]; {
		case mark == '\\':
			n = entry4
		case mark == '/' && extended:
			n = entry6
		case len(bytes.TrimLeft(b, padding)) == 0:
			return addrs, false, nil
		default:
			return addrs, false, malformed("byte %#02x where a server should start", mark)
		}
		if n > len(b) {
			return addrs, false, malformed("a server cut after %d bytes", len(b))
		}
		addr, _ := netip.AddrFromSlice(b[1 : n-portLen])
		a := discovery.Canonical(netip.AddrPortFrom(addr, binary.BigEndian.Uint16(b[n-portLen:])))
		if a.Port() != 0 && !a.Addr().IsUnspecified() {
			addrs = append(addrs, a)
		}
		b = b[n:]
	}
	return addrs, false, nil
}

// isEnd reports whether the end mark, EOT or EOF, comes next, and not the address
// 69.79.84.x, whose bytes are the same: only the mark has port 0 after it, or is cut
// short.
func isEnd(b []byte) bool {
	if !bytes.HasPrefix(b, []byte(`\EOT`)) && !bytes.HasPrefix(b, []byte(`\EOF`)) {
		return false
	}
	rest, zeros := b[len(`\EOT`):], endMark[len(`\EOT`):]
	return len(rest) < len(zeros) || bytes.HasPrefix(rest, []byte(zeros))
}

// MasterReplies yields a master's datagrams for addrs, in their order, as dpmaster 2
// sends them: the end mark is in the last only. A plain reply has no room for IPv6
// addresses, and skips them.
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
			mark := byte('\\')
			if a.Addr().Is6() {
				mark = '/'
			}
			entry := append([]byte{mark}, a.Addr().AsSlice()...)
			entry = binary.BigEndian.AppendUint16(entry, a.Port())
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
