// Package jamulus asks Jamulus' servers, where musicians play together, and its directories.
// Bytes in, bytes out: it opens no socket and reads no clock.
//
//	client                                  server
//	1002  time[4]  00                  ──▶
//	                                   ◀──  1002  time[4]  musicians[1]
//	1014                               ──▶
//	                                   ◀──  1013  n × (channel[1]  country[2]  instrument[4]  skill[1]  00[4]  name  city)
//
//	client                                  directory
//	1007                               ──▶
//	                                   ◀──  1018  n × (IPv4[4]  port[2]  length[1] name)
//	                                   ◀──  1006  n × (IPv4[4]  port[2]  country[2]  seats[1]  stays[1]  name  nothing  city)
//
// Each message stands in a frame. Numbers have their lowest byte first, IPv4 addresses, too,
// and a text is two bytes with its length, then UTF-8:
//
//	00 00  kind[2]  count[1]  length[2]  message  CRC[2]
//
// The server returns the time unchanged, so it is the query's nonce. It tells its musicians,
// but only its directory tells its name and its seats.
//
// Sources: src/protocol.cpp, src/util.cpp and src/serverlist.cpp of jamulussoftware/jamulus,
// and Debian's Jamulus 3.9.1.
package jamulus

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Protocol].
type Protocol struct{}

// The kinds of messages.
const (
	ping        = 1002
	seatedList  = 1006
	wantsList   = 1007
	musicians   = 1013
	wantsPlayer = 1014
)

const (
	timeLen = 4
	headLen = 2 + 2 + 1 + 2
	crcLen  = 2
	// maxMusicians is the most that a server seats.
	maxMusicians = 150
)

func frame(b []byte, kind uint16, message []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint16(append(b, 0, 0), kind)
	b = binary.LittleEndian.AppendUint16(append(b, 0), uint16(len(message)))
	b = append(b, message...)
	return binary.LittleEndian.AppendUint16(b, crc(b[start:]))
}

func unframe(b []byte) (kind uint16, message []byte, ok bool) {
	n := len(b) - crcLen
	if n < headLen || b[0] != 0 || b[1] != 0 || int(binary.LittleEndian.Uint16(b[5:])) != n-headLen ||
		binary.LittleEndian.Uint16(b[n:]) != crc(b[:n]) {
		return 0, nil, false
	}
	return binary.LittleEndian.Uint16(b[2:]), b[headLen:n], true
}

// crc is the CRC of 16 bits with the polynomial x¹⁶ + x¹² + x⁵ + 1. It starts with ones, and
// its bits are inverted.
func crc(b []byte) uint16 {
	const polynomial = 1<<12 | 1<<5 | 1
	register := uint16(0xffff)
	for _, octet := range b {
		register ^= uint16(octet) << 8
		for range 8 {
			carry := register >> 15
			register = register<<1 ^ carry*polynomial
		}
	}
	return ^register
}

// AppendQuery appends the datagram that pings a server.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return frame(b, ping, append(binary.LittleEndian.AppendUint32(nil, uint32(nonce)), 0))
}

var errNoReply = fmt.Errorf("jamulus: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		kind, message, ok := unframe(b)
		if !ok || kind != ping || len(message) != timeLen+1 {
			return reply, false
		}
		return discovery.Reply{
			Nonce: discovery.Nonce(binary.LittleEndian.Uint32(message)), NonceBits: 8 * timeLen, Echoed: true,
			Info: &discovery.Info{Players: int(message[timeLen])},
		}, true
	})
}

// Roll returns the protocol that asks for the musicians' names.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{}

func (roll) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte {
	return frame(b, wantsPlayer, nil)
}

// Parse reads the newest datagram that lists the musicians. It has no room for a nonce.
func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		kind, message, ok := unframe(b)
		if !ok || kind != musicians {
			return reply, false
		}
		r := reader{packet.Reader{Rest: message}}
		roster := &discovery.Roster{}
		for len(r.Rest) > 0 && len(roster.Players) < maxMusicians {
			r.Take(1 + 2 + 4 + 1 + 4)
			roster.Players = append(roster.Players, discovery.Player{Name: r.text()})
			r.text() // the city
		}
		return discovery.Reply{Info: &discovery.Info{Roster: roster}}, !r.Short
	})
}

// reader takes numbers and texts off a message.
type reader struct{ packet.Reader }

func (r *reader) short() uint16 { return binary.LittleEndian.Uint16(r.Take(2)) }

func (r *reader) text() string { return packet.Text(r.Take(int(r.short()))) }

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. Players are their names.
func Answer(request []byte, info discovery.Info, names []string) []byte {
	kind, message, ok := unframe(request)
	switch {
	case ok && kind == ping && len(message) == timeLen+1:
		return frame(nil, ping, append(message[:timeLen:timeLen], byte(min(info.Players, maxMusicians))))
	case ok && kind == wantsPlayer:
		var list []byte
		for i, name := range names[:min(len(names), maxMusicians)] {
			list = append(append(list, byte(i)), make([]byte, 2+4+1+4)...)
			list = append(binary.LittleEndian.AppendUint16(list, uint16(len(name))), name...)
			list = append(list, 0, 0)
		}
		return frame(nil, musicians, list)
	}
	return nil
}

// directory asks Jamulus' directories. It is a [discovery.Lister].
type directory struct{}

// Master returns how directories are asked.
func (Protocol) Master() discovery.Lister { return directory{} }

// shortList is a list with nothing but addresses and names, for lines that lose long packets.
const shortList = 1018

var errNoList = fmt.Errorf("jamulus: %w: no list of servers", discovery.ErrMalformed)

// AppendListQuery appends the datagram that asks for the list.
func (directory) AppendListQuery(b []byte) []byte { return frame(b, wantsList, nil) }

// Repeats is false: a list comes whole.
func (directory) Repeats() bool { return false }

// ParseList reads a list. Its first server is the directory itself, without an address.
func (directory) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (end bool, err error) {
	kind, message, ok := unframe(b)
	if !ok || kind != seatedList && kind != shortList {
		return false, errNoList
	}
	r := reader{packet.Reader{Rest: message}}
	for len(r.Rest) > 0 {
		ip := r.Take(4)
		host, port := netip.AddrFrom4([4]byte{ip[3], ip[2], ip[1], ip[0]}), r.short()
		info := &discovery.Info{}
		if kind == shortList {
			info.Name = packet.Text(r.Take(int(r.Octet())))
		} else {
			r.short() // the country
			info.MaxPlayers = int(r.Octet())
			r.Octet() // whether it stays
			info.Name = r.text()
			r.text() // nothing
			r.text() // the city
		}
		switch {
		case r.Short:
			return false, errNoList
		case host.IsUnspecified():
			yield(netip.AddrPort{}, info)
		default:
			yield(netip.AddrPortFrom(host, port), info)
		}
	}
	return kind == seatedList, nil
}
