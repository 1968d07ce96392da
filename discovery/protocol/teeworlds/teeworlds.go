// Package teeworlds speaks the query protocols of Teeworlds 0.7, of Teeworlds 0.6 and
// of DDNet. Bytes in, bytes out: it opens no socket and reads no clock.
//
// Teeworlds 0.7 wants a token first, so that a client cannot ask in another's name:
//
//	client                                               server
//	04 00 00  FF FF FF FF  05 ours[4] 00[508]       ──▶
//	                                                ◀──  04 00 00  ours[4]  05 theirs[4]
//	21  theirs[4]  ours[4]  FF FF FF FF "gie3" n    ──▶
//	                                                ◀──  21  ours[4]  theirs[4]  FF FF FF FF "inf3" n what it is
//
// DDNet and Teeworlds 0.6 do not. The question has 24 bits of ours. An old server reads
// the first two bytes of them as a header, ignores them, and returns the last:
//
//	"xe" n₂ n₁ 00 00  FF FF FF FF "gie3" n₀         ──▶
//	                                                ◀──  FF[10] "iext" n₂n₁n₀ what it is     (DDNet)
//	                                                ◀──  FF[10] "inf3" n₀ what it is         (Teeworlds 0.6)
//
// The information ends with the clients. DDNet sends those without room in the packet
// afterwards:
//
//	◀──  FF[10] "iex+" n₂n₁n₀ number "" clients
//
// Sources: network.cpp, server.cpp and serverbrowser.cpp of Teeworlds and of DDNet, and
// packets recorded from Teeworlds 0.7.5 and DDNet 16.4 (testdata).
package teeworlds

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers of Teeworlds 0.7. It is a [discovery.Protocol].
type Protocol struct{}

// DDNet asks the servers of DDNet and of Teeworlds 0.6. It is a [discovery.Protocol].
type DDNet struct{}

const (
	getInfo  = "\xff\xff\xff\xffgie3"
	info     = "\xff\xff\xff\xffinf3"
	extended = "\xff\xff\xff\xffiext"
	// extendedMore starts the packets with DDNet's clients that do not fit into the
	// first.
	extendedMore = "\xff\xff\xff\xffiex+"

	// control starts a packet about the connection itself, such as a token request. connless starts
	// a packet outside of any connection.
	control, connless = "\x04\x00\x00", "\x21"
	noToken           = "\xff\xff\xff\xff"
	tokenMessage      = '\x05'
	tokenLen          = 4
	// tokenRequestLen is long enough that an attack in another's name gains nothing.
	tokenRequestLen = 3 + tokenLen + 1 + 512
	// connlessLen is the length before the message of a packet outside of a connection.
	connlessLen = 1 + 2*tokenLen
	// tokenBits of the nonce are our token; the top bit stays 0, so that the token
	// never means none.
	tokenBits = 31
	// browserToken is a second token, made needless by the first.
	browserToken = 5

	extendedMark = "xe"
	// headerLen is the length before the message of old packets. extendedBits and
	// plainBits are the bits of the nonce that DDNet and Teeworlds 0.6 return.
	headerLen               = 6
	extendedBits, plainBits = 24, 8

	needsPassword = 1
)

// AppendQuery appends the datagram that asks for a token, or with a token about the
// server.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	ours := binary.BigEndian.AppendUint32(nil, uint32(nonce&(1<<tokenBits-1)))
	if len(challenge) == 0 {
		b = append(append(b, control+noToken...), tokenMessage)
		b = append(b, ours...)
		return append(b, make([]byte, tokenRequestLen-len(control+noToken)-1-tokenLen)...)
	}
	b = append(append(b, connless...), challenge...)
	b = append(append(b, ours...), getInfo...)
	return append(b, browserToken)
}

// Parse reads the newest datagram that is a reply: the server's token is its challenge.
// Both kinds return ours.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) { return parse(datagrams, nil) }

// Roll returns the protocol that sends the same question, and reads the clients.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{ Protocol }

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, &discovery.Roster{})
}

// parse reads the newest datagram that is a reply, and adds the clients to the roster,
// if there is one.
func parse(datagrams [][]byte, roster *discovery.Roster) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		const answerLen = len(control) + tokenLen + 1 + tokenLen
		if rest, ok := bytes.CutPrefix(b, []byte(control)); ok && len(b) >= answerLen && rest[tokenLen] == tokenMessage {
			return discovery.Reply{
				Nonce:     token(rest),
				Echoed:    true,
				NonceBits: tokenBits,
				Challenge: bytes.Clone(rest[tokenLen+1:][:tokenLen]),
			}, true
		}
		if len(b) < connlessLen || string(b[:1]) != connless {
			return reply, false
		}
		body, ok := bytes.CutPrefix(b[connlessLen:], []byte(info))
		if !ok {
			return reply, false
		}
		r := reader{packet.Reader{Rest: body}}
		r.packed() // the browser's token
		found := &discovery.Info{Version: r.Text(), Name: r.Text()}
		r.Text() // its host name, as it believes
		found.Map, found.Mode = r.Text(), r.Text()
		found.Password = r.packed()&needsPassword != 0
		r.packed() // the players' skill level
		r.packed() // players without spectators, and how many may play
		r.packed()
		found.Players, found.MaxPlayers = r.packed(), r.packed()
		if !r.Short {
			found.Roster = roster
			found.Bots = min(r.clients(roster), found.Players)
			return discovery.Reply{Nonce: token(b[1:]), Echoed: true, NonceBits: tokenBits, Info: found}, true
		}
		return reply, false
	})
}

func token(b []byte) discovery.Nonce { return discovery.Nonce(binary.BigEndian.Uint32(b)) }

// AppendQuery appends the datagram that asks a server about itself.
func (DDNet) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, extendedMark...)
	b = append(b, byte(nonce>>16), byte(nonce>>8), 0, 0)
	b = append(b, getInfo...)
	return append(b, byte(nonce))
}

// Parse reads the newest datagram that is a reply. Spectators take a seat, as there.
// DDNet's packets with more players say nothing more about the server.
func (DDNet) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, _, err := parseDDNet(datagrams)
	return reply, err
}

// parseDDNet returns the newest reply, and its part about the clients.
func parseDDNet(datagrams [][]byte) (reply discovery.Reply, clients reader, err error) {
	reply, err = packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) < headerLen || string(b[:2]) != "\xff\xff" {
			return reply, false
		}
		body, isExtended := bytes.CutPrefix(b[headerLen:], []byte(extended))
		bits := extendedBits
		if !isExtended {
			var isPlain bool
			if body, isPlain = bytes.CutPrefix(b[headerLen:], []byte(info)); !isPlain {
				return reply, false
			}
			bits = plainBits
		}
		r := reader{packet.Reader{Rest: body}}
		nonce := r.number()
		found := &discovery.Info{Version: r.Text(), Name: r.Text(), Map: r.Text()}
		if isExtended {
			r.Text() // the map's checksum and size
			r.Text()
		}
		found.Mode, found.Password = r.Text(), r.number()&needsPassword != 0
		r.number() // players without spectators, and how many may play
		r.number()
		found.Players, found.MaxPlayers = packet.Count(r.number()), packet.Count(r.number())
		if !r.Short && nonce < 1<<bits {
			clients = r
			return discovery.Reply{Nonce: discovery.Nonce(nonce), Echoed: true, NonceBits: bits, Info: found}, true
		}
		return reply, false
	})
	return reply, clients, err
}

// Roll returns the protocol that sends the same question, and reads the clients from
// all datagrams.
func (DDNet) Roll() discovery.Protocol { return rollDDNet{} }

type rollDDNet struct{ DDNet }

// Parse collects the clients of the newest reply, and of the packets after it with the
// same nonce: a count of the packet, an empty text, and more clients. Packets may
// arrive in another order than sent, and a repeated question brings all of them twice.
func (rollDDNet) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply, first, err := parseDDNet(datagrams)
	if err != nil || reply.Info == nil {
		if len(datagrams) > 0 && moreClients(datagrams[0]).Rest != nil {
			return discovery.Reply{Incomplete: true}, nil // the first is to come
		}
		return reply, err
	}
	roster := &discovery.Roster{}
	reply.Info.Roster = roster
	if reply.NonceBits != extendedBits {
		first.clients06(roster, false)
		return reply, nil
	}
	first.Bytes() // for later
	first.clients06(roster, true)
	seen := map[int]bool{}
	for _, b := range datagrams {
		more := moreClients(b)
		nonce, place := more.number(), more.number()
		more.Bytes() // for later
		if more.Short || discovery.Nonce(nonce) != reply.Nonce || seen[place] {
			continue
		}
		seen[place] = true
		more.clients06(roster, true)
	}
	if len(roster.Players) < reply.Info.Players && len(roster.Players) > 0 { // a server that is asked too often names nobody
		return discovery.Reply{Incomplete: true}, nil
	}
	return reply, nil
}

// moreClients returns the rest after the head of a datagram with more clients, else
// nothing.
func moreClients(b []byte) reader {
	if len(b) < headerLen || string(b[:2]) != "\xff\xff" {
		return reader{}
	}
	rest, _ := bytes.CutPrefix(b[headerLen:], []byte(extendedMore))
	if len(rest) == len(b)-headerLen {
		return reader{}
	}
	return reader{packet.Reader{Rest: rest}}
}

// clients06 adds the clients that a server of 0.6 or DDNet describes to a roster.
func (r *reader) clients06(roster *discovery.Roster, isExtended bool) {
	for len(r.Rest) > 0 {
		name := r.Bytes()
		r.Bytes()                                               // clan
		r.Bytes()                                               // country
		score, _ := strconv.ParseInt(string(r.Bytes()), 10, 32) // anything but a number is 0
		r.Bytes()                                               // whether this one plays
		if isExtended {
			r.Bytes() // for later
		}
		if r.Short {
			return
		}
		enrol(roster, name, int(score))
	}
}

// maxClients is more than any of these servers accepts.
const maxClients = 1024

var errNoReply = fmt.Errorf("teeworlds: %w: neither a token nor a server", discovery.ErrMalformed)

// reader takes texts, and numbers in either form, off a message.
type reader struct{ packet.Reader }

// number reads a number that is written as text.
func (r *reader) number() int {
	n, err := strconv.ParseUint(r.Text(), 10, 32)
	if err != nil {
		r.Short = true
	}
	return int(n)
}

// packed reads one of 0.7's numbers: a first byte with sign and 6 bits, then 7 bits a
// byte, the lowest first. The top bit tells whether more follow. Below 0 is 0.
func (r *reader) packed() int { return packet.Count(r.signed()) }

// signed reads such a number that may be below 0.
func (r *reader) signed() int {
	const more, sign, maxBytes = 0x80, 0x40, 5
	n, negative := 0, false
	for i := range maxBytes {
		if len(r.Rest) == 0 {
			r.Short = true
			return 0
		}
		c := r.Rest[0]
		r.Rest = r.Rest[1:]
		if i == 0 {
			n, negative = int(c&0x3f), c&sign != 0
		} else {
			n |= int(c&0x7f) << (7*i - 1)
		}
		if c&more == 0 {
			break
		}
	}
	if negative {
		return -1 - n
	}
	return n
}

// clients adds the clients that a 0.7 server describes to the roster, if there is one,
// and counts the bots among them.
func (r *reader) clients(roster *discovery.Roster) (bots int) {
	const isBot = 2
	for len(r.Rest) > 0 {
		name := r.Bytes()
		r.Bytes()  // clan
		r.signed() // country
		score := r.signed()
		kind := r.packed()
		if r.Short {
			break
		}
		if kind&isBot != 0 {
			bots++
		}
		enrol(roster, name, score)
	}
	return bots
}

// enrol adds a client to the roster, if there is one.
func enrol(roster *discovery.Roster, name []byte, score int) {
	if roster != nil && len(roster.Players) < maxClients {
		roster.Players = append(roster.Players, discovery.Player{Name: packet.Text(name), Score: score})
	}
}

// Answer returns the answer of a 0.7 server in Muster's fleet to a request, nil if the
// server does not understand it. The token is its token for the asker.
func Answer(request []byte, i discovery.Info, theirs [tokenLen]byte) []byte {
	if rest, ok := bytes.CutPrefix(request, []byte(control+noToken+string(tokenMessage))); ok && len(request) >= tokenRequestLen {
		b := append([]byte(control), rest[:tokenLen]...)
		return append(append(b, tokenMessage), theirs[:]...)
	}
	if len(request) < connlessLen || !bytes.HasPrefix(request, append([]byte(connless), theirs[:]...)) ||
		!bytes.HasPrefix(request[connlessLen:], []byte(getInfo)) {
		return nil
	}
	b := append([]byte(connless), request[1+tokenLen:connlessLen]...)
	b = append(append(b, theirs[:]...), info...)
	b = append(b, request[connlessLen+len(getInfo):]...)
	b = fmt.Appendf(b, "%s\x00%s\x00\x00%s\x00%s\x00", i.Version, i.Name, i.Map, i.Mode)
	for _, n := range []int{flag(i.Password), 0, i.Players, i.MaxPlayers, i.Players, i.MaxPlayers} {
		b = appendPacked(b, n)
	}
	return b
}

// appendPacked appends a number as [reader.packed] reads it.
func appendPacked(b []byte, n int) []byte {
	first, rest := byte(n&0x3f), n>>6
	for rest > 0 {
		b = append(b, first|0x80)
		first, rest = byte(rest&0x7f), rest>>7
	}
	return append(b, first)
}

// AnswerDDNet returns the answer of a DDNet server in Muster's fleet.
func AnswerDDNet(request []byte, i discovery.Info) []byte {
	if len(request) != headerLen+len(getInfo)+1 || string(request[headerLen:][:len(getInfo)]) != getInfo {
		return nil
	}
	low := request[len(request)-1]
	b := bytes.Repeat([]byte{0xff}, headerLen)
	if string(request[:2]) == extendedMark {
		token := int(request[2])<<16 | int(request[3])<<8 | int(low)
		b = fmt.Appendf(b, "%s%d\x00%s\x00%s\x00%s\x00%d\x00%d\x00%s\x00", extended, token, i.Version, i.Name, i.Map, 1, 1, i.Mode)
	} else {
		b = fmt.Appendf(b, "%s%d\x00%s\x00%s\x00%s\x00%s\x00", info, low, i.Version, i.Name, i.Map, i.Mode)
	}
	b = fmt.Appendf(b, "%d\x00%d\x00%d\x00%d\x00%d\x00", flag(i.Password), i.Players, i.MaxPlayers, i.Players, i.MaxPlayers)
	if string(request[:2]) == extendedMark {
		b = append(b, 0)
	}
	return b
}

func flag(set bool) int {
	if set {
		return needsPassword
	}
	return 0
}
