// Package unreal2 speaks the query protocol of the Unreal engine's second generation:
// Unreal Tournament 2003 and 2004, Killing Floor, Red Orchestra. Bytes in, bytes out: it
// opens no socket and reads no clock.
//
//	client                   server
//	79 00 00 00  00     ──▶                       what is the server like?
//	                    ◀──  80 00 00 00  00  id[4] ip port[4] query port[4]
//	                         name map mode players[4] seats[4] ping[4] [flags[4] skill]
//
//	79 00 00 00  02     ──▶                       who plays?
//	                    ◀──  80 00 00 00  02  { id[4] name ping[4] score[4] stats[4] } …
//
// Numbers are little-endian. A text is its length in the engine's compact form and its
// letters, with a NUL at the end: ISO 8859-1, a byte each, or UTF-16 if the length is
// negative. Some games put a byte 01 before UTF-16 that the length does not count. ESC and
// three bytes in a text are a colour.
//
//	length   s m v v v v v v  [m v v v v v v v]    s: negative, m: more bytes, v: value, lowest bits first
//
// Killing Floor has two numbers more before the ping, its waves. The lowest flag is a
// password; servers need not set it. The protocol has no place for a nonce, so the
// sender's address identifies a reply. The packets of a long list of players have neither
// numbers nor a mark of the last one.
//
// Sources: the scripts that the games come with (GameInfo, ServerQueryClient and the
// server browser of Unreal Tournament 2004 and Killing Floor), UTV's UTVUplink.cpp (when
// a packet is full), gamedig, GameQ.
// This package reads GameQ's published recordings of Unreal Tournament 2004's and
// Killing Floor's servers as GameQ does; it also removes colours.
package unreal2

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks servers. It is a [discovery.Aside].
type Protocol struct {
	// Above is how far the query port is above the players' port.
	Above uint16
}

const (
	ask    = "\x79\x00\x00\x00"
	answer = "\x80\x00\x00\x00"
	// What is asked for. Muster does not ask for the rules, others do.
	facts   = 0
	rules   = 1
	players = 2
)

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte {
	return append(append(b, ask...), facts)
}

// QueryPort returns the port at which the server is asked.
func (p Protocol) QueryPort(port uint16) uint16 { return packet.Above(port, p.Above) }

var (
	errNoFacts   = fmt.Errorf("unreal2: %w: no facts about a server", discovery.ErrMalformed)
	errNoPlayers = fmt.Errorf("unreal2: %w: no list of players", discovery.ErrMalformed)
)

// Parse reads the newest reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoFacts, func(b []byte) (discovery.Reply, bool) {
		r, ok := open(b, facts)
		if !ok {
			return discovery.Reply{}, false
		}
		info, ok := r.info()
		return discovery.Reply{Info: info}, ok
	})
}

// Roll returns the protocol that asks for the players.
func (p Protocol) Roll() discovery.Protocol { return roll{p} }

type roll struct{ Protocol }

func (roll) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte {
	return append(append(b, ask...), players)
}

// fullPacket is the length in bytes above which a server sends a packet and begins
// another. A shorter one is the last.
const fullPacket = 450

// Parse reads the list of players. After a full packet another one follows, unless the
// list ended there: then the same packet, which comes again when the question does, shows
// that it is whole.
func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	roster := &discovery.Roster{}
	seen := map[string]bool{}
	for _, b := range datagrams {
		r, ok := open(b, players)
		if !ok {
			continue
		}
		again := seen[string(b)]
		if seen[string(b)] = true; !again {
			r.addTo(roster)
		}
		if again || len(b) <= fullPacket {
			return discovery.Reply{Info: &discovery.Info{Roster: roster}}, nil
		}
	}
	if len(seen) == 0 && len(datagrams) > 0 {
		return discovery.Reply{}, errNoPlayers
	}
	return discovery.Reply{Incomplete: true}, nil
}

// reader takes the engine's values off the front of a packet.
type reader struct{ packet.Reader }

// open takes the header off a reply to a question.
func open(b []byte, to byte) (r reader, ok bool) {
	r.Rest = b
	header, kind := string(r.Take(len(answer))), r.Octet()
	return r, !r.Short && header == answer && kind == to
}

func (r *reader) number() int { return int(int32(binary.LittleEndian.Uint32(r.Take(4)))) }

// The bits of a length in the engine's compact form.
const (
	negative  = 0x80
	moreFirst = 0x40
	more      = 0x80
	// bitsFirst and bitsNext are how many bits of the value a byte has.
	bitsFirst, bitsNext = 6, 7
	// maxLengthBytes allows lengths up to 2^20, far more than a packet has.
	maxLengthBytes = 3
)

// length returns a text's length, and whether it is negative.
func (r *reader) length() (n int, isNegative bool) {
	b := r.Octet()
	n = int(b & (moreFirst - 1))
	goesOn := b&moreFirst != 0
	for shift := bitsFirst; goesOn && shift < maxLengthBytes*bitsNext-1; shift += bitsNext {
		next := r.Octet()
		n |= int(next&(more-1)) << shift
		goesOn = next&more != 0
	}
	r.Short = r.Short || goesOn
	return n, b&negative != 0
}

// text returns the next text, cleaned for display and without colours.
func (r *reader) text() string {
	n, wide := r.length()
	if r.Short || n > len(r.Rest) {
		r.Rest, r.Short = nil, true
		return ""
	}
	if !wide {
		return packet.Text(plain(r.Take(n)))
	}
	if r.isLate(2 * n) {
		r.Octet()
	}
	b := r.Take(2 * n)
	units := make([]uint16, 0, n)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(b[i:]))
	}
	return discovery.CleanText(string(plain(utf16.Decode(units))))
}

// isLate reports whether a text of n bytes in UTF-16 begins only after a byte 01. Then its
// NUL is a byte later, too.
func (r *reader) isLate(n int) bool {
	const end = "\x00\x00"
	return n > 0 && len(r.Rest) > n && r.Rest[0] == 1 && string(r.Rest[n-len(end):n]) != end && string(r.Rest[n+1-len(end):n+1]) == end
}

// colour is the length of ESC and the three bytes of a colour.
const esc, colour = 0x1b, 4

// plain returns letters without colours and without the NUL that ends them.
func plain[T byte | rune](letters []T) []T {
	var kept []T
	for i := 0; i < len(letters); i++ {
		switch letters[i] {
		case 0:
		case esc:
			i += colour - 1
		default:
			kept = append(kept, letters[i])
		}
	}
	return kept
}

// Killing Floor's numbers before the flags are this many bytes more.
const waves = 4 + 4

// passworded is the flag of servers with a password.
const passworded = 1

// maxSeats is the highest number of seats: the games mask higher bits away.
const maxSeats = 255

// info reads the facts about a server. The last ones are missing in the first games.
func (r *reader) info() (*discovery.Info, bool) {
	r.number() // the server's number at a master
	r.text()   // its address, which it leaves empty
	port := r.number()
	r.number() // the query port, which it leaves 0
	info := &discovery.Info{Name: r.text(), Map: r.text(), Mode: r.text()}
	info.Players = packet.Count(r.number())
	info.MaxPlayers = packet.Count(r.number() & maxSeats)
	if r.Short || port < 0 || port > 1<<16-1 {
		return nil, false
	}
	r.number() // the ping, which it leaves 0, or Killing Floor's wave
	if b := r.Rest; len(b) > waves+4 && string(b[4:waves]) == "\x00\x00\x00\x00" {
		r.Take(waves) // the last wave and the ping: in other games the skill begins here
	}
	if flags := r.number(); !r.Short {
		info.Password = flags&passworded != 0
	}
	return info, true
}

// maxPlayers is more than any of these games has seats for.
const maxPlayers = 1024

// addTo reads the players up to the end of the packet, or to where it is cut off. The
// scores of teams stand among them, with the number 0.
func (r *reader) addTo(roster *discovery.Roster) {
	for len(r.Rest) > 0 && len(roster.Players) < maxPlayers {
		id, name := r.number(), r.text()
		ping, score := r.number(), r.number()
		r.number() // the player's number in statistics
		if r.Short {
			break
		}
		if id != 0 {
			roster.Players = append(roster.Players, discovery.Player{
				Name: name, Score: score, Ping: packet.Ping(ping),
			})
		}
	}
}

// Answer returns the answer of a server in Muster's fleet to a request, in Unreal
// Tournament 2004's form, or nil if it is none. Players are their names.
func Answer(request []byte, info discovery.Info, names []string, port uint16) [][]byte {
	asked := string(request)
	switch asked {
	case ask + string(rune(facts)):
		b := append([]byte(answer), facts)
		b = appendText(append(b, 0, 0, 0, 0), "")
		b = appendNumbers(b, int(port), 0)
		for _, text := range []string{info.Name, info.Map, info.Mode} {
			b = appendText(b, text)
		}
		flags := 0
		if info.Password {
			flags = passworded
		}
		return [][]byte{appendText(appendNumbers(b, info.Players, info.MaxPlayers, 0, flags), "2")}
	case ask + string(rune(rules)):
		b := append([]byte(answer), rules)
		return [][]byte{appendText(appendText(b, "ServerMode"), "dedicated")}
	case ask + string(rune(players)):
		b := append([]byte(answer), players)
		var packets [][]byte
		for i, name := range names {
			if len(b) > fullPacket {
				packets, b = append(packets, b), append([]byte(answer), players)
			}
			b = appendNumbers(appendText(appendNumbers(b, i+1), name), 50, 0, 0)
		}
		return append(packets, b)
	}
	return nil
}

func appendNumbers(b []byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// appendText appends a text as UTF-16 if it needs that, else as ISO 8859-1.
func appendText(b []byte, text string) []byte {
	letters := []rune(text)
	wide := false
	for _, c := range letters {
		wide = wide || c > 0xff
	}
	units := utf16.Encode(letters)
	if len(units) == 0 {
		return append(b, 0)
	}
	units = append(units, 0)
	n := len(units)
	first := byte(n & (moreFirst - 1))
	if wide {
		first |= negative
	}
	if n >>= bitsFirst; n > 0 {
		first |= moreFirst
	}
	for b = append(b, first); n > 0; n >>= bitsNext {
		next := byte(n & (more - 1))
		if n>>bitsNext > 0 {
			next |= more
		}
		b = append(b, next)
	}
	for _, c := range units {
		if wide {
			b = binary.LittleEndian.AppendUint16(b, c)
		} else {
			b = append(b, byte(c))
		}
	}
	return b
}
