package gamespy

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Second is GameSpy's protocol in its second form, of some games from 2002 to 2007:
// Halo, SWAT 4, Battlefield Vietnam. It is a [discovery.Aside].
//
//	client                                  server
//	FE FD 00 id[4] FF 00 00            ──▶                      the server's keys
//	                                   ◀──  00 id[4] hostname 0 Name 0 mapname 0 … 0 0
//
//	FE FD 00 id[4] 00 FF 00            ──▶                      the players
//	                                   ◀──  00 id[4] 00 count player_ 0 score_ 0 ping_ 0 0
//	                                        ann 0 3 0 40 0  bob 0 0 0 55 0  0
//
// The id is the asker's, and comes back: it is 32 bits of the nonce. Some servers leave
// the count out.
//
// Sources: Alex Thissen's description of the protocol (2009), gamedig, GameQ. This
// package reads GameQ's published recordings of Halo's and SWAT 4's servers as GameQ
// does.
type Second struct {
	// Above is how far the query port is above the players' port. If it is 0, the
	// servers tell the port for players.
	Above uint16
}

// The bytes before the id, and the number of its bits.
const (
	magic    = "\xfe\xfd"
	question = 0x00
	idBits   = 32
)

// [Second] asks for the server's keys, or for the players.
const (
	aboutServer  = "\xff\x00\x00"
	aboutPlayers = "\x00\xff\x00"
)

var errNoKeys = fmt.Errorf("gamespy: %w: no reply with the keys of a server", discovery.ErrMalformed)

// AppendQuery appends the datagram that asks a server about itself.
func (Second) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return appendSecond(b, nonce, aboutServer)
}

func appendSecond(b []byte, nonce discovery.Nonce, about string) []byte {
	b = append(append(b, magic...), question)
	return append(binary.BigEndian.AppendUint32(b, uint32(nonce)), about...)
}

// QueryPort returns the port at which the server is asked.
func (s Second) QueryPort(port uint16) uint16 { return packet.Above(port, s.Above) }

// Parse reads the newest reply.
func (s Second) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoKeys, func(b []byte) (discovery.Reply, bool) {
		r, nonce := readSecond(b)
		_, _, _, isThird := readNumber(r.Rest)
		keys := readKeys(&r)
		info, tells := infoOf(keys.value)
		if r.Short && len(keys) == 0 || !tells || isThird {
			return discovery.Reply{}, false
		}
		if s.Above != 0 {
			info.GamePort = 0 // players connect where the list says
		}
		return discovery.Reply{Info: info, Nonce: nonce, NonceBits: idBits, Echoed: true}, true
	})
}

// Roll returns the protocol that asks for the players.
func (s Second) Roll() discovery.Protocol { return secondRoll{s} }

type secondRoll struct{ Second }

func (secondRoll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return appendSecond(b, nonce, aboutPlayers)
}

// Parse reads the newest list of players.
func (secondRoll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoKeys, func(b []byte) (discovery.Reply, bool) {
		r, nonce := readSecond(b)
		if r.Octet() != 0 || r.Short {
			return discovery.Reply{}, false
		}
		info := &discovery.Info{Roster: readRows(&r)}
		return discovery.Reply{Info: info, Nonce: nonce, NonceBits: idBits, Echoed: true}, true
	})
}

// readSecond takes the header off a reply. If it has none, the reader is short.
func readSecond(b []byte) (r packet.Reader, nonce discovery.Nonce) {
	r = packet.Reader{Rest: b}
	if r.Octet() != question {
		return packet.Reader{Short: true}, 0
	}
	return r, discovery.Nonce(binary.BigEndian.Uint32(r.Take(idBits / 8)))
}

// keys are a server's keys in lower case with their values.
type keys map[string]string

// readKeys reads keys and values up to an empty key. Of a key that comes twice, the
// first value counts.
func readKeys(r *packet.Reader) keys {
	k := keys{}
	for len(r.Rest) > 0 {
		key := strings.ToLower(string(r.Bytes()))
		if key == "" {
			break
		}
		value := string(r.Bytes())
		if key == "hostname" && value == "" {
			value = brokenName(r)
		}
		if r.Short {
			break
		}
		if _, is := k[key]; !is {
			k[key] = value
		}
	}
	return k
}

// brokenName takes the rest of a name that begins with a NUL off the keys. Minecraft's
// servers write the low byte of each letter, so some letters become NUL.
func brokenName(r *packet.Reader) string {
	rest, _, found := strings.Cut(string(r.Rest), "\x00gametype\x00") // the next key there
	if !found || strings.Contains(rest, "\x00") {
		return ""
	}
	return string(r.Bytes())
}

// value returns the first value of several keys that is not empty.
func (k keys) value(keys ...string) string {
	for _, key := range keys {
		if k[key] != "" {
			return k[key]
		}
	}
	return ""
}

// maxCounted is the largest count of players. A byte above it is a letter, the first of
// a field's name, from a server that leaves the count out.
const maxCounted = 'A' - 1

// readRows reads the players: a count, the names of the fields, and a value for each field of each
// player. An empty text ends the names, and another one the players.
func readRows(r *packet.Reader) *discovery.Roster {
	count := 0
	if len(r.Rest) > 0 && r.Rest[0] <= maxCounted {
		count = int(r.Octet())
	}
	var fields []string
	for len(r.Rest) > 0 {
		field := strings.ToLower(string(r.Bytes()))
		if field == "" {
			break
		}
		fields = append(fields, strings.TrimRight(field, "_"))
	}
	roster := &discovery.Roster{}
	for len(fields) > 0 && len(r.Rest) > 0 && len(roster.Players) < maxPlayers {
		var player discovery.Player
		var first string
		for i, field := range fields {
			value := string(r.Bytes())
			if i == 0 {
				if first = value; first == "" && len(roster.Players) >= count {
					return roster
				}
			}
			if field == "player" || field == "playername" {
				player.Name = packet.Text([]byte(value))
			}
			tell(&player, field, value)
		}
		if r.Short {
			break
		}
		roster.Players = append(roster.Players, player)
	}
	return roster
}

// AnswerSecond returns the answer of a server in Muster's fleet to a request in the second form. It
// returns nil for any other request. players are names; port is where players connect.
func AnswerSecond(request []byte, info discovery.Info, players []string, port uint16) []byte {
	r := packet.Reader{Rest: request}
	header, id, about := string(r.Take(len(magic)+1)), r.Take(idBits/8), r.Take(len(aboutServer))
	if r.Short || len(r.Rest) > 0 || header != magic+string(rune(question)) {
		return nil
	}
	b := append([]byte{question}, id...)
	if about[0] != 0 {
		b = appendKeys(b, info, port)
	}
	if about[1] != 0 {
		b = append(b, 0, byte(min(len(players), maxCounted)))
		b = append(b, "player_\x00score_\x00ping_\x00\x00"...)
		for _, name := range players[:min(len(players), maxCounted)] {
			b = append(append(b, field(name)...), "\x000\x0050\x00"...)
		}
		b = append(b, 0)
	}
	return b
}

// appendKeys appends a server's keys with their values, and the empty key after them.
func appendKeys(b []byte, info discovery.Info, port uint16) []byte {
	password := "0"
	if info.Password {
		password = "1"
	}
	for _, pair := range [][2]string{
		{"hostname", info.Name},
		{"gamever", info.Version},
		{"mapname", info.Map},
		{"gametype", info.Mode},
		{"numplayers", strconv.Itoa(info.Players)},
		{"maxplayers", strconv.Itoa(info.MaxPlayers)},
		{"password", password},
		{"hostport", strconv.Itoa(int(port))},
	} {
		b = append(append(b, pair[0]...), 0)
		b = append(append(b, field(pair[1])...), 0)
	}
	return append(b, 0)
}

// field returns a text without NULs, which would end it.
func field(text string) string { return strings.ReplaceAll(text, "\x00", "") }
