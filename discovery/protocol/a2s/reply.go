package a2s

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"muster/discovery"
)

// protocolVersion is the protocol of today's servers of the Source engine.
const protocolVersion = 17

// Flags of the fields after the version in a reply to [Info], in their order.
const (
	hasGamePort byte = 0x80
	hasSteamID  byte = 0x10
	hasTV       byte = 0x40
	hasKeywords byte = 0x20
	hasGameID   byte = 0x01
)

// appMask is the part of a game ID that is the application.
const appMask = 0xffffff

// AppendChallenge appends the reply that demands a challenge.
func AppendChallenge(b []byte, challenge [4]byte) []byte {
	b = append(b, single...)
	b = append(b, kindChallenge)
	return append(b, challenge[:]...)
}

// AppendInfo appends a dedicated server's answer to [Info]. The game port and the
// application follow in the extra data when they are set. Info.Mode is in the fields
// folder and game (see [Protocol.Parse]). Numbers that do not fit their field are cut
// to the largest that do.
func AppendInfo(b []byte, info discovery.Info) []byte {
	b = append(b, single...)
	b = append(b, kindInfo, protocolVersion)
	for _, text := range []string{info.Name, info.Map, info.Mode, info.Mode} {
		b = appendText(b, text)
	}
	// As much of the application as fits; all of it is in the game ID.
	b = binary.LittleEndian.AppendUint16(b, uint16(info.AppID))
	b = append(b, octet(info.Players), octet(info.MaxPlayers), octet(info.Bots))
	b = append(b, 'd', 'l', bit(info.Password), bit(true))
	if uint16(info.AppID) == theShip {
		b = append(b, 0, 0, 0)
	}
	b = appendText(b, info.Version)
	flags := len(b)
	b = append(b, 0)
	if info.GamePort != 0 {
		b[flags] |= hasGamePort
		port := info.GamePort
		if info.AppID == sevenDaysApp {
			port = min(port, math.MaxUint16-sevenDaysAbove) + sevenDaysAbove
		}
		b = binary.LittleEndian.AppendUint16(b, port)
	}
	if info.Tags != "" {
		b[flags] |= hasKeywords
		b = appendText(b, strings.Join(info.Tags.Words(), ","))
	}
	if info.AppID != 0 {
		b[flags] |= hasGameID
		b = binary.LittleEndian.AppendUint64(b, info.AppID&appMask)
	}
	return b
}

// Player is one line of a server's list of players.
type Player struct {
	Name  string
	Score int32
	// Connected is how long the player has been there.
	Connected time.Duration
}

// AppendPlayers appends a server's answer to [Players]: the first 255.
func AppendPlayers(b []byte, players []Player) []byte {
	players = players[:min(len(players), math.MaxUint8)]
	b = append(b, single...)
	b = append(b, kindPlayers, byte(len(players)))
	for i, p := range players {
		b = append(b, byte(i))
		b = appendText(b, p.Name)
		b = binary.LittleEndian.AppendUint32(b, uint32(p.Score))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(p.Connected.Seconds())))
	}
	return b
}

// Rule is a variable of the server that is open to the public.
type Rule struct{ Name, Value string }

// AppendRules appends a server's answer to [Rules].
func AppendRules(b []byte, rules []Rule) []byte {
	rules = rules[:min(len(rules), math.MaxUint16)]
	b = append(b, single...)
	b = append(b, kindRules)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(rules)))
	for _, r := range rules {
		b = appendText(b, r.Name)
		b = appendText(b, r.Value)
	}
	return b
}

// appendText appends the text up to its first NUL, which ends every text.
func appendText(b []byte, text string) []byte {
	text, _, _ = strings.Cut(text, "\x00")
	b = append(b, text...)
	return append(b, 0)
}

func octet(n int) byte { return byte(max(0, min(n, math.MaxUint8))) }

func bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}
