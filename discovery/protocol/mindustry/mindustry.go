// Package mindustry speaks the discovery protocol of Mindustry's servers. Bytes in,
// bytes out: it opens no socket and reads no clock.
//
//	client         server
//	FE 01     ──▶
//	          ◀──  name  map  players[4]  wave[4]  build[4]  kind  mode[1]  most players[4]  about  [name of the mode]  …
//
// A text is a byte with its length, then that many bytes; numbers are big-endian. A
// reply has no header, nor room for a nonce: the sender's address identifies it. So that
// other packets do not pass for one, its numbers must be plausible, and its texts without
// control characters.
//
// Source: Mindustry's NetworkIO.java (writeServerData, readServerData), ArcNetProvider.
package mindustry

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"unicode"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks Mindustry's servers. It is a [discovery.Protocol].
type Protocol struct{}

const query = "\xfe\x01"

const (
	// noLimit is the number of seats of a server without a limit, which says 0.
	noLimit = 1000
	// maxWaves and maxBuilds are far above true ones.
	maxWaves, maxBuilds = 10_000_000, 1_000_000
	// maxText is the longest text of a field, in bytes.
	maxText = 100
)

// modes are the game's own names, by number.
var modes = [...]string{"survival", "sandbox", "attack", "pvp", "editor"}

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, query...) }

var errNoReply = fmt.Errorf("mindustry: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		r := reader{Reader: packet.Reader{Rest: b}}
		info := &discovery.Info{Name: r.text(), Map: r.text(), Players: r.number(packet.MaxCount)}
		r.number(maxWaves)
		build, kind := r.number(maxBuilds), r.text()
		if info.Version = kind; build > 0 {
			info.Protocol = build
			info.Version = fmt.Sprintf("%d %s", build, kind)
		}
		mode := int(r.Octet())
		info.MaxPlayers = cmp.Or(r.number(packet.MaxCount), noLimit)
		r.Take(int(r.Octet())) // its description
		if r.Short || r.strange || mode >= len(modes) {
			return reply, false
		}
		info.Mode = modes[mode]
		if name := r.text(); !r.Short && name != "" {
			info.Mode = name
		}
		info.Version = discovery.CleanText(info.Version)
		return discovery.Reply{Info: info}, true
	})
}

// reader takes numbers and texts off a datagram.
type reader struct {
	packet.Reader
	// strange reports a field that no server writes.
	strange bool
}

// number returns the next number. It is at most so high, and -1 where there is none.
func (r *reader) number(most int) int {
	n := int(int32(binary.BigEndian.Uint32(r.Take(4))))
	r.strange = r.strange || n < -1 || n > most
	return max(0, n)
}

// markup are the colours in a text: [red], [#ff0000], [].
var markup = regexp.MustCompile(`\[[#A-Za-z0-9_]*\]`)

func (r *reader) text() string {
	text := r.Take(int(r.Octet()))
	r.strange = r.strange || bytes.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' })
	return packet.Text(markup.ReplaceAll(text, nil))
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the
// server does not understand it.
func Answer(request []byte, info discovery.Info) []byte {
	if string(request) != query {
		return nil
	}
	text := func(b []byte, s string) []byte {
		s = s[:min(len(s), maxText)]
		return append(append(b, byte(len(s))), s...)
	}
	b := text(text(nil, info.Name), info.Map)
	for _, n := range []int{info.Players, 1, 0} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	b = append(text(b, info.Version), byte(max(0, slices.Index(modes[:], info.Mode))))
	return text(binary.BigEndian.AppendUint32(b, uint32(info.MaxPlayers)), "")
}
