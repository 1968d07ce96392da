// Package zandronum asks Zandronum's servers, by the protocol for its launchers. Bytes in,
// bytes out: it opens no socket and reads no clock.
//
//	client                              server
//	199[4]  fields[4]  time[4]     ──▶
//	                               ◀──  5660023[4]  time[4]  version  fields[4]  …
//
// Numbers have their lowest byte first, texts end with NUL. A packet is packed, each byte by
// a code of its own; or it begins with FF, and is not. Questions are not packed: they would
// become longer. A reply has those fields that its own number names, in a fixed order.
//
// The server returns the time unchanged, so it is the query's nonce. To an address that it
// answered in the last ten seconds it says 5660024 and the time, and nothing of itself. To
// one that it bans it says 5660025.
//
// Sources: "Launcher protocol" of Zandronum's documentation, sv_master.cpp and huffman.cpp of
// Q-Zandronum, pyzandronum.
package zandronum

import (
	"encoding/binary"
	"fmt"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	ask = 199
	// tells, ignores: the server's answers.
	tells, ignores = 5660023, 5660024
	timeLen        = 4
)

// The fields that are asked for, in the order of a reply.
const (
	name         = 1 << 0
	mapName      = 1 << 3
	maxClients   = 1 << 4
	maxPlayers   = 1 << 5
	files        = 1 << 6
	mode         = 1 << 7
	baseFile     = 1 << 9
	password     = 1 << 10
	joinPassword = 1 << 11
	players      = 1 << 19
	wanted       = name | mapName | maxClients | maxPlayers | files | mode | baseFile | password | joinPassword | players
)

// modes are the game's own names, by number.
var modes = [...]string{"cooperative", "survival", "invasion", "deathmatch", "teamplay", "duel", "terminator", "lastmanstanding",
	"teamlms", "possession", "teampossession", "teamgame", "ctf", "oneflagctf", "skulltag", "domination"}

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, plain)
	for _, n := range []uint32{ask, wanted, uint32(nonce)} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

var errNoReply = fmt.Errorf("zandronum: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply. A server that ignores the address for a
// while counts as there.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		r := reader{packet.Reader{Rest: unpack(b)}}
		kind := r.long()
		reply = discovery.Reply{Nonce: discovery.Nonce(r.long()), NonceBits: 8 * timeLen, Echoed: true}
		switch kind {
		case tells:
			reply.Info = r.info()
		case ignores:
			reply.Info = &discovery.Info{}
		default:
			return reply, false
		}
		return reply, !r.Short
	})
}

// info reads the version and the fields. A server that sends a field that was not asked for
// would be misread, so it counts as cut short.
func (r *reader) info() *discovery.Info {
	info := &discovery.Info{Version: shortVersion(r.text())}
	fields := r.long()
	if fields&^wanted != 0 {
		r.Rest, r.Short = nil, true
	}
	has := func(field uint32) bool { return fields&field != 0 }
	if has(name) {
		info.Name = cleanName(r.text())
	}
	if has(mapName) {
		info.Map = r.text()
	}
	clients, seats := 0, 0
	if has(maxClients) {
		clients = int(r.Octet())
	}
	if has(maxPlayers) {
		seats = int(r.Octet())
	}
	info.MaxPlayers = min(clients, seats)
	var needed []string
	if has(files) {
		for range r.Octet() {
			needed = append(needed, r.text())
		}
	}
	info.Tags = discovery.TagsOf(strings.Join(needed, ","))
	if has(mode) {
		if n := int(r.Octet()); n < len(modes) {
			info.Mode = modes[n]
		}
		r.Take(2) // instagib and buckshot
	}
	if has(baseFile) {
		info.Mod = r.text()
	}
	for _, field := range []uint32{password, joinPassword} {
		if has(field) {
			info.Password = r.Octet() != 0 || info.Password
		}
	}
	if has(players) {
		info.Players = int(r.Octet())
	}
	return info
}

// shortVersion drops the system, which comes after " on ".
func shortVersion(text string) string {
	version, _, _ := strings.Cut(text, " on ")
	return version
}

// colour comes before a letter, or a name in brackets, for the colour.
const colour = '\x1c'

// cleanName drops colours, which are \c and a letter, or \c[NAME].
func cleanName(text string) string {
	var kept strings.Builder
	for {
		before, after, found := strings.Cut(text, `\c`)
		kept.WriteString(before)
		if !found || after == "" {
			return discovery.CleanText(kept.String())
		}
		text = afterColour(after)
	}
}

// afterColour returns the text after the name of a colour.
func afterColour(text string) string {
	if _, rest, found := strings.Cut(text, "]"); text[0] == '[' && found {
		return rest
	}
	return text[1:]
}

// reader takes numbers and texts off a packet.
type reader struct{ packet.Reader }

func (r *reader) long() uint32 { return binary.LittleEndian.Uint32(r.Take(4)) }

// text returns the text before the next NUL. Colours become the console's own form.
func (r *reader) text() string {
	return packet.Text([]byte(strings.ReplaceAll(string(r.Bytes()), string(colour), `\c`)))
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. It is not packed.
func Answer(request []byte, info discovery.Info) []byte {
	r := reader{packet.Reader{Rest: unpack(request)}}
	kind, _, time := r.long(), r.long(), r.long()
	if kind != ask || r.Short {
		return nil
	}
	b := binary.LittleEndian.AppendUint32([]byte{plain}, tells)
	b = binary.LittleEndian.AppendUint32(b, time)
	b = append(append(b, info.Version...), 0)
	b = binary.LittleEndian.AppendUint32(b, name|mapName|maxClients|maxPlayers|password|players)
	b = append(append(b, info.Name...), 0)
	b = append(append(b, info.Map...), 0)
	asked := byte(0)
	if info.Password {
		asked = 1
	}
	return append(b, byte(min(info.MaxPlayers, 255)), byte(min(info.MaxPlayers, 255)), asked, byte(min(info.Players, 255)))
}
