// Package minecraft speaks the server list ping of Minecraft: Java Edition, over TCP.
// Bytes in, bytes out: it opens no connection and reads no clock.
//
//	client                                            server
//	length  00  protocol  host  port[2]  01      ──▶            handshake: a status is wanted
//	length  00                                   ──▶
//	                                             ◀──  length  00  JSON
//	length  01  time[8]                          ──▶
//	                                             ◀──  length  01  time[8]
//
// Lengths and the protocol have 7 bits a byte, the lowest first; texts begin with their
// length. The server returns the time unchanged, so it is the query's nonce.
//
// Sources: "Server List Ping" of the Minecraft wiki, node-minecraft-protocol's ping.js,
// gamedig, and packets recorded from minecraft-protocol 1.68 (testdata).
package minecraft

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/internal/charset"
	"muster/discovery/internal/packet"
	"muster/discovery/protocol/bedrock"
)

// Protocol asks servers of the Java Edition. It is a [discovery.Stream].
type Protocol struct{}

const (
	handshake, status, ping = 0, 0, 1
	wantsStatus             = 1
	// noVersion is the protocol number of a client that only asks: -1.
	noVersion = 1<<32 - 1
	timeLen   = 8
	// maxText is the longest JSON, in bytes: 32,767 letters, most of them a single
	// byte.
	maxText = 120 << 10
	// maxDepth and maxName bound the parts of a description.
	maxDepth, maxName = 16, 1024
)

// pinged is the challenge that makes AppendQuery write the ping.
var pinged = []byte("ping")

// AppendGreeting appends the handshake. It names the host, as the game does for a
// player who types that name or address. A proxy that serves several worlds shows the
// one of the name, and its default world, or none, by the bare address.
func (Protocol) AppendGreeting(b []byte, to netip.AddrPort) []byte {
	host := hostport.Host(to.Addr())
	body := appendVar(nil, handshake)
	body = appendVar(body, noVersion)
	body = append(appendVar(body, uint64(len(host))), host...)
	body = binary.BigEndian.AppendUint16(body, to.Port())
	return appendPacket(b, append(body, wantsStatus))
}

// AppendQuery appends the question for the status, or the ping after it.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	if len(challenge) == 0 {
		return appendPacket(b, []byte{status})
	}
	return appendPacket(b, binary.BigEndian.AppendUint64([]byte{ping}, uint64(nonce)))
}

// Parse reads all bytes so far. After the status alone it asks for the ping; a server
// may end the conversation instead.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, parseStatus)
}

// Roll returns the protocol that sends the same question, and reads the players' names:
// a dozen at most, which the server chooses.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{ Protocol }

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, func(text []byte) (*discovery.Info, error) {
		info, err := parseStatus(text)
		if err == nil {
			info.Roster = parseSample(text)
		}
		return info, err
	})
}

// maxNamed is more than the players that servers name.
const maxNamed = 100

// parseSample reads the names. Servers write other things there, too, a line a name.
func parseSample(text []byte) *discovery.Roster {
	var a struct {
		Players struct{ Sample json.RawMessage }
	}
	var sample []struct{ Name string }
	json.Unmarshal(text, &a) // values of other types were ignored before, and name nobody
	json.Unmarshal(a.Players.Sample, &sample)
	roster := &discovery.Roster{}
	for _, p := range sample[:min(len(sample), maxNamed)] {
		if name := bedrock.CleanName(p.Name[:min(len(p.Name), maxName)]); name != "" {
			roster.Players = append(roster.Players, discovery.Player{Name: name})
		}
	}
	return roster
}

func parse(datagrams [][]byte, read func([]byte) (*discovery.Info, error)) (discovery.Reply, error) {
	heard := bytes.Join(datagrams, nil)
	body, rest, err := cutPacket(heard, status)
	if err != nil || body == nil {
		return discovery.Reply{Incomplete: err == nil}, err
	}
	n, text, err := cutVar(body)
	if err != nil || uint64(len(text)) < n {
		return discovery.Reply{}, malformed("a status cut short")
	}
	info, err := read([]byte(charset.UTF8(string(text[:n]))))
	switch {
	case err != nil:
		return discovery.Reply{}, err
	case len(rest) == 0:
		return discovery.Reply{Info: info, Challenge: pinged}, nil
	}
	body, _, err = cutPacket(rest, ping)
	switch {
	case err != nil:
		return discovery.Reply{}, err
	case body == nil:
		return discovery.Reply{Incomplete: true}, nil
	case len(body) != timeLen:
		return discovery.Reply{}, malformed("a pong of %d bytes", len(body))
	}
	return discovery.Reply{Info: info, Nonce: discovery.Nonce(binary.BigEndian.Uint64(body)), Echoed: true}, nil
}

// malformed returns an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("minecraft: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}

// cutPacket returns the body of the first packet, which must be of the kind, and the
// bytes after it; nil while the packet is incomplete.
func cutPacket(b []byte, kind byte) (body, rest []byte, err error) {
	n, b, err := cutVar(b)
	switch {
	case errors.Is(err, errShort):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case n == 0 || n > maxText:
		return nil, nil, malformed("a packet of %d bytes", n)
	case len(b) > 0 && b[0] != kind:
		return nil, nil, malformed("a packet of kind %#02x", b[0])
	case uint64(len(b)) < n:
		return nil, nil, nil
	}
	return b[1:n], b[n:], nil
}

// answer is a status in JSON. Numbers are whatever a server writes for one.
type answer struct {
	Version struct {
		Name     string
		Protocol float64
	}
	Players struct{ Max, Online float64 }
	// Description is a text, or an object or a list of such with more of them inside.
	Description json.RawMessage
	// IsModded is NeoForge's, ForgeData Forge's since 1.13, ModInfo Forge's before.
	IsModded  bool
	ForgeData *struct {
		Mods []struct{ ModID string }
	}
	ModInfo *struct {
		ModList []struct{ ModID string }
	}
}

// mods returns the ids of the server's mods, except the loader's own parts. It includes
// optional ones.
func (a *answer) mods() (ids []string) {
	ofLoader := map[string]bool{"minecraft": true, "forge": true, "neoforge": true, "mcp": true, "fml": true}
	if a.ForgeData != nil {
		for _, mod := range a.ForgeData.Mods {
			ids = append(ids, mod.ModID)
		}
	}
	if a.ModInfo != nil {
		for _, mod := range a.ModInfo.ModList {
			ids = append(ids, mod.ModID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return ofLoader[strings.ToLower(id)] })
}

func parseStatus(text []byte) (*discovery.Info, error) {
	var a answer
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &a); err != nil && !errors.As(err, &wrongType) {
		return nil, malformed("%v", err)
	}
	var name strings.Builder
	flatten(&name, a.Description, maxDepth)
	info := &discovery.Info{
		Name:     bedrock.CleanName(name.String()),
		Version:  bedrock.CleanName(a.Version.Name),
		Protocol: int(min(max(0, a.Version.Protocol), discovery.MaxProtocol)),
	}
	packet.Crowd(info, count(a.Players.Online), count(a.Players.Max))
	if a.ForgeData != nil || a.ModInfo != nil {
		info.Mode, info.Mod = "forge", "forge"
		info.Tags = discovery.TagsOf(strings.Join(a.mods(), " "))
	} else if a.IsModded {
		info.Mod = "neoforge"
	}
	return info, nil
}

func count(n float64) int { return packet.Count(int(min(max(-1, n), packet.MaxCount+1))) }

// flatten writes the text of a chat component and of the components in it.
func flatten(b *strings.Builder, component json.RawMessage, depth int) {
	component = bytes.TrimSpace(component)
	if len(component) == 0 || depth == 0 || b.Len() > maxName {
		return
	}
	switch component[0] {
	case '"':
		var text string
		if json.Unmarshal(component, &text) == nil {
			b.WriteString(text[:min(len(text), maxName)])
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(component, &list) == nil {
			for _, c := range list {
				flatten(b, c, depth-1)
			}
		}
	case '{':
		var c struct{ Text, Translate, Extra json.RawMessage }
		if json.Unmarshal(component, &c) == nil {
			flatten(b, c.Text, 1)
			flatten(b, c.Translate, 1)
			flatten(b, c.Extra, depth-1)
		}
	}
}

// errShort means that the rest of a number has yet to come.
var errShort = errors.New("minecraft: a number cut short")

// cutVar reads a number of up to 32 bits.
func cutVar(b []byte) (n uint64, rest []byte, err error) {
	const more, bits, most = 0x80, 7, 5
	for i := range most {
		if i == len(b) {
			return 0, nil, errShort
		}
		n |= uint64(b[i]&^more) << (bits * i)
		if b[i]&more == 0 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, malformed("a number without end")
}

func appendVar(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendPacket(b, body []byte) []byte { return append(appendVar(b, uint64(len(body))), body...) }

// Answer returns the next bytes that a server in Muster's fleet sends. heard is all that it
// received on the connection, and before is how many bytes it has sent.
func Answer(heard []byte, before int, info discovery.Info) []byte {
	var all []byte
	if _, rest, err := cutPacket(heard, handshake); err == nil && rest != nil {
		var question []byte
		if question, rest, err = cutPacket(rest, status); err == nil && question != nil {
			text, _ := json.Marshal(map[string]any{
				"version": map[string]any{"name": info.Version, "protocol": info.Protocol}, "description": map[string]any{"text": info.Name},
				"players": map[string]any{"max": info.MaxPlayers, "online": info.Players},
			})
			all = appendPacket(nil, append(appendVar([]byte{status}, uint64(len(text))), text...))
			if time, _, err := cutPacket(rest, ping); err == nil && len(time) == timeLen {
				all = appendPacket(all, append([]byte{ping}, time...))
			}
		}
	}
	return all[min(before, len(all)):]
}
