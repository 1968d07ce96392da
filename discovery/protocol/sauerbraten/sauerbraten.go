// Package sauerbraten speaks the query protocol of the servers of Cube 2: Sauerbraten
// and of Red Eclipse, one port above the players'. Bytes in, bytes out: it opens no
// socket and reads no clock.
//
//	client                     server
//	01  nonce[8]          ──▶
//	                      ◀──  01  nonce[8]  players  n  numbers[n]  map 00  name 00
//
// The server repeats the whole question. The numbers are protocol, mode, seconds left,
// most players and how open it is; more may follow. Red Eclipse has its mutators before
// the seconds, and after the five the game's version among others. Each number is a
// byte, or 80 and two bytes, or 81 and four, the lowest first.
//
// Sources: Sauerbraten's engine/server.cpp, fpsgame/server.cpp (serverinforeply) and
// shared/tools.cpp, RedFlare (a program that reads Red Eclipse's servers), and packets
// recorded from Debian's cube2-server and redeclipse-server (testdata).
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
type Protocol struct{ asking }

// RedEclipse asks Red Eclipse's servers, which answer in another order. It is a
// [discovery.Aside].
type RedEclipse struct{ asking }

// asking is the part that both have in common. Red Eclipse's servers do not list
// players.
type asking struct{}

const (
	ask      byte = 1 // 0 asks for other things
	nonceLen      = 8
	queryLen      = 1 + nonceLen
	// The numbers with the same place everywhere.
	protocolAt, modeAt = 0, 1
	// maxNumbers is more than any server tells. A server of openness private or more
	// admits only players with a password or an account.
	maxNumbers, private = 32, 3
	// twoBytes and fourBytes give the length of a number.
	twoBytes, fourBytes = 0x80, 0x81
	// colour comes before a character for the colour.
	colour = '\f'
)

// order is the order of a game's numbers. Servers tell their version if they have three
// more numbers from versionAt on; 0 is none.
type order struct {
	maxAt, openAt, numbers, versionAt int
	modes                             []string
	firstMode                         int
}

var (
	ofSauerbraten = order{maxAt: 3, openAt: 4, numbers: 5, modes: modes, firstMode: -3}
	ofRedEclipse  = order{maxAt: 4, openAt: 5, numbers: 6, versionAt: 8, modes: redEclipseModes}
)

// modes are the game's own names, from -3, and redEclipseModes those of Red Eclipse.
var modes = []string{"sp", "dmsp", "demo", "ffa", "coop edit", "teamplay", "instagib", "insta team", "efficiency",
	"effic team", "tactics", "tac team",
	"capture", "regen capture", "ctf", "insta ctf", "protect", "insta protect", "hold", "insta hold", "effic ctf",
	"effic protect", "effic hold",
	"collect", "insta collect", "effic collect"}

var redEclipseModes = []string{"demo", "edit", "deathmatch", "capture", "defend", "bomber", "race"}

// AppendQuery appends the datagram that asks a server about itself.
func (asking) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, ask), uint64(nonce))
}

// QueryPort returns the port above the players'.
func (asking) QueryPort(port uint16) uint16 { return port + 1 }

var errNoReply = fmt.Errorf("sauerbraten: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, ofSauerbraten)
}

// Parse reads the newest datagram that is a reply.
func (RedEclipse) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, ofRedEclipse)
}

func parse(datagrams [][]byte, o order) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) < queryLen || b[0] != ask {
			return reply, false
		}
		r := reader{packet.Reader{Rest: b[queryLen:]}}
		players, n := r.number(), r.number()
		if n < o.numbers || n > maxNumbers {
			return reply, false
		}
		var tells [maxNumbers]int
		for i := range n {
			tells[i] = r.number()
		}
		info := &discovery.Info{
			Map: r.text(), Name: r.text(), Protocol: max(0, tells[protocolAt]),
			Players: packet.Count(players), MaxPlayers: packet.Count(tells[o.maxAt]), Password: tells[o.openAt] >= private,
		}
		if mode := tells[modeAt] - o.firstMode; mode >= 0 && mode < len(o.modes) {
			info.Mode = o.modes[mode]
		}
		if v := tells[o.versionAt:]; o.versionAt > 0 && n >= o.versionAt+3 {
			info.Version = fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
		}
		if !r.Short {
			return discovery.Reply{Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[1:])), Echoed: true, Info: info}, true
		}
		return reply, false
	})
}

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

// Cube 2 has letters of its own: ASCII, and these before it and after it.
var (
	lettersBefore = []rune("\x00ÀÁÂÃÄÅÆÇ\t\n\v\f\rÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛ")
	lettersAfter  = []rune("ÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿĄąĆćČčĎďĘęĚěĞğİıŁłŃńŇňŐőŒœŘřŚśŞşŠšŤťŮůŰűŸŹźŻżŽžЄБГДЖЗИЙЛПУФЦЧШЩЪЫЬЭЮЯбвгджзийклмнптфцчшщъыьэюяєҐґ")
)

func letterOf(c byte) rune {
	switch {
	case c < ' ':
		return lettersBefore[c]
	case c > '~':
		return lettersAfter[c-'~'-1]
	}
	return rune(c)
}

// text returns the text before the next NUL, without colours and cleaned for display.
// Its letters are numbers, those after ASCII negative ones. A colour is a letter, or with Red
// Eclipse a word in brackets.
func (r *reader) text() string {
	var text []rune
	for !r.Short {
		switch c := r.number(); {
		case c == 0:
			return discovery.CleanText(string(text))
		case c == colour:
			end := map[int]int{'[': ']', '(': ')'}[r.number()]
			for end != 0 && !r.Short && r.number() != end {
			}
		case int(int8(c)) == c || int(uint8(c)) == c:
			text = append(text, letterOf(byte(c)))
		}
	}
	return ""
}

// protocolVersion is the protocol of Sauerbraten's servers of 2020, and
// redEclipseProtocol that of Red Eclipse 1.6.
const (
	protocolVersion    = 260
	redEclipseProtocol = 230
)

// Answer returns the answer of a server in Muster's fleet to a request, nil if the
// server does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	return answer(request, info, ofSauerbraten, protocolVersion)
}

// AnswerRedEclipse is [Answer] for a server of Red Eclipse.
func AnswerRedEclipse(request []byte, info discovery.Info) []byte {
	return answer(request, info, ofRedEclipse, redEclipseProtocol)
}

func answer(request []byte, info discovery.Info, o order, protocol int) []byte {
	const most = 32
	if len(request) == 0 || len(request) > most || request[0] != ask {
		return nil
	}
	tells := make([]int, o.numbers)
	tells[protocolAt], tells[modeAt], tells[o.maxAt] = protocol, max(0, slices.Index(o.modes, info.Mode)+o.firstMode), info.MaxPlayers
	if info.Password {
		tells[o.openAt] = private
	}
	var major, minor, patch int
	if fmt.Sscanf(info.Version, "%d.%d.%d", &major, &minor, &patch); o.versionAt > 0 {
		tells = append(append(tells, make([]int, o.versionAt-len(tells))...), major, minor, patch)
	}
	b := bytes.Clone(request)
	for _, n := range append([]int{info.Players, len(tells)}, tells...) {
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
