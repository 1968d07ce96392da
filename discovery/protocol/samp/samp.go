// Package samp asks the servers of San Andreas Multiplayer, of open.mp, which succeeds it,
// and of Vice City Multiplayer. Bytes in, bytes out: it opens no socket and reads no clock.
//
//	client                               server
//	SAMP  address[4] port[2]  i     ──▶
//	                                ◀──  SAMP  address[4] port[2]  i  password[1] players[2] most players[2] name mode language
//	SAMP  address[4] port[2]  c     ──▶
//	                                ◀──  SAMP  address[4] port[2]  c  players[2]  {length[1] name  score[4]} …
//
// Vice City Multiplayer asks with VCMP, and answers with MP04 and its version[12] before
// the password; its servers tell the map instead of the language.
//
// Numbers have their lowest byte first. A text is a length[4], and that many bytes.
//
// The game's own client writes the server's address and port after the header. The server
// compares them with nothing and returns them unchanged, so these six bytes are the query's
// nonce. A filter in front of a server might compare them; no source tells of one.
//
// Servers with more than 100 players do not list them. SA-MP's servers answer 30 questions
// a second, all askers together.
//
// Sources: open.mp's Query component (Server/Components/LegacyNetwork/Query), its page
// "Query Mechanism", gamedig's samp.js and vcmp.js. This package reads GameQ's published
// recording of a SA-MP server as GameQ does.
package samp

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers of SA-MP and open.mp. It is a [discovery.Roll].
type Protocol struct{}

// VCMP asks the servers of Vice City Multiplayer. It is a [discovery.Roll].
type VCMP struct{}

// dialect is the part in which the two games differ.
type dialect struct {
	asks, answers string
	versionLen    int
	tellsMap      bool
}

var (
	ofSAMP = dialect{asks: "SAMP", answers: "SAMP"}
	ofVCMP = dialect{asks: "VCMP", answers: "MP04", versionLen: 12, tellsMap: true}
)

const (
	aboutServer, aboutPlayers = 'i', 'c'
	// Muster does not ask for the rules and for the players with their pings, others do.
	aboutRules, aboutPings = 'r', 'd'
	headLen                = 4
	nonceLen               = 6
	queryLen               = headLen + nonceLen + 1
	// maxText is far longer than any text of these servers, in bytes.
	maxText = 1 << 10
	// usualPing is the ping of the fleet's players, in ms.
	usualPing = 50
	// maxListed is how many players servers list at most, with some to spare.
	maxListed = 1024
)

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return ofSAMP.appendQuery(b, nonce, aboutServer)
}

// AppendQuery appends the datagram that asks a server about itself.
func (VCMP) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return ofVCMP.appendQuery(b, nonce, aboutServer)
}

func (d dialect) appendQuery(b []byte, nonce discovery.Nonce, about byte) []byte {
	b = append(b, d.asks...)
	b = binary.BigEndian.AppendUint16(b, uint16(nonce>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(nonce))
	return append(b, about)
}

var errNoReply = fmt.Errorf("samp: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return ofSAMP.parse(datagrams, aboutServer, ofSAMP.info)
}

// Parse reads the newest datagram that is a reply.
func (VCMP) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return ofVCMP.parse(datagrams, aboutServer, ofVCMP.info)
}

// Roll returns the protocol that asks for the players' names and scores.
func (Protocol) Roll() discovery.Protocol { return roll{ofSAMP} }

// Roll returns the protocol that asks for the players' names and scores.
func (VCMP) Roll() discovery.Protocol { return roll{ofVCMP} }

type roll struct{ dialect }

func (r roll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return r.appendQuery(b, nonce, aboutPlayers)
}

func (r roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return r.parse(datagrams, aboutPlayers, players)
}

func (d dialect) parse(datagrams [][]byte, about byte, read func(*reader) *discovery.Info) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) < queryLen || !bytes.HasPrefix(b, []byte(d.answers)) || b[queryLen-1] != about {
			return reply, false
		}
		r := &reader{packet.Reader{Rest: b[queryLen:]}}
		info := read(r)
		nonce := uint64(binary.BigEndian.Uint16(b[headLen:]))<<32 | uint64(binary.BigEndian.Uint32(b[headLen+2:]))
		return discovery.Reply{Nonce: discovery.Nonce(nonce), NonceBits: 8 * nonceLen, Echoed: true, Info: info}, !r.Short
	})
}

func (d dialect) info(r *reader) *discovery.Info {
	version, _, _ := bytes.Cut(r.Take(d.versionLen), []byte{0})
	info := &discovery.Info{
		Version:    packet.Text(version),
		Password:   r.Octet() != 0,
		Players:    r.short(),
		MaxPlayers: r.short(),
		Name:       r.text(),
		Mode:       r.text(),
	}
	if last := r.text(); d.tellsMap {
		info.Map = last
	} else {
		info.Tags = discovery.TagsOf(last)
	}
	return info
}

func players(r *reader) *discovery.Info {
	roster := &discovery.Roster{}
	for range min(r.short(), maxListed) {
		name := packet.Text(r.Take(int(r.Octet())))
		score := int32(binary.LittleEndian.Uint32(r.Take(4)))
		if r.Short {
			break
		}
		roster.Players = append(roster.Players, discovery.Player{Name: name, Score: int(score)})
	}
	return &discovery.Info{Roster: roster}
}

// reader takes numbers and texts off a datagram.
type reader struct{ packet.Reader }

func (r *reader) short() int { return int(binary.LittleEndian.Uint16(r.Take(2))) }

func (r *reader) text() string {
	n := binary.LittleEndian.Uint32(r.Take(4))
	if n > maxText {
		r.Rest, r.Short = nil, true
		return ""
	}
	return packet.Text(r.Take(int(n)))
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. Players are their names.
func Answer(request []byte, info discovery.Info, names []string) []byte {
	return ofSAMP.answer(request, info, names)
}

// AnswerVCMP is [Answer] for a server of Vice City Multiplayer.
func AnswerVCMP(request []byte, info discovery.Info, names []string) []byte {
	return ofVCMP.answer(request, info, names)
}

func (d dialect) answer(request []byte, info discovery.Info, names []string) []byte {
	if len(request) != queryLen || !bytes.HasPrefix(request, []byte(d.asks)) {
		return nil
	}
	b := append([]byte(d.answers), request[headLen:]...)
	switch request[queryLen-1] {
	case aboutServer:
		version := make([]byte, d.versionLen)
		copy(version, info.Version)
		password := byte(0)
		if info.Password {
			password = 1
		}
		b = append(append(b, version...), password)
		b = binary.LittleEndian.AppendUint16(b, uint16(info.Players))
		b = binary.LittleEndian.AppendUint16(b, uint16(info.MaxPlayers))
		last := string(info.Tags)
		if d.tellsMap {
			last = info.Map
		}
		for _, text := range []string{info.Name, info.Mode, last} {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
		}
		return b
	case aboutRules:
		b = append(b, 1, 0)
		for _, text := range []string{"version", info.Version[:min(len(info.Version), 0xff)]} {
			b = append(append(b, byte(len(text))), text...)
		}
		return b
	case aboutPlayers, aboutPings:
		pings := request[queryLen-1] == aboutPings
		b = binary.LittleEndian.AppendUint16(b, uint16(len(names)))
		for i, name := range names {
			if pings {
				b = append(b, byte(i))
			}
			name = name[:min(len(name), 0xff)]
			b = append(append(b, byte(len(name))), name...)
			b = binary.LittleEndian.AppendUint32(b, 0)
			if pings {
				b = binary.LittleEndian.AppendUint32(b, usualPing)
			}
		}
		return b
	}
	return nil
}
