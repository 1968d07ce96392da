// Package mumble speaks the ping of Mumble's servers, which the client's server list
// uses. Bytes in, bytes out: it opens no socket and reads no clock.
//
//	client                        server
//	00 00 00 00  ident[8]    ──▶
//	                         ◀──  version[4]  ident[8]  users[4]  most users[4]  bits a second[4]
//
// All numbers are big-endian. The server returns the ident unchanged, so it is the
// query's nonce. The reply has no name: lists do.
//
// Sources: Mumble's Server.cpp (Server::run) and ServerInformation of its client, and
// packets recorded from murmurd 1.3.4 (testdata).
package mumble

import (
	"encoding/binary"
	"fmt"
	"math"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks Mumble's servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	// queryLen and replyLen are the lengths of both datagrams, in bytes.
	queryLen, replyLen = 12, 24
)

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, 0)
	return binary.BigEndian.AppendUint64(b, uint64(nonce))
}

var errNoPong = fmt.Errorf("mumble: %w: no answer to a ping", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoPong, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) != replyLen {
			return reply, false
		}
		info := &discovery.Info{
			Version:    fmt.Sprintf("%d.%d.%d", b[1], b[2], b[3]),
			Players:    packet.Count(int(binary.BigEndian.Uint32(b[12:]))),
			MaxPlayers: packet.Count(int(binary.BigEndian.Uint32(b[16:]))),
		}
		return discovery.Reply{Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[4:])), Echoed: true, Info: info}, true
	})
}

// bandwidth is the limit for each user in Answer, in bits a second: Mumble's default.
const bandwidth = 72_000

// Answer returns the answer of a server in Muster's fleet to a request, nil if the
// server does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	if len(request) != queryLen || binary.BigEndian.Uint32(request) != 0 {
		return nil
	}
	var version [3]byte
	fmt.Sscanf(info.Version, "%d.%d.%d", &version[0], &version[1], &version[2])
	b := append([]byte{0}, version[:]...)
	b = append(b, request[4:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(min(info.Players, math.MaxInt32)))
	b = binary.BigEndian.AppendUint32(b, uint32(min(info.MaxPlayers, math.MaxInt32)))
	return binary.BigEndian.AppendUint32(b, bandwidth)
}
