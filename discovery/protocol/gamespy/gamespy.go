// Package gamespy speaks the three forms of GameSpy's query protocol. [Protocol] is the
// first, [Second] and [Third] have NUL-terminated texts behind a binary header. Bytes
// in, bytes out: it opens no socket and reads no clock.
//
// Servers of the Unreal engine still answer the first form:
//
//	client                                     server
//	\status\                              ──▶
//	                                      ◀──  \gamename\ut\gamever\469… \hostname\… \queryid\7.1
//	                                      ◀──  \player_0\ann\frags_0\3…              \queryid\7.2\final\
//
//	\status\\echo\0123456789abcdef        ──▶                                        (Unreal's)
//	                                      ◀──  …          \echo\0123456789abcdef     \queryid\8.3\final\
//
// A reply is keys and values, in one packet or several. Here 7 is the reply's number, 1
// and 2 are those of its packets. The last packet has the key final, before or after
// queryid. Programs that never send several packets leave the numbers out, and some
// leave out the first backslash.
//
// The protocol has no place for a nonce, so the sender's address identifies a reply.
// But the Unreal engine's servers return the value of echo, under that key or another
// (echo_reply, echo_replay; ignoring in versions that consider it dangerous). They are
// asked for it, and a reply without it counts by its address, because nobody could test
// all servers. The echo is the last question, so it also ends the reply: some servers
// count more players than they list, and never send the end of the list.
//
// Sources: UdpServerQuery.uc of Unreal Tournament 436 and of its patches, 333networks'
// master server (udpontimeout, replyquery), netPanzer's InfoSocket.cpp, gamedig, and
// packets recorded from netPanzer 0.8.7 (testdata). This package reads GameQ's
// published recordings of Unreal Tournament's, Battlefield 1942's and Medal of Honor's
// servers as GameQ does.
package gamespy

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
	"muster/discovery/protocol/quake3"
)

// Protocol asks servers. It is a [discovery.Aside].
type Protocol struct {
	// Above is how far the query port is above the players' port. If it is 0, the
	// servers tell the port for players.
	Above uint16
	// Echo asks for the nonce, too, as the Unreal engine's servers allow.
	Echo bool
}

const (
	ask  = `\status\`
	echo = `\echo\`
	// nonceDigits is the length of a nonce in hexadecimal digits.
	nonceDigits = 16
)

// AppendQuery appends the datagram that asks a server about itself.
func (p Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	if b = append(b, ask...); p.Echo {
		b = fmt.Appendf(b, echo+"%0*x", nonceDigits, uint64(nonce))
	}
	return b
}

// QueryPort returns the port at which the server is asked.
func (p Protocol) QueryPort(port uint16) uint16 { return packet.Above(port, p.Above) }

var (
	errNoReply = fmt.Errorf("gamespy: %w: no keys and values of a server", discovery.ErrMalformed)
	errNobody  = fmt.Errorf("gamespy: %w: an answer that tells nothing of a server", discovery.ErrMalformed)
)

// Parse assembles the newest complete reply. It names the answered query only if there
// are no other datagrams. Otherwise the oldest of them may belong to another reply, and
// this reply's time is unknown.
func (p Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, _, err := p.parse(datagrams)
	return reply, err
}

// Roll returns the protocol that sends the same question, and reads the players.
func (p Protocol) Roll() discovery.Protocol { return roll{p} }

type roll struct{ Protocol }

func (r roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	answer, whole, err := r.parse(datagrams)
	if answer.Info != nil {
		answer.Info.Roster = whole.roster()
	}
	return answer, err
}

// parse returns what a reply says about the server, and the reply.
func (p Protocol) parse(datagrams [][]byte) (discovery.Reply, reply, error) {
	var parts []part
	for _, d := range datagrams {
		if part, ok := readPart(d); ok {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 && len(datagrams) > 0 {
		return discovery.Reply{}, nil, errNoReply
	}
	for _, newest := range slices.Backward(parts) {
		whole := assemble(parts, newest.reply)
		if whole == nil {
			continue
		}
		info, tells := whole.info()
		if !tells {
			return discovery.Reply{}, nil, errNobody
		}
		if p.Above != 0 {
			info.GamePort = 0 // players connect where the list says
		}
		reply := discovery.Reply{Info: info}
		if nonce, ok := whole.nonce(); ok && len(whole) == len(datagrams) {
			reply.Nonce, reply.Echoed = nonce, true
		}
		return reply, whole, nil
	}
	return discovery.Reply{Incomplete: true}, nil, nil
}

// part is a packet of a reply, with the number of the reply and its own. Both are 0 if
// the server does not count.
type part struct {
	reply  string
	number int
	last   bool
	body   []byte
}

// readPart reads a packet if it has keys and values.
func readPart(d []byte) (p part, ok bool) {
	p.body = bytes.TrimRight(d, "\x00\r\n")
	if p.last = bytes.HasSuffix(p.body, []byte(`\final`)); p.last {
		ok = true
	}
	for key, value := range quake3.Pairs(p.body) {
		ok = true
		switch string(key) {
		case "queryid":
			reply, number, _ := strings.Cut(string(value), ".")
			p.reply = reply
			p.number, _ = strconv.Atoi(number)
		case "final":
			p.last = true
		}
	}
	return p, ok
}

// reply is all packets of one reply, in the order of their arrival.
type reply []part

// assemble returns the reply with a number if it is complete, else nil. If a packet came twice, the
// first counts.
func assemble(parts []part, number string) reply {
	var r reply
	length := -1 // not known
	for _, p := range parts {
		if p.reply != number || p.number != 0 && slices.ContainsFunc(r, func(q part) bool { return q.number == p.number }) {
			continue
		}
		if r = append(r, p); p.last {
			length = p.number
		}
	}
	if length < 0 || length > len(r) {
		return nil
	}
	for n := range length {
		if !slices.ContainsFunc(r, func(p part) bool { return p.number == n+1 }) {
			return nil
		}
	}
	return r
}

// value returns the value of the first existing key of several in lower case. Earlier
// keys take precedence.
func (r reply) value(keys ...string) string {
	for _, wanted := range keys {
		for _, p := range r {
			for key, value := range quake3.Pairs(p.body) {
				if len(value) > 0 && len(key) == len(wanted) && strings.EqualFold(string(key), wanted) {
					return string(value)
				}
			}
		}
	}
	return ""
}

func (r reply) nonce() (discovery.Nonce, bool) {
	n, err := strconv.ParseUint(r.value("echo", "echo_reply", "echo_replay", "ignoring"), 16, 64)
	return discovery.Nonce(n), err == nil
}

// info returns what a reply tells about its server, if anything.
func (r reply) info() (info *discovery.Info, tells bool) {
	info, tells = infoOf(r.value)
	if r.value("numplayers") == "" {
		info.Players = r.listed()
	}
	return info, tells
}

// infoOf returns what a server's keys tell about it, if anything. value returns the
// value of the first existing key of several.
func infoOf(value func(keys ...string) string) (info *discovery.Info, tells bool) {
	seats := value("maxplayers")
	text := func(keys ...string) string { return packet.Text([]byte(value(keys...))) }
	info = &discovery.Info{
		Name:       text("hostname"),
		Map:        text("mapname", "maptitle", "map"),
		Mode:       text("gametype", "gamestyle"),
		Version:    text("gamever", "gameversion", "version"),
		Protocol:   packet.ParseNumber(value("protocol")),
		Mod:        text("activemod"),
		Players:    packet.ParseCount(value("numplayers")),
		MaxPlayers: packet.ParseCount(seats),
		Password:   isSet(value("password")),
	}
	if oldest := packet.ParseNumber(value("minnetver")); oldest > 0 { // the Unreal engine's version is its protocol's
		info.Protocol = packet.ParseNumber(value("gamever"))
		if oldest < info.Protocol {
			info.OldestProtocol = oldest
		}
	}
	if port, err := strconv.ParseUint(value("hostport"), 10, 16); err == nil {
		info.GamePort = uint16(port)
	}
	return info, info.Name != "" || info.Map != "" || seats != ""
}

func isSet(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "n", "no", "false":
		return false
	}
	return true
}

// ofPlayers yields the keys and values of players. A key has a word and the player's number.
func (r reply) ofPlayers() iter.Seq2[playersKey, []byte] {
	return func(yield func(playersKey, []byte) bool) {
		for _, p := range r {
			for key, value := range quake3.Pairs(p.body) {
				word, place, _ := strings.Cut(strings.ToLower(string(key)), "_")
				if n, err := strconv.ParseUint(place, 10, 16); err == nil && !yield(playersKey{word, uint16(n)}, value) {
					return
				}
			}
		}
	}
}

type playersKey struct {
	word  string
	place uint16
}

// names reports whether the key's value is a player's name.
func (k playersKey) names() bool { return k.word == "player" || k.word == "playername" }

// listed returns how many players are listed by name.
func (r reply) listed() (n int) {
	for key := range r.ofPlayers() {
		if key.names() {
			n++
		}
	}
	return n
}

// maxPlayers is more than any of these games has seats for.
const maxPlayers = 1024

// roster returns the players, in the order of their names in the reply.
func (r reply) roster() *discovery.Roster {
	roster := &discovery.Roster{}
	at := map[uint16]int{}
	for key, value := range r.ofPlayers() {
		if _, is := at[key.place]; key.names() && !is && len(roster.Players) < maxPlayers {
			at[key.place] = len(roster.Players)
			roster.Players = append(roster.Players, discovery.Player{Name: packet.Text(value)})
		}
	}
	for key, value := range r.ofPlayers() {
		if i, is := at[key.place]; is {
			tell(&roster.Players[i], key.word, string(value))
		}
	}
	return roster
}

// tell sets the fact about a player that belongs to a key's word.
func tell(player *discovery.Player, word, value string) {
	n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 32) // anything but a number is 0
	switch word {
	case "frags", "score", "kills":
		player.Score = int(n)
	case "ping":
		player.Ping = packet.Ping(int(n))
	}
}

// packetSize is the size of Unreal Tournament's packets, in bytes.
const packetSize = 1000

// Answer returns the answer of a server in Muster's fleet to a request, in Unreal
// Tournament's form: one packet, or several. Players are their names; players connect
// at a port.
func Answer(request []byte, info discovery.Info, players []string, port uint16) [][]byte {
	var parts []string
	for key, rest := range quake3.Pairs(request) {
		all := string(key) == "status"
		if all || string(key) == "basic" {
			parts = append(parts, fmt.Sprintf(`\gamename\ut\gamever\%s\minnetver\432\location\0`, value(info.Version)))
		}
		if all || string(key) == "info" {
			parts = append(parts, fmt.Sprintf(`\hostname\%s\hostport\%d\mapname\%s\gametype\%s\numplayers\%d\maxplayers\%d\gamemode\openplaying`,
				value(info.Name), port, value(info.Map), value(info.Mode), info.Players, info.MaxPlayers))
		}
		if all || string(key) == "rules" {
			parts = append(parts, fmt.Sprintf(`\timelimit\20\password\%t`, info.Password))
		}
		if all || string(key) == "players" {
			for i, name := range players {
				parts = append(parts, fmt.Sprintf(`\player_%[1]d\%[2]s\frags_%[1]d\0\ping_%[1]d\ 50\team_%[1]d\255`, i, value(name)))
			}
		}
		if string(key) == "echo" {
			parts = append(parts, `\echo\`+value(string(rest)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	var answer [][]byte
	var b []byte
	end := func(format string) {
		b = fmt.Appendf(b, format, replyNumber(request), len(answer)+1)
		answer, b = append(answer, b), nil
	}
	for _, part := range parts {
		if len(b) > 0 && len(b)+len(part) > packetSize {
			end(`\queryid\%d.%d`)
		}
		b = append(b, part...)
	}
	end(`\queryid\%d.%d\final\`)
	return answer
}

// replyNumber numbers the replies to one asker; servers count from 1 to 100.
func replyNumber(request []byte) (n int) {
	for _, c := range request {
		n = (31*n + int(c)) % 100
	}
	return n + 1
}

// value returns a text without backslashes, which would end it.
func value(text string) string { return strings.ReplaceAll(text, `\`, "") }
