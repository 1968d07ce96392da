// Package satisfactory asks Satisfactory's dedicated servers, by their Lightweight Query
// API. Bytes in, bytes out: it opens no socket and reads no clock.
//
//	client                                  server
//	D5 F6  00  01  cookie[8]  01       ──▶
//	                                   ◀──  D5 F6  01  01  cookie[8]  state[1]  build[4]  flags[8]
//	                                        n[1]  n × (id[1] version[2])  length[2]  name  01
//
// Numbers have their lowest byte first, and the name is UTF-8. The server returns the cookie
// unchanged, so it is the query's nonce. A client enters only servers of its own build. The
// server counts neither players nor seats.
//
// Sources: "Dedicated Server API" of the game's documentation, satisfactorymodding's
// FGServerQuery.h, node-gamedig.
package satisfactory

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	magic             = "\xd5\xf6"
	asks, tells  byte = 0, 1
	version      byte = 1
	end          byte = 1
	cookieLen         = 8
	subStateLen       = 1 + 2
	isModded          = 1 << 0
	maxName           = 200 // the server's datagrams have 256 bytes at most
	modded            = "modded"
	requestLen        = len(magic) + 2 + cookieLen + 1
	responseHead      = magic + "\x01\x01"
)

// states are what a server does, by number; a playing one has loaded a world.
var states = [...]string{"offline", "idle", "loading", "playing"}

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(append(b, magic...), asks, version)
	return append(binary.LittleEndian.AppendUint64(b, uint64(nonce)), end)
}

var errNoReply = fmt.Errorf("satisfactory: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		r := packet.Reader{Rest: b}
		if string(r.Take(len(responseHead))) != responseHead {
			return reply, false
		}
		reply = discovery.Reply{Nonce: discovery.Nonce(binary.LittleEndian.Uint64(r.Take(cookieLen))), Echoed: true}
		state := int(r.Octet())
		build := binary.LittleEndian.Uint32(r.Take(4))
		flags := binary.LittleEndian.Uint64(r.Take(8))
		r.Take(int(r.Octet()) * subStateLen)
		name := r.Take(int(binary.LittleEndian.Uint16(r.Take(2))))
		if r.Octet() != end || r.Short || len(r.Rest) > 0 || build > discovery.MaxProtocol {
			return reply, false
		}
		var tags []string
		if state < len(states) {
			tags = append(tags, states[state])
		}
		if flags&isModded != 0 {
			tags = append(tags, modded)
		}
		reply.Info = &discovery.Info{
			Name: packet.Text(name), Tags: discovery.TagsOf(strings.Join(tags, " ")),
			Version: strconv.FormatUint(uint64(build), 10), Protocol: int(build),
		}
		return reply, true
	})
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	r := packet.Reader{Rest: request}
	if string(r.Take(4)) != magic+string(rune(asks))+string(rune(version)) || len(request) != requestLen {
		return nil
	}
	build, _ := strconv.ParseUint(info.Version, 10, 31)
	name := info.Name[:min(len(info.Name), maxName)]
	b := append([]byte(responseHead), r.Take(cookieLen)...)
	b = binary.LittleEndian.AppendUint32(append(b, byte(len(states)-1)), uint32(build))
	b = append(binary.LittleEndian.AppendUint64(b, 0), 0)
	b = append(binary.LittleEndian.AppendUint16(b, uint16(len(name))), name...)
	return append(b, end)
}
