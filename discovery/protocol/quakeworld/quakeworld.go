// Package quakeworld speaks the connectionless protocols of QuakeWorld and of Quake II
// and its kin, which differ in two words and in the keys of their variables. Bytes in,
// bytes out: it opens no socket and reads no clock.
//
//	client                                server
//	FF FF FF FF "status 23" LF       ──▶
//	                                 ◀──  FF FF FF FF "n" \key\value… LF
//	                                      id SP frags SP minutes SP ping SP "name" SP "skin" SP top SP bottom SP "team" LF …
//
//	FF FF FF FF "status" LF          ──▶                                      (Quake II)
//	                                 ◀──  FF FF FF FF "print" LF \key\value… LF
//	                                      frags SP ping SP "name" LF …
//
// Neither has a place for a nonce: the sender's address identifies a reply. The 23 asks
// for variables (1), players (2), spectators (4) and teams (16), as ezQuake does;
// servers that do not know it ignore it.
//
// Sources: MVDSV's sv_main.c (SVC_Status), Quake II's sv_main.c (SV_StatusString), and
// packets recorded from MVDSV (testdata). This package reads GameQ's published
// recordings of R1Q2's, Q2PRO's and Kingpin's servers as GameQ does.
package quakeworld

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
	"muster/discovery/protocol/quake3"
)

// Protocol asks QuakeWorld's servers. It is a [discovery.Protocol].
type Protocol struct{}

// Quake2 asks the servers of Quake II and its descendants. It is a
// [discovery.Protocol].
type Quake2 struct{}

const (
	oob       = "\xff\xff\xff\xff"
	ask       = oob + "status 23\n"
	ask2      = oob + "status\n"
	reply     = oob + "n"
	reply2    = oob + "print\n"
	statusAsk = oob + "status"
)

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, ask...) }

// AppendQuery appends the datagram that asks a server about itself.
func (Quake2) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, ask2...) }

// Parse reads the newest datagram that is a status. Spectators are not counted, because
// they take no player's seat.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return newest(datagrams, reply, addPlayer, false)
}

// Parse reads the newest datagram that is a status.
func (Quake2) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return newest(datagrams, reply2, addPlayer2, false)
}

// Roll returns the protocol that sends the same question, and reads the players.
func (Protocol) Roll() discovery.Protocol { return roll{} }

// Roll returns the protocol that sends the same question, and reads the players.
func (Quake2) Roll() discovery.Protocol { return roll2{} }

type roll struct{ Protocol }

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return newest(datagrams, reply, addPlayer, true)
}

type roll2 struct{ Quake2 }

func (roll2) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return newest(datagrams, reply2, addPlayer2, true)
}

// newest reads the newest datagram with that head, with a roster if requested.
func newest(datagrams [][]byte, head string, add func(*discovery.Info, []byte), withRoster bool) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoStatus, func(b []byte) (reply discovery.Reply, ok bool) {
		body, ok := bytes.CutPrefix(b, []byte(head))
		if !ok || !bytes.Contains(body, []byte(`\`)) {
			return reply, false
		}
		return discovery.Reply{Info: parse(body, add, withRoster)}, true
	})
}

// errNoStatus is made once, because anyone can trigger it.
var errNoStatus = fmt.Errorf("quakeworld: %w: no status", discovery.ErrMalformed)

// parse reads the variables and the players' lines.
func parse(body []byte, add func(*discovery.Info, []byte), withRoster bool) *discovery.Info {
	line, lines, _ := bytes.Cut(body, []byte("\n"))
	values := map[string]string{}
	for key, value := range quake3.Pairs(bytes.TrimRight(line, "\x00\r ")) {
		if name := strings.ToLower(string(key)); wanted[name] {
			if _, twice := values[name]; !twice {
				values[name] = readable(value)
			}
		}
	}
	first := func(keys ...string) string {
		for _, key := range keys {
			if values[key] != "" {
				return values[key]
			}
		}
		return ""
	}
	info := &discovery.Info{
		Name:       first("hostname"),
		Map:        first("map", "mapname"),
		Mode:       first("mode", "*gamedir", "gamedir", "game", "gamename"),
		Version:    first("*version", "version"),
		Protocol:   packet.ParseNumber(first("protocol")),
		Mod:        first("*gamedir", "gamedir", "game"),
		MaxPlayers: packet.ParseCount(first("maxclients")),
		Password:   packet.ParseCount(first("needpass", "g_needpass"))&1 != 0, // 2: spectators need one
	}
	if withRoster {
		info.Roster = &discovery.Roster{}
	}
	for line := range bytes.Lines(lines) {
		if info.Players < maxPlayers {
			add(info, line)
		}
	}
	return info
}

// wanted are the variables that Muster reads: QuakeWorld's and KTX's, then Quake II's.
var wanted = map[string]bool{
	"hostname": true, "map": true, "mode": true, "*gamedir": true, "*version": true, "maxclients": true, "needpass": true,
	"mapname": true, "gamedir": true, "game": true, "gamename": true, "version": true, "g_needpass": true,
	"protocol": true,
}

// maxPlayers is more than any of these games has seats for.
const maxPlayers = 1024

// addPlayer counts a line of QuakeWorld's: id, frags, minutes, ping, "name" and more.
// Spectators have S for frags, or a ping below 0.
func addPlayer(info *discovery.Info, line []byte) {
	before, name, quoted := bytes.Cut(line, []byte(`"`))
	words := bytes.Fields(before)
	if !quoted || len(words) < 4 || words[3][0] == '-' || string(words[1]) == "S" {
		return
	}
	info.Players++
	enrol(info.Roster, name, words[1], words[3])
}

// addPlayer2 counts a line of Quake II's: frags, ping, "name" and more. As with
// gamedig, a player without ping is a bot.
func addPlayer2(info *discovery.Info, line []byte) {
	before, name, quoted := bytes.Cut(line, []byte(`"`))
	words := bytes.Fields(before)
	if !quoted || len(words) < 2 {
		return
	}
	info.Players++
	if string(words[1]) == "0" {
		info.Bots++
	}
	enrol(info.Roster, name, words[0], words[1])
}

// enrol adds a player to the roster, if there is one. The name ends with its quote.
func enrol(roster *discovery.Roster, name, frags, ping []byte) {
	if roster == nil {
		return
	}
	name, _, _ = bytes.Cut(name, []byte(`"`))
	score, _ := strconv.ParseInt(string(frags), 10, 32) // anything but a number is 0
	roster.Players = append(roster.Players, discovery.Player{
		Name:  readable(name),
		Score: int(score),
		Ping:  packet.Ping(packet.ParseNumber(string(ping))),
	})
}

// glyphs are the characters of Quake's font for ASCII's control characters.
const glyphs = "\x00.....\x00.\x00.\x00.\x00>..[]0123456789.<->"

// readable returns a text in Quake's letters, cleaned for display. Each letter exists
// in two colours, one of them with the high bit. Digits and brackets have a third.
func readable(text []byte) string {
	plain := make([]byte, 0, len(text))
	for _, c := range text {
		if c &= 0x7f; int(c) < len(glyphs) {
			c = glyphs[c]
		}
		plain = append(plain, c)
	}
	return discovery.CleanText(string(plain))
}

// Answer returns the answer of a QuakeWorld server in Muster's fleet to a request, nil
// if the server does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	if !bytes.HasPrefix(request, []byte(statusAsk)) {
		return nil
	}
	b := fmt.Appendf(nil, `%s\*version\%s\*gamedir\%s\maxclients\%d\needpass\%d\hostname\%s\map\%s`+"\n",
		reply, value(info.Version), value(info.Mode), info.MaxPlayers, bit(info.Password), value(info.Name), value(info.Map))
	for i := range info.Players {
		b = fmt.Appendf(b, "%d 0 1 25 \"player%d\" \"base\" 4 4 \"red\"\n", i+1, i+1)
	}
	return append(b, 0)
}

// Answer2 is [Answer] for a Quake II server.
func Answer2(request []byte, info discovery.Info) []byte {
	if !bytes.HasPrefix(request, []byte(statusAsk)) {
		return nil
	}
	b := fmt.Appendf(nil, `%s\version\%s\gamename\%s\maxclients\%d\needpass\%d\hostname\%s\mapname\%s`+"\n",
		reply2, value(info.Version), value(info.Mode), info.MaxPlayers, bit(info.Password), value(info.Name), value(info.Map))
	for i := range info.Players {
		ping := 25
		if i >= info.Players-info.Bots {
			ping = 0
		}
		b = fmt.Appendf(b, "0 %d \"player%d\"\n", ping, i+1)
	}
	return b
}

// value returns a text without the characters that separate the parts of an info string.
func value(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`\";`, r) {
			return -1
		}
		return r
	}, text)
}

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}
