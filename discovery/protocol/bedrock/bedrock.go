// Package bedrock speaks the unconnected ping of RakNet. Players of Minecraft: Bedrock
// Edition find servers by it. Bytes in, bytes out: it opens no socket and reads no
// clock.
//
//	client                                          server
//	01  time[8]  magic[16]  client[8]          ──▶
//	                                           ◀──  1C  time[8]  server[8]  magic[16]  length[2]  text
//
//	text: MCPE;name;protocol;version;players;most;server;level;mode;number;port;port6;
//
// A semicolon in a name has a backslash before it. All numbers are big-endian. The server returns the time unchanged, so it is the
// query's nonce. Servers may leave out the fields after most.
//
// Sources: RakNet's RakPeer.cpp (ID_UNCONNECTED_PING), JSPrismarine's RakNet, gamedig,
// and packets recorded from jsp-raknet 2.2.0 (testdata).
package bedrock

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/charset"
	"muster/discovery/internal/packet"
)

// Protocol asks Bedrock's servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	ping byte = 0x01
	pong byte = 0x1c
	// magic marks RakNet's packets outside of a connection.
	magic = "\x00\xff\xff\x00\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78"
	// Offsets in a pong, in bytes.
	timeAt, magicAt, lengthAt = 1, 17, 33
	textAt                    = 35
	// fields is the least number of fields in a text.
	fields = 6
)

// AppendQuery appends the datagram that asks a server about itself. Muster's client
// number is 0.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, ping), uint64(nonce))
	return binary.BigEndian.AppendUint64(append(b, magic...), 0)
}

var errNoPong = fmt.Errorf("bedrock: %w: no answer to a ping", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoPong, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) < textAt || b[0] != pong || string(b[magicAt:lengthAt]) != magic {
			return reply, false
		}
		text := b[textAt:]
		parts := split(string(text[:min(len(text), int(binary.BigEndian.Uint16(b[lengthAt:])))]))
		if len(parts) < fields {
			return reply, false
		}
		info := &discovery.Info{
			Name:     CleanName(parts[1]),
			Version:  packet.Text([]byte(parts[3])),
			Protocol: packet.ParseNumber(parts[2]),
		}
		packet.Crowd(info, packet.ParseCount(parts[4]), packet.ParseCount(parts[5]))
		if len(parts) > 8 {
			info.Map, info.Mode = CleanName(parts[7]), packet.Text([]byte(parts[8]))
		}
		return discovery.Reply{Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[timeAt:])), Echoed: true, Info: info}, true
	})
}

// escaped is a semicolon inside a field. A backslash before any other character is a backslash.
const escaped = `\;`

func split(text string) (fields []string) {
	var field strings.Builder
	for len(text) > 0 {
		switch rest, isEscaped := strings.CutPrefix(text, escaped); {
		case isEscaped:
			field.WriteByte(';')
			text = rest
			continue
		case text[0] == ';':
			fields = append(fields, field.String())
			field.Reset()
		default:
			field.WriteByte(text[0])
		}
		text = text[1:]
	}
	return append(fields, field.String())
}

// CleanName makes a text of a Minecraft server fit to show, in both editions. It drops
// colours and styles: a section sign and the character after it.
func CleanName(text string) string {
	const mark = '§'
	styled := false
	return discovery.CleanText(strings.Map(func(r rune) rune {
		switch {
		case styled:
			styled = false
			return -1
		case r == mark:
			styled = true
			return -1
		}
		return r
	}, charset.UTF8(text)))
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the
// server does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	const idLen = 8
	timed := timeAt + idLen
	if len(request) < timed+len(magic) || request[0] != ping || !bytes.HasPrefix(request[timed:], []byte(magic)) {
		return nil
	}
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimRight(s, `\`), ";", escaped) }
	text := fmt.Sprintf("MCPE;%s;%d;%s;%d;%d;1;%s;%s;1;19132;19133;", plain(info.Name), info.Protocol,
		plain(info.Version), info.Players, info.MaxPlayers, plain(info.Map), plain(info.Mode))
	text = text[:min(len(text), math.MaxUint16)]
	b := append([]byte{pong}, request[timeAt:timed]...)
	b = append(binary.BigEndian.AppendUint64(b, 1), magic...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(text))), text...)
}
