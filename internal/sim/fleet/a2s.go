package fleet

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"

	"muster/discovery"
	"muster/discovery/a2s"
)

// a2sSpeaker answers as a server of the Source engine does.
type a2sSpeaker struct {
	seed uint64
	// open servers tell about themselves without a challenge.
	open bool
}

// splitSize is how much of a long reply Source servers put into a datagram.
const splitSize = 1248

func (a a2sSpeaker) answer(s speech) [][]byte {
	r, err := a2s.ParseRequest(s.request)
	if err != nil {
		return nil
	}
	b := make([]byte, 0, replySize)
	demand := a.challenge(s.server, s.from)
	if !bytes.Equal(r.Challenge, demand[:]) && (r.Kind != a2s.Info || !a.open) {
		return [][]byte{a2s.AppendChallenge(b, demand)}
	}
	switch r.Kind {
	case a2s.Info:
		b = a2s.AppendInfo(b, *s.info)
	case a2s.Players:
		b = a2s.AppendPlayers(b, a.players(s.server, s.info))
	case a2s.Rules:
		b = a2s.AppendRules(b, rulesOf(s.info))
	}
	return slices.Collect(a2s.SplitSource(b, binary.LittleEndian.Uint32(demand[:]), splitSize))
}

// challenge is what an asker has to show: its own for each server, address and
// port, and never the four bytes that stand for none.
func (a a2sSpeaker) challenge(server int, from netip.AddrPort) [4]byte {
	h := fnv.New64a()
	b := binary.BigEndian.AppendUint64(nil, a.seed)
	b = binary.BigEndian.AppendUint64(b, uint64(server))
	addr := from.Addr().As16()
	b = binary.BigEndian.AppendUint16(append(b, addr[:]...), from.Port())
	_, _ = h.Write(b)
	sum := h.Sum64()
	return [4]byte{byte(sum), byte(sum >> 16), byte(sum >> 32), byte(sum>>48) &^ 0x80}
}

func (a a2sSpeaker) players(server int, info *discovery.Info) []a2s.Player {
	var players []a2s.Player
	for c := range castOf(a.seed, server, info) {
		players = append(players, a2s.Player{Name: c.name, Score: int32(c.score), Connected: c.connected})
	}
	return players
}

// rulesOf are some of a server's public variables.
func rulesOf(info *discovery.Info) []a2s.Rule {
	password := "0"
	if info.Password {
		password = "1"
	}
	return []a2s.Rule{
		{Name: "deathmatch", Value: "1"}, {Name: "mp_friendlyfire", Value: "0"}, {Name: "mp_timelimit", Value: "20"},
		{Name: "sv_cheats", Value: "0"}, {Name: "sv_gravity", Value: "800"}, {Name: "sv_password", Value: password},
		{Name: "sv_visiblemaxplayers", Value: strconv.Itoa(info.MaxPlayers)},
	}
}
