// Package ase speaks the query protocol of The All-Seeing Eye, a server browser of the
// 2000s whose protocol Multi Theft Auto and others still answer. Bytes in, bytes out: it
// opens no socket and reads no clock.
//
//	client        server
//	s        ──▶
//	         ◀──  EYE1 game port name mode map version password players seats
//	              { key value } …  ""  { fields[1] name team skin score ping time } …
//
// A text is its length in one byte, which counts itself, and its letters; numbers are
// texts, too. An empty key ends the keys. A player begins with a byte whose bits say
// which of the six fields follow, the name's is the lowest. The protocol has no place
// for a nonce, so the sender's address identifies a reply.
//
// Sources: Multi Theft Auto's server (ASE.cpp) and its wiki (Server Browser Rules),
// gamedig, GameQ. This package reads GameQ's published recordings of Multi Theft Auto's
// servers as GameQ does.
package ase

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks servers. It is a [discovery.Aside].
type Protocol struct {
	// Above is how far the query port is above the players' port. If it is 0, the
	// servers tell the port for players.
	Above uint16
}

const (
	ask    = "s"
	header = "EYE1"
)

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, ask...) }

// QueryPort returns the port at which the server is asked.
func (p Protocol) QueryPort(port uint16) uint16 { return packet.Above(port, p.Above) }

var errNoReply = fmt.Errorf("ase: %w: no reply of a server", discovery.ErrMalformed)

// Parse reads the newest reply.
func (p Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (discovery.Reply, bool) {
		info, _, ok := p.read(b)
		return discovery.Reply{Info: info}, ok
	})
}

// Roll returns the protocol that sends the same question, and reads the players.
func (p Protocol) Roll() discovery.Protocol { return roll{p} }

type roll struct{ Protocol }

// Parse reads the newest reply with its players.
func (r roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (discovery.Reply, bool) {
		info, rest, ok := r.read(b)
		if ok {
			info.Roster = rest.roster()
		}
		return discovery.Reply{Info: info}, ok
	})
}

// reader takes texts off the front of a packet.
type reader struct{ packet.Reader }

// bytes returns the next text.
func (r *reader) bytes() []byte {
	n := int(r.Octet())
	if n == 0 || n-1 > len(r.Rest) { // a length counts itself
		r.Rest, r.Short = nil, true
		return nil
	}
	return r.Take(n - 1)
}

func (r *reader) text() string { return packet.Text(r.bytes()) }

// read reads a reply up to the keys.
func (p Protocol) read(b []byte) (*discovery.Info, reader, bool) {
	rest, found := bytes.CutPrefix(b, []byte(header))
	r := reader{packet.Reader{Rest: rest}}
	r.bytes() // the game's name
	port, err := strconv.ParseUint(string(r.bytes()), 10, 16)
	info := &discovery.Info{Name: r.text(), Mode: r.text(), Map: r.text(), Version: r.text()}
	switch strings.ToLower(string(r.bytes())) {
	case "", "0", "false":
	default:
		info.Password = true
	}
	info.Players = packet.ParseCount(string(r.bytes()))
	info.MaxPlayers = packet.ParseCount(string(r.bytes()))
	if !found || r.Short {
		return nil, reader{}, false
	}
	if p.Above == 0 && err == nil { // otherwise players connect where the list says
		info.GamePort = uint16(port)
	}
	return info, r, true
}

// The bits for a player's fields, in their order.
const (
	name = 1 << iota
	team
	skin
	score
	ping
	played
	fields = played<<1 - 1
)

// maxPlayers is more than any of these games has seats for.
const maxPlayers = 4096

// roster reads the keys, which it drops, and the players up to the end of the packet or
// to where it is cut off.
func (r *reader) roster() *discovery.Roster {
	for len(r.Rest) > 0 {
		if key := r.bytes(); len(key) == 0 {
			break
		}
		r.bytes()
	}
	roster := &discovery.Roster{}
	for len(r.Rest) > 0 && len(roster.Players) < maxPlayers {
		has := r.Octet()
		if has&^fields != 0 {
			break // nothing tells how long a field of another kind is
		}
		var player discovery.Player
		for field := byte(name); field <= played; field <<= 1 {
			if has&field == 0 {
				continue
			}
			if field == name {
				player.Name = r.text()
				continue
			}
			n, _ := strconv.ParseInt(string(r.bytes()), 10, 32) // anything but a number is 0
			switch field {
			case score:
				player.Score = int(n)
			case ping:
				player.Ping = packet.Ping(int(n))
			}
		}
		if r.Short {
			break
		}
		roster.Players = append(roster.Players, player)
	}
	return roster
}

// Answer returns the answer of a server in Muster's fleet to a request, in Multi Theft
// Auto's form, or nil if it is none. Players are their names; players connect at a port.
func Answer(request []byte, info discovery.Info, players []string, port uint16) []byte {
	if string(request) != ask {
		return nil
	}
	b := []byte(header)
	password := "0"
	if info.Password {
		password = "1"
	}
	for _, text := range []string{
		"mta", strconv.Itoa(int(port)), info.Name, info.Mode, info.Map, info.Version, password,
		strconv.Itoa(info.Players), strconv.Itoa(info.MaxPlayers), "",
	} {
		b = appendText(b, text)
	}
	for _, player := range players {
		b = append(b, fields)
		for _, text := range []string{player, "", "", "0", "50", ""} {
			b = appendText(b, text)
		}
	}
	return b
}

// maxText is the longest text whose length fits in a byte.
const maxText = 254

func appendText(b []byte, text string) []byte {
	text = text[:min(len(text), maxText)]
	return append(append(b, byte(len(text)+1)), text...)
}
