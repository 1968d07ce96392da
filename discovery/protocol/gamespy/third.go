package gamespy

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Third is GameSpy's protocol in its third form: Battlefield 2 and 2142, Crysis,
// S.T.A.L.K.E.R., and the query that Minecraft's servers answer if they are told to. It
// is a [discovery.Aside].
//
//	client                                        server
//	FE FD 09 id[4]                           ──▶
//	                                         ◀──  09 id[4] -1234567 0          a challenge
//	FE FD 00 id[4] challenge[4] FF FF FF 01  ──▶
//	                                         ◀──  00 id[4] splitnum 0 00  00 hostname 0 Name 0 … 0
//	                                                                      01 player_ 0 00 ann 0 bob 0 …
//	                                         ◀──  00 id[4] splitnum 0 81  01 player_ 0 01 bobby 0 … 0
//	                                                                      … 02 team_t 0 00 …
//
// The challenge comes in decimal digits and goes back as four bytes, big-endian. 0 means
// that the server wants none, and the question goes without it.
//
// A reply is one packet or several, numbered from 0; the last has the high bit set. A
// packet's sections begin with a byte: 0 for the server's keys, 1 for the players, 2 for
// the teams. A field of the players has a name, the place of its first value, and values
// up to an empty one. Where a packet ends within a field, the next one repeats the field
// and its last value, which may have been cut off: the later one counts.
//
// The id is the asker's, and comes back. Minecraft's servers are said to return only the
// low four bits of each byte, so these carry 16 bits of the nonce.
//
// Sources: the BF2 Technical Information Wiki (bf2tech, GameSpy Protocol, 2018), gamedig,
// GameQ. This package reads GameQ's published recordings of Battlefield 2's and
// Minecraft's servers as GameQ does.
type Third struct {
	// Above is how far the query port is above the players' port. If it is 0, the
	// servers tell the port for players.
	Above uint16
}

const (
	handshake    = 0x09
	challengeLen = 4
	wholeReply   = "\xff\xff\xff\x01"
	splitnum     = "splitnum\x00"
	// geyser stands there in answers of Geyser, which lets Bedrock's players into
	// Minecraft's servers.
	geyser     = "GeyserMC\x00"
	lastPacket = 0x80
	// battlefield2 is the game's name for itself. Its variant is the mod: pr is Project
	// Reality.
	battlefield2 = "battlefield2"
	// levelOfUT3 is the key of the map in Unreal Tournament 3. Its mapname is a list of
	// settings instead.
	levelOfUT3 = "p1073741825"
	// nibbles is how many half bytes of the id carry the nonce.
	nibbles = 4
)

// The first byte of a section.
const (
	ofServer  = 0
	ofPlayers = 1
	ofTeams   = 2
)

var errNoThird = fmt.Errorf("gamespy: %w: neither a challenge nor a part of a reply", discovery.ErrMalformed)

// AppendQuery appends a datagram. Without a challenge, it asks for one. With a challenge, it asks a
// server about itself and its players.
func (Third) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	kind := byte(handshake)
	if len(challenge) > 0 {
		kind = question
	}
	b = append(append(b, magic...), kind)
	for i := nibbles - 1; i >= 0; i-- {
		b = append(b, byte(nonce>>(4*i))&0x0f)
	}
	if len(challenge) == 0 {
		return b
	}
	if string(challenge) != "\x00\x00\x00\x00" {
		b = append(b, challenge...)
	}
	return append(b, wholeReply...)
}

// QueryPort returns the port at which the server is asked.
func (t Third) QueryPort(port uint16) uint16 { return packet.Above(port, t.Above) }

// Parse assembles the newest complete reply, or reads the challenge before it.
func (t Third) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, _, err := t.parse(datagrams)
	return reply, err
}

// Roll returns the protocol that sends the same question, and reads the players.
func (t Third) Roll() discovery.Protocol { return thirdRoll{t} }

type thirdRoll struct{ Third }

func (r thirdRoll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, whole, err := r.parse(datagrams)
	if reply.Info != nil {
		reply.Info.Roster = whole.roster()
	}
	return reply, err
}

// parse returns what a reply says about the server, and the reply.
func (t Third) parse(datagrams [][]byte) (discovery.Reply, thirdReply, error) {
	replies := map[discovery.Nonce]map[int][]byte{} // packets by their numbers, without headers
	length := map[discovery.Nonce]int{}
	var challenge discovery.Reply
	var newest discovery.Nonce
	for _, d := range datagrams {
		kind, nonce, rest, ok := readThird(d)
		switch {
		case !ok:
		case kind == handshake:
			if demanded, ok := readChallenge(rest); ok {
				challenge = discovery.Reply{Challenge: demanded, Nonce: nonce, NonceBits: 4 * nibbles, Echoed: true}
			}
		default:
			number, last, body, ok := readNumber(rest)
			if !ok {
				continue
			}
			if replies[nonce] == nil {
				replies[nonce] = map[int][]byte{}
			}
			if _, is := replies[nonce][number]; !is {
				replies[nonce][number] = body
			}
			if newest = nonce; last {
				// Of two ends the later counts, in whatever order they come.
				length[nonce] = max(length[nonce], number+1)
			}
		}
	}
	packets := replies[newest]
	switch {
	case len(packets) == 0 && challenge.Challenge != nil:
		return challenge, thirdReply{}, nil
	case len(packets) == 0 && len(datagrams) > 0:
		return discovery.Reply{}, thirdReply{}, errNoThird
	case len(packets) == 0 || length[newest] == 0:
		return discovery.Reply{Incomplete: true}, thirdReply{}, nil
	}
	var whole thirdReply
	for number := range length[newest] {
		body, is := packets[number]
		if !is {
			return discovery.Reply{Incomplete: true}, thirdReply{}, nil
		}
		whole.read(body)
	}
	info, tells := infoOf(whole.keys.value)
	if !tells {
		return discovery.Reply{}, thirdReply{}, errNobody
	}
	if whole.keys.value("numplayers") == "" {
		info.Players = len(whole.roster().Players)
	}
	if t.Above != 0 {
		info.GamePort = 0 // players connect where the list says
	}
	if level := whole.keys.value(levelOfUT3); level != "" {
		info.Map = packet.Text([]byte(level))
	}
	if variant := whole.keys.value("gamevariant"); whole.keys.value("gamename") == battlefield2 && variant != "bf2" {
		info.Mod = packet.Text([]byte(variant))
	}
	return discovery.Reply{Info: info, Nonce: newest, NonceBits: 4 * nibbles, Echoed: true}, whole, nil
}

// readThird takes the header off a packet.
func readThird(d []byte) (kind byte, nonce discovery.Nonce, rest []byte, ok bool) {
	r := packet.Reader{Rest: d}
	kind = r.Octet()
	for _, b := range r.Take(idBits / 8) {
		nonce = nonce<<4 | discovery.Nonce(b&0x0f)
	}
	return kind, nonce, r.Rest, !r.Short && (kind == handshake || kind == question)
}

// readChallenge reads a challenge from decimal digits. Servers end it with a NUL.
func readChallenge(b []byte) ([]byte, bool) {
	digits, _, _ := strings.Cut(string(b), "\x00")
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n != int64(int32(n)) && n != int64(uint32(n)) {
		return nil, false
	}
	return binary.BigEndian.AppendUint32(nil, uint32(n)), true
}

// readNumber reads the number of a reply's packet.
func readNumber(b []byte) (number int, last bool, body []byte, ok bool) {
	rest, ok := strings.CutPrefix(string(b), splitnum)
	if !ok {
		rest, ok = strings.CutPrefix(string(b), geyser)
	}
	if !ok || rest == "" {
		return 0, false, nil, false
	}
	return int(rest[0] &^ lastPacket), rest[0]&lastPacket != 0, []byte(rest[1:]), true
}

// thirdReply is the content of a reply.
type thirdReply struct {
	keys    keys
	players map[int]*discovery.Player // by their places
}

func (t *thirdReply) read(body []byte) {
	r := packet.Reader{Rest: body}
	for len(r.Rest) > 0 {
		switch section := r.Rest[0]; section {
		case ofServer:
			if r.Octet(); t.keys == nil {
				t.keys = readKeys(&r)
			} else if len(r.Rest) > 0 && r.Rest[0] > ofTeams { // the keys go on
				for key, value := range readKeys(&r) {
					if _, is := t.keys[key]; !is {
						t.keys[key] = value
					}
				}
			}
		case ofPlayers, ofTeams:
			r.Octet()
			t.fields(&r, section == ofPlayers)
		default:
			return // no section begins so
		}
	}
}

// fields reads a section's fields up to an empty name, and keeps those of the players.
func (t *thirdReply) fields(r *packet.Reader, ofPlayers bool) {
	for len(r.Rest) > 0 {
		name := strings.ToLower(string(r.Bytes()))
		if name == "" {
			return
		}
		name = strings.TrimRight(name, "_")
		for place := int(r.Octet()); len(r.Rest) > 0; place++ {
			value := string(r.Bytes())
			if value == "" {
				break
			}
			if ofPlayers && place < maxPlayers {
				t.tell(place, name, value)
			}
		}
	}
}

// tell keeps a fact about the player at a place.
func (t *thirdReply) tell(place int, field, value string) {
	if t.players == nil {
		t.players = map[int]*discovery.Player{}
	}
	if field == "player" || field == "playername" {
		if t.players[place] == nil {
			t.players[place] = &discovery.Player{}
		}
		t.players[place].Name = packet.Text([]byte(strings.TrimSpace(value)))
		return
	}
	if player := t.players[place]; player != nil {
		tell(player, field, value)
	}
}

// roster returns the players in the order of their places.
func (t thirdReply) roster() *discovery.Roster {
	roster := &discovery.Roster{}
	for _, place := range slices.Sorted(maps.Keys(t.players)) {
		roster.Players = append(roster.Players, *t.players[place])
	}
	return roster
}

// AnswerThird returns the answer of a server in Muster's fleet to a request in the third
// form: a challenge or, to a request that carries the challenge, a reply in one packet
// or several. Players are their names; players connect at a port.
func AnswerThird(request []byte, info discovery.Info, players []string, port uint16, challenge [challengeLen]byte) [][]byte {
	r := packet.Reader{Rest: request}
	header, kind, id := string(r.Take(len(magic))), r.Octet(), r.Take(idBits/8)
	switch {
	case r.Short || header != magic:
		return nil
	case kind == handshake:
		b := append([]byte{handshake}, id...)
		b = strconv.AppendInt(b, int64(int32(binary.BigEndian.Uint32(challenge[:]))), 10)
		return [][]byte{append(b, 0)}
	case kind != question || string(r.Rest) != string(challenge[:])+wholeReply:
		return nil
	}
	var packets [][]byte
	begin := func() []byte {
		b := append([]byte{question}, id...)
		return append(append(b, splitnum...), byte(len(packets)))
	}
	b := appendKeys(append(begin(), ofServer), info, port)
	b = append(b, ofPlayers)
	b = append(b, "player_\x00\x00"...)
	for place, name := range players[:min(len(players), maxInPacket)] {
		if len(b)+len(name) > packetSize {
			packets = append(packets, append(b, 0, 0))
			b = append(append(begin(), ofPlayers), "player_\x00"...)
			b = append(b, byte(place))
		}
		b = append(append(b, field(name)...), 0)
	}
	packets = append(packets, append(b, 0, 0))
	packets[len(packets)-1][1+idBits/8+len(splitnum)] |= lastPacket
	return packets
}

// maxInPacket is the highest place of a player that fits in a byte, plus one.
const maxInPacket = 256
