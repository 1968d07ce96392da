package sauerbraten

import (
	"bytes"
	"encoding/binary"
	"slices"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Roll returns the protocol that asks for the players. Their numbers come first, and
// then a datagram for each player with the name.
//
//	00 01 FF  nonce[8]    ──▶
//	                      ◀──  00 01 FF  nonce[8]  FF 69 00  F6  numbers
//	                      ◀──  00 01 FF  nonce[8]  FF 69 00  F5  number  ping  name 00  team 00  frags  …
//
// Source: Sauerbraten's fpsgame/extinfo.h, and packets recorded from Debian's
// cube2-server (testdata).
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{ Protocol }

const (
	askPlayers = "\x00\x01\xff"
	// taken comes before the requested data: acknowledged, the version of this part of
	// the protocol, and no error.
	taken              = "\xff\x69\x00"
	numbersOf, statsOf = -10, -11
	rollLen            = len(askPlayers) + nonceLen
	// maxPlayers is more than a server has seats for.
	maxPlayers = 256
)

func (roll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, askPlayers...), uint64(nonce))
}

// Parse assembles the newest complete list.
func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, isReply := discovery.Reply{Incomplete: true}, len(datagrams) == 0
	for _, b := range slices.Backward(datagrams) {
		nonce, r, ok := readRoll(b)
		isReply = isReply || ok
		if !ok || r.number() != numbersOf {
			continue
		}
		roster := &discovery.Roster{}
		isWhole := true
		for len(r.Rest) > 0 && !r.Short && len(roster.Players) < maxPlayers {
			player, ok := playerOf(datagrams, nonce, r.number())
			isWhole = isWhole && ok
			roster.Players = append(roster.Players, player)
		}
		if isWhole {
			return discovery.Reply{Nonce: nonce, Echoed: true, Info: &discovery.Info{Roster: roster}}, nil
		}
	}
	if !isReply {
		return discovery.Reply{}, errNoReply
	}
	return reply, nil
}

// readRoll returns a datagram's contents, and the nonce of its question.
func readRoll(b []byte) (nonce discovery.Nonce, r reader, ok bool) {
	if len(b) < rollLen || string(b[:len(askPlayers)]) != askPlayers {
		return 0, r, false
	}
	rest, ok := bytes.CutPrefix(b[rollLen:], []byte(taken))
	return discovery.Nonce(binary.BigEndian.Uint64(b[len(askPlayers):])), reader{packet.Reader{Rest: rest}}, ok
}

// playerOf returns the player of that number, if one of the datagrams has it.
func playerOf(datagrams [][]byte, nonce discovery.Nonce, number int) (discovery.Player, bool) {
	for _, b := range datagrams {
		to, r, ok := readRoll(b)
		if !ok || to != nonce || r.number() != statsOf || r.number() != number {
			continue
		}
		ping := r.number()
		p := discovery.Player{Ping: packet.Ping(ping), Name: r.text()}
		r.text() // team
		if p.Score = r.number(); !r.Short {
			return p, true
		}
	}
	return discovery.Player{}, false
}
