// Package openttd asks OpenTTD's servers about the game over TCP: since version 12 they
// tell nothing over UDP. Bytes in, bytes out: it opens no connection and reads no
// clock.
//
//	client            server
//	03 00  07    ──▶
//	             ◀──  length[2]  06  form[1]  …
//
//	7  ticks[8]             5  script's number[4] and name    3  date[4] start[4]
//	6  kind of names[1]     4  NewGRFs                        2  companies[3]
//	1  name  version  password[1]  most players[1]  players[1]  lookers-on[1]  width[2] height[2] landscape[1] dedicated[1]
//
// Each form puts its new fields before those of the form below. Numbers have their
// lowest byte first, texts end with NUL.
//
// Sources: OpenTTD's network/core/game_info.cpp, gamedig, and packets recorded from
// OpenTTD 13.0 (testdata).
package openttd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks OpenTTD's servers. It is a [discovery.Stream].
type Protocol struct{}

const (
	query   = "\x03\x00\x07"
	tells   = 6 // kind of packet
	headLen = 3
	// maxPacket is the game's longest packet, in bytes.
	maxPacket = 32 << 10
	// NewGRFs: the form of a name, and the length before it.
	idAndSum, sumLen, withNames = 0, 4 + 16, 1
)

// landscapes are the game's own names, by number.
var landscapes = [...]string{"temperate", "arctic", "tropic", "toyland"}

// AppendGreeting appends nothing: the question comes first.
func (Protocol) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

// AppendQuery appends the question about the game.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, query...) }

// Parse reads all bytes so far. Spectators have no company, but count as players: they
// are connected, and the seats are for connections.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	b := bytes.Join(datagrams, nil)
	if len(b) < headLen {
		return discovery.Reply{Incomplete: true}, nil
	}
	size := int(binary.LittleEndian.Uint16(b))
	if size < headLen || size > maxPacket || b[2] != tells {
		return discovery.Reply{}, malformed("a packet of kind %d with %d bytes", b[2], size)
	}
	if len(b) < size {
		return discovery.Reply{Incomplete: true}, nil
	}
	r := packet.Reader{Rest: b[headLen:size]}
	form, names, sets := r.Octet(), byte(idAndSum), byte(0)
	if form >= 7 {
		r.Take(8)
	}
	if form >= 6 {
		names = r.Octet()
	}
	if form >= 5 {
		r.Take(4)
		r.Text()
	}
	if form >= 4 {
		sets = r.Octet()
		for range sets {
			if names > withNames {
				r.Take(4) // the server's own number for it
				continue
			}
			r.Take(sumLen)
			if names == withNames {
				r.Text()
			}
		}
	}
	if form >= 3 {
		r.Take(4 + 4)
	}
	if form >= 2 {
		r.Take(3)
	}
	info := &discovery.Info{Name: r.Text(), Version: r.Text()}
	if sets > 0 { // the game gets the name for the player
		info.Tags = "newgrf"
	}
	if form < 6 {
		r.Octet() // language
	}
	info.Password = r.Octet() != 0
	info.MaxPlayers, info.Players = int(r.Octet()), int(r.Octet())
	r.Octet() // spectators
	if form < 3 {
		r.Take(2 + 2)
	}
	if form < 6 {
		r.Text() // the map's name
	}
	width, height := binary.LittleEndian.Uint16(r.Take(2)), binary.LittleEndian.Uint16(r.Take(2))
	info.Map = fmt.Sprintf("%d×%d", width, height)
	if landscape := int(r.Octet()); landscape < len(landscapes) {
		info.Mode = landscapes[landscape]
	}
	if r.Short || form == 0 {
		return discovery.Reply{}, malformed("a game of form %d cut short", form)
	}
	return discovery.Reply{Info: info}, nil
}

// malformed returns an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("openttd: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}

// Answer returns the next bytes of a server in Muster's fleet, after all that it
// received on a connection and all that it sent before.
func Answer(heard []byte, before int, info discovery.Info) []byte {
	if before > 0 || string(heard) != query {
		return nil
	}
	b := fmt.Appendf([]byte{0, 0, tells, 1}, "%s\x00%s\x00", info.Name, info.Version)
	password := byte(0)
	if info.Password {
		password = 1
	}
	b = append(b, 0, password, byte(min(info.MaxPlayers, 255)), byte(min(info.Players, 255)), 0, 0, 0, 0, 0)
	b = append(append(b, info.Map...), 0)
	b = append(b, 0, 1, 0, 1, 0, 1)
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}
