// Package doom3 asks the servers of Doom 3, and of the games on its engine: Quake 4, Prey,
// and Enemy Territory: Quake Wars. Bytes in, bytes out: it opens no socket and reads no
// clock.
//
//	client                                    server
//	FF FF  getInfo 00  challenge[4]      ──▶
//	                                     ◀──  FF FF  infoResponse 00  challenge[4]  version[4]  [size[4]]
//	                                          key 00 value 00  …  00 00
//	                                          player[1] ping[2] rate[4] name 00  …  20
//	                                          systems[4]  …
//
// Numbers have their lowest byte first; a version is a minor[2] and a major[2]. The server
// returns the challenge, so it is the query's nonce. Quake Wars returns another four bytes
// of the question before it, so questions have the challenge twice. Quake Wars also says
// how long the rest is.
//
// A player has more fields in some games: Quake 4 adds the clan; Quake Wars has no rate
// since 10.20, adds the clan's place and the clan since 10.17, and ends with a flag for
// bots. Quake 4's and Quake Wars' servers append more after the systems.
//
// Sources: AsyncServer.cpp and BitMsg.cpp of Doom 3's source, QStat's doom3.c, gamedig's
// doom3.js. This package reads GameQ's published recordings of Doom 3's and Quake 4's
// servers as GameQ does; those of Quake Wars answer another question.
package doom3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Roll].
type Protocol struct{}

const (
	ask          = "\xff\xffgetInfo\x00"
	answers      = "\xff\xffinfoResponse\x00"
	challengeLen = 4
	// lastPlayer is the number after the last player's.
	lastPlayer = 32
	// systemsLen is the length of the field after the players, maxAfter more than any
	// game appends there.
	systemsLen, maxAfter = 4, 64
)

// AppendQuery appends the datagram that asks a server about itself and its players.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, ask...)
	b = binary.LittleEndian.AppendUint32(b, uint32(nonce))
	return binary.LittleEndian.AppendUint32(b, uint32(nonce))
}

var errNoReply = fmt.Errorf("doom3: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, false)
}

// Roll returns the protocol that sends the same question and also reads the players.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{ Protocol }

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) { return parse(datagrams, true) }

func parse(datagrams [][]byte, withRoster bool) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		r := reader{packet.Reader{Rest: b}}
		if string(r.Take(len(answers))) != answers {
			return reply, false
		}
		challenge := r.long()
		if next := r.Rest; len(next) >= challengeLen && binary.LittleEndian.Uint32(next) == challenge {
			r.long()
		}
		v := version(r.long())
		if next := r.Rest; len(next) >= 4 && next[2] == 0 && next[3] == 0 && (next[0] != 0 || next[1] != 0) {
			r.long() // the size: no key is so short
		}
		info := r.variables(v)
		if r.Short {
			return reply, false
		}
		players, known := readPlayers(r.Rest, v)
		if known {
			info.Players = len(players)
		} else {
			info.MaxPlayers = 0 // nobody would be on the server otherwise
		}
		roster := &discovery.Roster{}
		for _, p := range players {
			if p.isBot {
				info.Bots++
			}
			roster.Players = append(roster.Players, p.Player)
		}
		if withRoster {
			info.Roster = roster
		}
		return discovery.Reply{Nonce: discovery.Nonce(challenge), NonceBits: 8 * challengeLen, Echoed: true, Info: info}, true
	})
}

// version is the version of the game's protocol.
type version uint32

// made returns a version with these numbers.
func made(major, minor uint32) version { return version(major<<16 | minor) }

// thirdParty is the bit that Quake 4's protocol has outside of id Software's own build.
const thirdParty version = 1 << 31

func (v version) major() uint32 { return uint32(v&^thirdParty) >> 16 }

func (v version) isQuake4() bool { return v.major() == 2 }

// variables reads the keys and values.
func (r *reader) variables(v version) *discovery.Info {
	info := &discovery.Info{Protocol: int(v &^ thirdParty)}
	for {
		key, value := strings.ToLower(string(r.Bytes())), r.Bytes()
		if r.Short || key == "" {
			return info
		}
		switch key {
		case "si_name":
			info.Name = v.cleanName(value)
		case "si_map":
			name := strings.TrimSuffix(strings.TrimPrefix(string(value), "maps/"), ".entities")
			info.Map = packet.Text([]byte(name))
		case "si_gametype", "si_rules":
			info.Mode = packet.Text(bytes.TrimPrefix(value, []byte("sdGameRules")))
		case "si_version":
			info.Version = shortVersion(value)
		case "si_maxplayers":
			info.MaxPlayers = packet.ParseCount(string(value))
		case "si_usepass", "si_needpass":
			info.Password = info.Password || packet.ParseNumber(string(value)) != 0
		case "fs_game":
			if info.Mod = packet.Text(value); info.Mod == "base" || info.Mod == "q4mp" {
				info.Mod = "" // the games' own folders
			}
		}
	}
}

// shortVersion returns the words up to the first with a number in it. The system and the
// date of the build follow: "DOOM 1.3.1.1304 linux-x86 Jan 16 2007 21:53:29".
func shortVersion(value []byte) string {
	words := strings.Fields(packet.Text(value))
	for i, word := range words {
		if strings.ContainsAny(word, "0123456789") && strings.Contains(word, ".") {
			return strings.Join(words[:i+1], " ")
		}
	}
	return strings.Join(words, " ")
}

// cleanName drops colours, and what is not fit to show. A caret and the next character are
// a colour. Quake 4 alone has ^cRGB with three digits, and ^iNAME or ^INAME with three
// letters for a picture.
func (v version) cleanName(name []byte) string {
	var kept []byte
	for len(name) > 0 {
		if name[0] != '^' || len(name) == 1 || name[1] == ' ' {
			kept, name = append(kept, name[0]), name[1:]
			continue
		}
		n := len("^x")
		if v.isQuake4() && strings.IndexByte("cCiI", name[1]) >= 0 && len(name) >= len("^cRGB") {
			n = len("^cRGB")
		}
		name = name[n:]
	}
	return packet.Text(kept)
}

// form is which fields a player has besides ping and name.
type form struct{ rate, clan, clanPlace, flag bool }

var (
	ofDoom3, ofQuake4 = form{rate: true}, form{rate: true, clan: true}
	ofWars            = form{clan: true, clanPlace: true, flag: true}
	ofEarlyWars       = form{rate: true, clan: true, clanPlace: true, flag: true}
	ofFirstWars       = form{rate: true, flag: true}
)

// forms returns the forms of players that servers of a version may use, the most likely
// first.
func (v version) forms() []form {
	switch {
	case v.major() < 2:
		return []form{ofDoom3}
	case v.isQuake4():
		return []form{ofQuake4, ofDoom3}
	case v.major() < 10:
		return []form{ofDoom3, ofQuake4}
	case v >= made(10, 20):
		return []form{ofWars, ofEarlyWars}
	case v >= made(10, 17):
		return []form{ofEarlyWars}
	}
	return []form{ofFirstWars}
}

// player is one of a server's players.
type player struct {
	discovery.Player
	isBot bool
}

// readPlayers reads the list of players. It is unknown if no form of the version fits.
func readPlayers(list []byte, v version) (players []player, known bool) {
	for _, f := range v.forms() {
		if players, known = f.read(list, v); known {
			return players, true
		}
	}
	return nil, false
}

func (f form) read(list []byte, v version) (players []player, fits bool) {
	r := reader{packet.Reader{Rest: list}}
	for next := 0; ; {
		number := int(r.Octet())
		if number == lastPlayer && !r.Short {
			return players, len(r.Rest) >= systemsLen && len(r.Rest) <= maxAfter
		}
		if r.Short || number < next || number > lastPlayer {
			return nil, false
		}
		next = number + 1
		var p player
		p.Ping = packet.Ping(int(binary.LittleEndian.Uint16(r.Take(2))))
		if f.rate {
			r.long()
		}
		p.Name = v.cleanName(r.Bytes())
		if f.clanPlace {
			r.Octet()
		}
		if f.clan {
			r.Bytes()
		}
		if f.flag {
			p.isBot = r.Octet() != 0
		}
		players = append(players, p)
	}
}

// reader takes numbers off a datagram.
type reader struct{ packet.Reader }

func (r *reader) long() uint32 { return binary.LittleEndian.Uint32(r.Take(4)) }

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. It is Doom 3's, and players are their names.
func Answer(request []byte, info discovery.Info, names []string) []byte {
	rest, asks := bytes.CutPrefix(request, []byte(ask))
	if !asks || len(rest) < challengeLen {
		return nil
	}
	b := append([]byte(answers), rest[:challengeLen]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(made(1, 41)))
	password := "0"
	if info.Password {
		password = "1"
	}
	for _, pair := range [][2]string{
		{"si_version", info.Version}, {"si_maxPlayers", fmt.Sprint(info.MaxPlayers)}, {"si_usepass", password},
		{"si_map", info.Map}, {"si_gameType", info.Mode}, {"si_name", info.Name}, {"", ""},
	} {
		b = append(append(b, pair[0]...), 0)
		b = append(append(b, pair[1]...), 0)
	}
	for i, name := range names[:min(len(names), lastPlayer)] {
		b = append(b, byte(i), 0, 0, 0, 0, 0, 0)
		b = append(append(b, name...), 0)
	}
	return append(b, lastPlayer, 0, 0, 0, 0)
}
