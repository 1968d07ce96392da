package quake3

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// variables are the values of an info string that Muster understands, unchanged from
// the packet. If games use different keys, a comment names the game.
type variables struct {
	challenge  []byte
	name       []byte
	mapName    []byte
	mode       []byte
	qcStatus   []byte // DarkPlaces: "dm:2.5.2::score!!", the mode comes first
	version    []byte
	protocol   []byte
	mod        []byte // the game's folder, if it is not the game's own
	clients    []byte // bots are counted
	humans     []byte
	bots       []byte
	maxClients []byte
	private    []byte
	password   []byte
	minPing    []byte
	maxPing    []byte
}

// slot returns the place for the value of a key in lower case, or nil.
func (v *variables) slot(key []byte) *[]byte {
	switch string(key) {
	case "challenge":
		return &v.challenge
	case "hostname", "sv_hostname":
		return &v.name
	case "mapname":
		return &v.mapName
	case "gametype", "g_gametype":
		return &v.mode
	case "qcstatus":
		return &v.qcStatus
	case "version", "gameversion":
		return &v.version
	case "protocol", "com_protocol": // ioquake3, where it has both
		return &v.protocol
	case "game", "modname": // DarkPlaces
		return &v.mod
	case "clients":
		return &v.clients
	case "g_humanplayers":
		return &v.humans
	case "bots":
		return &v.bots
	case "sv_maxclients":
		return &v.maxClients
	case "sv_privateclients":
		return &v.private
	case "g_needpass", "needpass", "password", "pswrd": // ET and Jedi Academy, Urban Terror, Call of Duty
		return &v.password
	case "minping", "sv_minping":
		return &v.minPing
	case "maxping", "sv_maxping":
		return &v.maxPing
	}
	return nil
}

// parseVariables reads an info string. As in the games, keys ignore letter case, and the first of
// repeated keys counts. A NUL or line end, which C leaves at the end of a text, does not belong to
// the last value.
func parseVariables(b []byte) variables {
	b = bytes.TrimRight(b, "\x00\r ")
	var v variables
	var lower [longestKey]byte
	for key, value := range Pairs(b) {
		if at := v.slot(appendLower(lower[:0], key)); at != nil && *at == nil {
			*at = value
		}
	}
	return v
}

// Pairs yields the keys and values of an info string. Its first backslash may be
// missing. It ignores a last key without a value.
func Pairs(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		b, _ := bytes.CutPrefix(b, []byte(`\`))
		for {
			key, rest, isPair := bytes.Cut(b, []byte(`\`))
			if !isPair {
				return
			}
			var value []byte
			value, b, _ = bytes.Cut(rest, []byte(`\`))
			if !yield(key, value) {
				return
			}
		}
	}
}

// longestKey is longer than any key that Muster understands.
const longestKey = 24

// appendLower appends the key in lower case, or nothing if it is too long.
func appendLower(b, key []byte) []byte {
	if len(key) > longestKey {
		return b
	}
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// info returns what the variables say about the server, without its seats.
func (v *variables) info() discovery.Info {
	mode := v.mode
	if mode == nil { // DarkPlaces has it in front of its status
		mode, _, _ = bytes.Cut(v.qcStatus, []byte(":"))
	}
	info := discovery.Info{
		Name:     CleanName(string(v.name)),
		Map:      packet.Text(v.mapName),
		Mode:     packet.Text(mode),
		Version:  CleanName(string(v.version)),
		Protocol: number(v.protocol),
		Mod:      packet.Text(v.mod),
		Password: number(v.password) != 0,
		MinPing:  time.Duration(number(v.minPing)) * time.Millisecond,
		MaxPing:  time.Duration(number(v.maxPing)) * time.Millisecond,
	}
	return info
}

// seats returns the numbers of clients, bots and seats. In an infoResponse the private seats are
// already subtracted.
func (v *variables) seats() (clients, bots, seats int) {
	clients = count(v.clients)
	switch {
	case v.bots != nil:
		bots = count(v.bots)
	case v.humans != nil:
		bots = max(0, clients-number(v.humans))
	}
	return clients, bots, count(v.maxClients)
}

// count returns a number of players or seats, 0 if no server can mean it.
func count(b []byte) int { return packet.Count(number(b)) }

// maxNumber is far above any true number of milliseconds.
const maxNumber = 1_000_000

// number reads the digits at the start, like C's atoi, which the games use: anything
// but a number is 0, and so is a negative one.
func number(b []byte) int {
	n := 0
	for _, c := range bytes.TrimLeft(b, " +") {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), maxNumber)
	}
	return n
}

// CleanName makes the name of a server or a player fit to show. It drops colour codes,
// and then what [discovery.CleanText] drops. A caret and the character after it are a
// colour in Quake III Arena and its descendants, except before another caret.
// DarkPlaces adds ^xRGB with three hexadecimal digits, and Call of Duty's later engine a
// picture:
//
//	^ 01 or 02  width[1]  height[1]  length[1]  picture's name
func CleanName(s string) string { return packet.Text([]byte(withoutColours(s))) }

func withoutColours(s string) string {
	before, after, found := strings.Cut(s, "^")
	if !found {
		return s
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		n := colourLen(after)
		if n == 0 {
			b.WriteByte('^')
		}
		before, after, found = strings.Cut(after[n:], "^")
	}
	b.WriteString(before)
	return b.String()
}

// rgbLen is the length of DarkPlaces' code after the caret, pictureLen that of a
// picture before its name.
const rgbLen, pictureLen = len("xRGB"), 4

// colourLen returns how many bytes after a caret belong to its colour code.
func colourLen(s string) int {
	switch {
	case len(s) >= pictureLen && (s[0] == 1 || s[0] == 2) && len(s)-pictureLen >= int(s[3]):
		return pictureLen + int(s[3])
	case s == "" || s[0] == '^' || s[0] <= ' ' || s[0] > '~':
		return 0
	case len(s) >= rgbLen && s[0] == 'x' && isHex(s[1]) && isHex(s[2]) && isHex(s[3]):
		return rgbLen
	}
	return 1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
