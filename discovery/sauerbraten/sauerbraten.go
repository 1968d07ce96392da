// Package sauerbraten speaks what the servers of Cube 2: Sauerbraten and of Red Eclipse
// answer to browsers, one port above the players'. Bytes in, bytes out: it opens no
// socket and reads no clock.
//
//	client                     server
//	01  nonce[8]          ──▶
//	                      ◀──  01  nonce[8]  players  n  numbers[n]  map 00  name 00
//
// The server repeats the whole question. The numbers are protocol, mode, seconds
// left, most players and how open it is; more may follow. Each is a byte, or 80 and two
// bytes, or 81 and four, the lowest first.
//
// Sources: Sauerbraten's engine/server.cpp, fpsgame/server.cpp (serverinforeply) and
// shared/tools.cpp, and packets recorded from Debian's cube2-server (testdata).
package sauerbraten

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks Sauerbraten's servers. It is a [discovery.Aside].
type Protocol struct{}

const (
	ask      byte = 1 // 0 asks for other things
	nonceLen      = 8
	queryLen      = 1 + nonceLen
	// The numbers that all servers have, by place.
	protocolAt, modeAt, mostAt, openAt, numbers = 0, 1, 3, 4, 5
	// mostNumbers is more than any server tells, and private is how open it is to those
	// alone who know a password or have an account.
	mostNumbers, private = 32, 3
	// twoBytes and fourBytes say how long a number is.
	twoBytes, fourBytes = 0x80, 0x81
	maxNumber           = 1_000_000
	// colour comes before a character that says which.
	colour = '\f'
)

// modes are the games' own names, from -3.
var modes = [...]string{"sp", "dmsp", "demo", "ffa", "coop edit", "teamplay", "instagib", "insta team", "efficiency", "effic team", "tactics", "tac team",
	"capture", "regen capture", "ctf", "insta ctf", "protect", "insta protect", "hold", "insta hold", "effic ctf", "effic protect", "effic hold",
	"collect", "insta collect", "effic collect"}

const firstMode = -3

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, ask), uint64(nonce))
}

// QueryPort is the port above the players'.
func (Protocol) QueryPort(port uint16) uint16 { return port + 1 }

var errNoReply = fmt.Errorf("sauerbraten: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	for _, b := range slices.Backward(datagrams) {
		if len(b) < queryLen || b[0] != ask {
			continue
		}
		r := reader{packet.Reader{Rest: b[queryLen:]}}
		players, n := r.number(), r.number()
		if n < numbers || n > mostNumbers {
			continue
		}
		var tells [mostNumbers]int
		for i := range n {
			tells[i] = r.number()
		}
		info := &discovery.Info{
			Map: r.text(), Name: r.text(), Protocol: count(tells[protocolAt]),
			Players: count(players), MaxPlayers: count(tells[mostAt]), Password: tells[openAt] >= private,
		}
		if mode := tells[modeAt] - firstMode; mode >= 0 && mode < len(modes) {
			info.Mode = modes[mode]
		}
		if !r.Short {
			return discovery.Reply{Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[1:])), Echoed: true, Info: info}, nil
		}
	}
	if len(datagrams) == 0 {
		return discovery.Reply{Incomplete: true}, nil
	}
	return discovery.Reply{}, errNoReply
}

func count(n int) int { return min(max(0, n), maxNumber) }

// reader takes numbers and texts off a datagram.
type reader struct{ packet.Reader }

func (r *reader) number() int {
	switch c := r.Take(1)[0]; c {
	case twoBytes:
		return int(int16(binary.LittleEndian.Uint16(r.Take(2))))
	case fourBytes:
		return int(int32(binary.LittleEndian.Uint32(r.Take(4))))
	default:
		return int(int8(c))
	}
}

// text is what stands before the next NUL, without colours and cleaned for display. Its
// letters are numbers, of a single byte where they are ASCII; of the others none is
// kept.
func (r *reader) text() string {
	var text []byte
	for !r.Short {
		switch c := r.number(); {
		case c == 0:
			return discovery.CleanText(string(text))
		case c == colour:
			r.number()
		case c > 0 && c <= '~':
			text = append(text, byte(c))
		}
	}
	return ""
}

// protocolVersion is what the servers of 2020 speak.
const protocolVersion = 260

// Answer is what a server of Muster's fleet says to a request, nil if it does not
// understand it.
func Answer(request []byte, info discovery.Info) []byte {
	const most = 32
	if len(request) == 0 || len(request) > most || request[0] != ask {
		return nil
	}
	open := 0
	if info.Password {
		open = private
	}
	b := bytes.Clone(request)
	mode := max(0, slices.Index(modes[:], info.Mode)+firstMode)
	for _, n := range []int{info.Players, numbers, protocolVersion, mode, 0, info.MaxPlayers, open} {
		b = appendNumber(b, n)
	}
	b = append(append(b, info.Map...), 0)
	return append(append(b, info.Name...), 0)
}

func appendNumber(b []byte, n int) []byte {
	if n >= 0 && n < twoBytes {
		return append(b, byte(n))
	}
	return binary.LittleEndian.AppendUint16(append(b, twoBytes), uint16(n))
}
