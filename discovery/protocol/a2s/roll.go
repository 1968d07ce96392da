package a2s

import (
	"bytes"
	"encoding/binary"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Roll returns the protocol that asks for the players, with A2S_PLAYER.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{}

func (roll) AppendQuery(b []byte, _ discovery.Nonce, challenge []byte) []byte {
	b = append(b, single...)
	b = append(b, Players)
	if challenge == nil {
		return append(b, noChallenge...)
	}
	return append(b, challenge...)
}

// Parse reads the list of players, whole or in pieces, or else the challenge that comes
// before it.
func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) { return parse(datagrams, parseRoll) }

// Unpacks reports whether Parse unpacks one of these datagrams.
func (roll) Unpacks(datagrams [][]byte) bool { return unpacks(datagrams) }

// parseRoll reads a packet without its header.
func parseRoll(packet []byte) (discovery.Reply, error) {
	switch {
	case len(packet) > challengeLen && packet[0] == kindChallenge:
		return discovery.Reply{Challenge: bytes.Clone(packet[1 : 1+challengeLen])}, nil
	case len(packet) > 1 && packet[0] == kindPlayers:
		return discovery.Reply{Info: &discovery.Info{Roster: parsePlayers(packet[1:])}}, nil
	}
	return discovery.Reply{}, malformed("no list of players")
}

// lineRest is the length of a line after the name: score and time.
const lineRest = 4 + 4

// parsePlayers reads lines until they are cut off: servers claim more players than they
// list. Players who are still connecting have no name.
func parsePlayers(b []byte) *discovery.Roster {
	roster := &discovery.Roster{}
	lines := b[1:] // the count goes before
	for len(lines) > 0 {
		name, rest, whole := bytes.Cut(lines[1:], []byte{0})
		if !whole || len(rest) < lineRest {
			break
		}
		if text := packet.Text(name); text != "" {
			roster.Players = append(roster.Players, discovery.Player{Name: text, Score: int(int32(binary.LittleEndian.Uint32(rest)))})
		}
		lines = rest[lineRest:]
	}
	return roster
}
