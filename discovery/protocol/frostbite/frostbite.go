// Package frostbite asks servers of Battlefield: Bad Company 2, Battlefield 3, 4 and
// Hardline, and Medal of Honor of the same years about the game, over TCP at the port for
// their administrators. It needs no password for that. Bytes in, bytes out: it opens no
// connection and reads no clock.
//
//	client                                          server
//	number[4]  size[4]  1[4]  serverInfo       ──▶
//	                                           ◀──  number[4]  size[4]  words[4]  OK  name  players  seats  mode  map  …
//	number[4]  size[4]  1[4]  version          ──▶
//	                                           ◀──  number[4]  size[4]  words[4]  OK  game  version
//
// Numbers have their lowest byte first. A word is its length[4], that many bytes, and a
// NUL. In the number the highest bit is set if the server asked first, and the next one in
// answers. The server returns the other 30, so they are the query's nonce. A server may
// tell of events in between: these are questions of its own.
//
// After the map come the rounds played, the rounds in all, the teams, and a score for each
// of them. Then: the score to reach, the state, ranked, PunkBuster, password, the time the
// server runs, the time of the round, and the address. Bad Company 2 has its mod and the
// maps' number before the address, and some versions end earlier.
//
// Sources: "BF3 PC Server Remote Administration Protocol" by DICE, and their example
// program, which leaves the highest bit 0 as gamedig's battlefield.js and GameQ do, while
// the text has it the other way round.
// This package reads GameQ's published recordings of Bad Company 2's, Battlefield 3's, 4's
// and Hardline's servers as GameQ does.
package frostbite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Stream], a [discovery.Aside] and a
// [discovery.Roll].
type Protocol struct {
	// Above is how far the port for administrators is above the players' port. If it is 0,
	// the servers tell the port for players.
	Above uint16
}

const (
	headLen = 3 * 4
	// maxPacket is the longest packet, in bytes, with some to spare.
	maxPacket = 64 << 10
	// isAnswer is the bit of answers in a number, nonceBits how many bits are free.
	isAnswer  = 1 << 30
	nonceBits = 30
	// maxWords is more than any server says, maxPlayers more than any has seats for.
	maxWords, maxPlayers = 4096, 1024
	// unknownPing stands for a ping that the server does not know.
	unknownPing = 1<<16 - 1
)

// versionNext is the challenge that makes AppendQuery ask for the version.
var versionNext = []byte("version")

// AppendGreeting appends nothing: the question comes first.
func (Protocol) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

// AppendQuery appends the question about the server, or the one about its version after it.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, demanded []byte) []byte {
	if len(demanded) == 0 {
		return appendPacket(b, number(nonce), "serverInfo")
	}
	return appendPacket(b, number(nonce), "version")
}

// QueryPort returns the port for administrators.
func (p Protocol) QueryPort(port uint16) uint16 { return packet.Above(port, p.Above) }

// Parse reads all bytes so far. After the server's description alone it asks for the
// version; a server may end the conversation instead.
func (p Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	heard := bytes.Join(datagrams, nil)
	about, rest, err := cutAnswer(heard)
	if err != nil || about == nil {
		return discovery.Reply{Incomplete: err == nil}, err
	}
	info, err := p.info(about.words)
	if err != nil {
		return discovery.Reply{}, err
	}
	answer, _, err := cutAnswer(rest)
	switch {
	case err != nil:
		return discovery.Reply{}, err
	case answer == nil && len(rest) == 0:
		return discovery.Reply{Info: info, Challenge: versionNext}, nil
	case answer == nil:
		return discovery.Reply{Incomplete: true}, nil
	}
	if words := answer.words; len(words) > 2 && string(words[0]) == "OK" {
		info.Version = packet.Text(words[2])
	}
	return discovery.Reply{Info: info, Nonce: answer.nonce(), NonceBits: nonceBits, Echoed: true}, nil
}

// Roll returns the protocol that asks for the players.
func (p Protocol) Roll() discovery.Protocol { return roll{p} }

type roll struct{ Protocol }

func (roll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return appendPacket(b, number(nonce), "listPlayers", "all")
}

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	answer, _, err := cutAnswer(bytes.Join(datagrams, nil))
	if err != nil || answer == nil {
		return discovery.Reply{Incomplete: err == nil}, err
	}
	roster, err := parsePlayers(answer.words)
	if err != nil {
		return discovery.Reply{}, err
	}
	info := &discovery.Info{Roster: roster}
	return discovery.Reply{Info: info, Nonce: answer.nonce(), NonceBits: nonceBits, Echoed: true}, nil
}

// answer is a packet that answers a question.
type answer struct {
	number uint32
	words  [][]byte
}

func number(nonce discovery.Nonce) uint32 { return uint32(nonce) & (1<<nonceBits - 1) }

func (a *answer) nonce() discovery.Nonce { return discovery.Nonce(a.number & (1<<nonceBits - 1)) }

// cutAnswer returns the first answer, and the bytes after it; nil while it is incomplete.
// It skips the server's own messages.
func cutAnswer(b []byte) (*answer, []byte, error) {
	for len(b) >= headLen {
		a := &answer{number: binary.LittleEndian.Uint32(b)}
		size, count := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		switch {
		case size < headLen || size > maxPacket:
			return nil, nil, malformed("a packet of %d bytes", size)
		case count > maxWords:
			return nil, nil, malformed("a packet of %d words", count)
		case uint64(len(b)) < uint64(size):
			return nil, nil, nil
		}
		r := packet.Reader{Rest: b[headLen:size]}
		b = b[size:]
		if a.number>>nonceBits != isAnswer>>nonceBits {
			continue
		}
		for range count {
			length := binary.LittleEndian.Uint32(r.Take(4))
			if uint64(length) >= uint64(len(r.Rest)) {
				return nil, nil, malformed("a word cut short")
			}
			a.words = append(a.words, r.Take(int(length)))
			r.Octet()
		}
		return a, b, nil
	}
	return nil, nil, nil
}

// malformed returns an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("frostbite: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}

// These are the indexes of words. The later ones count from the end of the teams' scores.
const (
	nameAt, playersAt, seatsAt, modeAt, mapAt, teamsAt, scoresAt = 1, 2, 3, 4, 5, 8, 9
	passwordAt, addressAt, classicAddressAt                      = 4, 7, 9
	maxTeams                                                     = 16
)

// info returns what the answer to serverInfo tells.
func (p Protocol) info(words [][]byte) (*discovery.Info, error) {
	if len(words) < scoresAt || string(words[0]) != "OK" {
		return nil, malformed("no server's description")
	}
	info := &discovery.Info{
		Name:       packet.Text(words[nameAt]),
		Map:        packet.Text(bytes.TrimPrefix(words[mapAt], []byte("Levels/"))),
		Mode:       packet.Text(words[modeAt]),
		Players:    packet.ParseCount(string(words[playersAt])),
		MaxPlayers: packet.ParseCount(string(words[seatsAt])),
	}
	teams := packet.ParseNumber(string(words[teamsAt]))
	if teams > maxTeams || scoresAt+teams > len(words) {
		return nil, malformed("%d teams", teams)
	}
	rest := words[scoresAt+teams:]
	if len(rest) > passwordAt {
		info.Password = string(rest[passwordAt]) == "true"
	}
	for _, at := range []int{addressAt, classicAddressAt} {
		if p.Above == 0 && info.GamePort == 0 && len(rest) > at {
			_, port, _ := strings.Cut(string(rest[at]), ":")
			n, _ := strconv.ParseUint(port, 10, 16)
			info.GamePort = uint16(n)
		}
	}
	return info, nil
}

// parsePlayers reads the answer to listPlayers: how many columns there are, their names,
// how many players, and each player's values.
func parsePlayers(words [][]byte) (*discovery.Roster, error) {
	const columnsAt = 2
	if len(words) < columnsAt || string(words[0]) != "OK" {
		return nil, malformed("no list of players")
	}
	columns := packet.ParseNumber(string(words[1]))
	if columns == 0 || columns > len(words)-columnsAt-1 {
		return nil, malformed("%d columns", columns)
	}
	names, values := words[columnsAt:columnsAt+columns], words[columnsAt+columns+1:]
	roster := &discovery.Roster{}
	for len(values) >= columns && len(roster.Players) < maxPlayers {
		var p discovery.Player
		for i, name := range names {
			value := values[i]
			n, _ := strconv.ParseInt(string(value), 10, 32) // anything but a number is 0
			switch string(name) {
			case "name":
				p.Name = packet.Text(value)
			case "score":
				p.Score = int(n)
			case "ping":
				if n != unknownPing {
					p.Ping = packet.Ping(int(n))
				}
			}
		}
		roster.Players = append(roster.Players, p)
		values = values[columns:]
	}
	return roster, nil
}

func appendPacket(b []byte, number uint32, words ...string) []byte {
	size := headLen
	for _, word := range words {
		size += 4 + len(word) + 1
	}
	for _, n := range []uint32{number, uint32(size), uint32(len(words))} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	for _, word := range words {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(word)))
		b = append(append(b, word...), 0)
	}
	return b
}

// Answer returns the next bytes of a server in Muster's fleet, after all that it received
// on a connection and all that it sent before.
func Answer(heard []byte, before int, info discovery.Info) []byte {
	var all []byte
	for len(heard) >= headLen {
		size := binary.LittleEndian.Uint32(heard[4:])
		if size < headLen || uint64(size) > uint64(len(heard)) {
			break
		}
		answers := binary.LittleEndian.Uint32(heard) | isAnswer
		switch word := heard[headLen:size]; {
		case bytes.Contains(word, []byte("serverInfo")):
			all = appendPacket(all, answers, "OK", info.Name, strconv.Itoa(info.Players), strconv.Itoa(info.MaxPlayers), info.Mode, info.Map,
				"0", "1", "2", "100", "100", "0", "", "true", "true", strconv.FormatBool(info.Password), "100", "50")
		case bytes.Contains(word, []byte("version")):
			all = appendPacket(all, answers, "OK", "BF4", info.Version)
		default:
			all = appendPacket(all, answers, "UnknownCommand")
		}
		heard = heard[size:]
	}
	return all[min(before, len(all)):]
}
