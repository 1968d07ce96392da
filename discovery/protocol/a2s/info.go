package a2s

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"muster/discovery"
	"muster/discovery/internal/charset"
	"muster/discovery/internal/packet"
)

// Applications with special replies.
const (
	theShip      = 2400
	rust         = 252490
	sevenDaysApp = 251570
)

// A server of 7 Days to Die names a port this far above the one that players type: the
// socket of the game's traffic, 26902 for 26900. Neither the game nor Steam connects
// there. Seen in packets of three servers (GameQ's tests), and in GameQ#564.
const sevenDaysAbove = 2

const (
	// theShipRules is the number of bytes for mode, witnesses and duration in The Ship.
	theShipRules = 3
	// rustKey is the length of the keys among a Rust server's keywords.
	rustKey = 2
	// aboutMod is the number of GoldSrc's bytes about a mod after its texts:
	// version[4], size[4], for several players[1], own library[1].
	aboutMod = 10
	// proxy is the type of a server that only shows another one's game: HLTV.
	proxy, lowerCase = 'p', 0x20
	// proxyTag marks such a server, so that a group can leave it out.
	proxyTag = "hltv"
	// wideCounts is the number of bytes for a proxy's counts that do not fit a byte.
	wideCounts = 4 + 4
)

// parseInfo reads today's reply to [Info], without header and kind:
//
//	protocol[1] name map folder game app[2] players[1] max[1] bots[1]
//	type[1] system[1] password[1] secure[1] version [flags[1] extra…]
func parseInfo(b []byte) (*discovery.Info, error) {
	r := reader{packet.Reader{Rest: b}}
	info := new(discovery.Info)
	r.Octet() // protocol
	info.Name, info.Map, info.Mode = r.Text(), r.Text(), r.Text()
	info.Mod = info.Mode // the game's folder: a mod has one of its own
	r.Bytes()            // game, in words
	info.AppID = uint64(r.u16())
	info.Players, info.MaxPlayers, info.Bots = int(r.Octet()), int(r.Octet()), int(r.Octet())
	r.Octet() // type
	r.Octet() // system
	info.Password = r.flag()
	r.Octet() // secure
	if info.AppID == theShip {
		r.Take(theShipRules)
	}
	info.Version = r.Text()
	if r.Short {
		return nil, malformed("information cut short")
	}
	parseExtra(&r, info)
	return info, nil
}

// parseExtra reads the fields that flags announce, in the order of the flags here.
// Servers may leave them out, or cut them short: then nothing is set.
func parseExtra(r *reader, info *discovery.Info) {
	flags := r.Octet()
	if flags&hasGamePort != 0 {
		info.GamePort = r.u16()
	}
	if flags&hasSteamID != 0 {
		r.u64()
	}
	if flags&hasTV != 0 {
		r.u16()
		r.Bytes()
	}
	var keywords []byte
	if flags&hasKeywords != 0 {
		keywords = r.Bytes()
		info.Tags = discovery.TagsOf(charset.UTF8(string(keywords)))
	}
	if flags&hasGameID != 0 {
		// The field before has room for 16 bits of the application's 24.
		if app := r.u64() & appMask; app != 0 {
			info.AppID = app
		}
	}
	switch {
	case info.AppID == rust:
		applyRustCounts(keywords, info)
	case info.AppID == sevenDaysApp && info.GamePort > sevenDaysAbove:
		info.GamePort -= sevenDaysAbove
	}
}

// applyRustCounts takes the true numbers out of a Rust server's keywords, as in
// "mp300,cp281,qp0": the fields for them end at 255.
func applyRustCounts(keywords []byte, info *discovery.Info) {
	for word := range bytes.SplitSeq(keywords, []byte(",")) {
		if len(word) < rustKey {
			continue
		}
		n, err := strconv.ParseUint(string(word[rustKey:]), 10, 16)
		if err != nil {
			continue
		}
		switch string(word[:rustKey]) {
		case "cp":
			info.Players = int(n)
		case "mp":
			info.MaxPlayers = int(n)
		}
	}
}

// parseGoldSrc reads the reply of old servers of the GoldSrc engine, without header and
// kind:
//
//	address name map folder game players[1] max[1] protocol[1]
//	type[1] system[1] password[1] mod[1] [about the mod] secure[1] bots[1]
//
// An HLTV proxy ends before the bots. Or it has the true numbers of its spectators and
// seats there, if they do not fit a byte: spectators[4] seats[4]. (ReHLDS,
// HLTV/Proxy/src/Proxy.cpp)
func parseGoldSrc(b []byte) (*discovery.Info, error) {
	r := reader{packet.Reader{Rest: b}}
	info := new(discovery.Info)
	r.Bytes() // its address, as it believes
	info.Name, info.Map, info.Mode = r.Text(), r.Text(), r.Text()
	info.Mod = info.Mode
	r.Bytes() // game, in words
	info.Players, info.MaxPlayers = int(r.Octet()), int(r.Octet())
	r.Octet() // protocol
	isProxy := r.Octet()|lowerCase == proxy
	r.Octet() // system
	info.Password = r.flag()
	if isMod := r.flag(); isMod {
		r.Bytes() // link to a description
		r.Bytes() // link to a download
		r.Bytes() // the version of Half-Life that it needs, mostly empty
		r.Take(aboutMod)
	}
	r.Octet() // secure
	if r.Short {
		return nil, malformed("information cut short")
	}
	if isProxy {
		info.Tags = proxyTag
	}
	switch {
	case !isProxy:
		info.Bots = int(r.Octet()) // 0 if it is left out
	case len(r.Rest) >= wideCounts:
		info.Players, info.MaxPlayers = packet.Count(int(r.u32())), packet.Count(int(r.u32()))
	}
	return info, nil
}

// reader takes A2S's fields off a packet.
type reader struct{ packet.Reader }

func (r *reader) flag() bool  { return r.Octet() != 0 }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.Take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.Take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.Take(8)) }

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
