// Package sqp speaks Unity's Server Query Protocol, which servers on Unity's and Unreal's
// engines answer that were made for Multiplay's hosting. Bytes in, bytes out: it opens no
// socket and reads no clock.
//
//	client                                           server
//	00  00 00 00 00                             ──▶
//	                                            ◀──  00  challenge[4]
//	01  challenge[4]  version[2]  chunks[1]     ──▶
//	                                            ◀──  01  challenge[4]  version[2]  packet[1] last[1]  length[2]
//	                                                 length[4]  players[2] seats[2]  name  mode  build  map  port[2]
//
// Numbers have their highest byte first; a text is a byte with its length, then that many
// bytes. The server is asked for its first chunk alone, which fits in one packet. Players
// connect to the port in it.
//
// The protocol has no place for a nonce, so the sender's address identifies a reply.
// Some servers forget a challenge once they have answered it. If that answer is
// lost, the server counts as there, and describes itself the next time.
//
// Sources: "Server Query Protocol" of Unity's documentation, Unity-Technologies/go-svrquery.
package sqp

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	challenge, question      = 0, 1
	challengeLen             = 4
	version                  = 1
	aboutServer         byte = 1
	// headLen is the length of a reply's fields before its first chunk.
	headLen = 1 + challengeLen + 2 + 1 + 1 + 2
	maxText = 255
)

// AppendQuery appends the datagram that asks for a challenge, or with it about the server.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, demanded []byte) []byte {
	if len(demanded) == 0 {
		return append(b, challenge, 0, 0, 0, 0)
	}
	b = append(append(b, question), demanded...)
	return append(binary.BigEndian.AppendUint16(b, version), aboutServer)
}

var errNoReply = fmt.Errorf("sqp: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply or a challenge.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		switch {
		case len(b) == 1+challengeLen && b[0] == challenge:
			return discovery.Reply{Challenge: bytes.Clone(b[1:])}, true
		case len(b) < headLen || b[0] != question:
			return reply, false
		}
		head := packet.Reader{Rest: b[1+challengeLen+2:]}
		if number := head.Octet(); number != 0 {
			return reply, false
		}
		r := reader{packet.Reader{Rest: head.Rest[3:]}} // after the last chunk's number, and a length
		length := binary.BigEndian.Uint32(r.Take(4))
		if uint64(length) > uint64(len(r.Rest)) {
			return reply, false
		}
		r.Rest = r.Rest[:length]
		info := &discovery.Info{
			Players: r.short(), MaxPlayers: r.short(),
			Name: r.text(), Mode: r.text(), Version: r.text(), Map: r.text(),
		}
		info.GamePort = uint16(r.short())
		return discovery.Reply{Info: info}, !r.Short
	})
}

// reader takes numbers and texts off a datagram.
type reader struct{ packet.Reader }

func (r *reader) short() int { return int(binary.BigEndian.Uint16(r.Take(2))) }

func (r *reader) text() string { return packet.Text(r.Take(int(r.Octet()))) }

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. The server demands this challenge; players connect at a port.
func Answer(request []byte, info discovery.Info, demanded [challengeLen]byte, port uint16) []byte {
	b := append([]byte{challenge}, demanded[:]...)
	switch {
	case string(request) == string(Protocol{}.AppendQuery(nil, 0, nil)):
		return b
	case string(request) != string(Protocol{}.AppendQuery(nil, 0, demanded[:])):
		return nil
	}
	var chunk []byte
	chunk = binary.BigEndian.AppendUint16(chunk, uint16(info.Players))
	chunk = binary.BigEndian.AppendUint16(chunk, uint16(info.MaxPlayers))
	for _, text := range []string{info.Name, info.Mode, info.Version, info.Map} {
		text = text[:min(len(text), maxText)]
		chunk = append(append(chunk, byte(len(text))), text...)
	}
	chunk = binary.BigEndian.AppendUint16(chunk, port)
	b[0] = question
	b = append(binary.BigEndian.AppendUint16(b, version), 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(4+len(chunk)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(chunk)))
	return append(b, chunk...)
}
