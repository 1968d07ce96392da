// Package quake3 speaks the connectionless protocol of Quake III Arena and its kin
// (ioquake3, OpenArena, Urban Terror, Xonotic and all of DarkPlaces): a client's
// requests, a server's answers, and a master's lists. Bytes in, bytes out: it opens no
// socket and reads no clock.
//
//	client                                 server
//	FF FF FF FF "getinfo" SP nonce    ──▶
//	                                  ◀──  FF FF FF FF "infoResponse" LF
//	                                       \key\value\key\value…
//
// Servers return the word after getinfo under the key challenge. Muster's is the
// query's nonce, so a reply that does not carry one of ours never counts.
//
// Sources: ioquake3's sv_main.c and cl_main.c, DarkPlaces' netconn.c, dpmaster's
// doc/techinfo.txt, and packets recorded from these programs (testdata).
package quake3

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"muster/discovery"
)

// Protocol asks with getinfo. It is a [discovery.Protocol].
type Protocol struct {
	// BotsApart says that the game's servers count people alone as clients, and that bots
	// take no seat from them.
	BotsApart bool
}

// AppendQuery appends the datagram that asks a server about itself. Servers of
// this kind demand no challenge.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, oob+"getinfo "...)
	return appendNonce(b, nonce)
}

// MOHAA asks the servers of Medal of Honor: Allied Assault and its expansions. In their
// connectionless packets an extra byte gives the direction: 02 to a server, 01 from
// one. It is a [discovery.Protocol]. (OpenMoHAA, qcommon/net_chan.c)
type MOHAA struct{ Protocol }

// toServer and fromServer are the directions of MOHAA's packets.
const toServer, fromServer = "\x02", "\x01"

// AppendQuery appends the datagram that asks a server about itself.
func (MOHAA) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, oob+toServer+"getinfo "...)
	return appendNonce(b, nonce)
}

// Parse reads the newest datagram that is a reply: each is one of its own. Both an
// infoResponse and a statusResponse will do. A reply without a nonce cannot be ours,
// and is as malformed as noise.
func (p Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	if len(datagrams) == 0 {
		return discovery.Reply{Incomplete: true}, nil
	}
	var newest error
	for _, b := range slices.Backward(datagrams) {
		s, nonce, err := parseStatus(b, p.BotsApart)
		if err == nil {
			return discovery.Reply{Nonce: nonce, Echoed: true, Info: &s.Info}, nil
		}
		newest = cmp.Or(newest, err)
	}
	return discovery.Reply{}, newest
}

// The words that replies start with.
const (
	infoResponse   = "infoResponse"
	statusResponse = "statusResponse"
)

// Both are made once, because anyone can trigger them.
var (
	errNoReply = malformed("neither %s nor %s", infoResponse, statusResponse)
	errNotOurs = malformed("a reply without a nonce of ours")
)

// oob starts every connectionless packet.
const oob = "\xff\xff\xff\xff"

// malformed returns an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("quake3: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}

// cutHeader returns the rest after the word in a connectionless packet, without the
// line end that most servers put after it.
func cutHeader(b []byte, word string) ([]byte, bool) {
	b, isOOB := bytes.CutPrefix(b, []byte(oob))
	b, _ = bytes.CutPrefix(b, []byte(fromServer))
	b, isWord := bytes.CutPrefix(b, []byte(word))
	if !isOOB || !isWord {
		return nil, false
	}
	b = bytes.TrimLeft(b, " \r")
	b, _ = bytes.CutPrefix(b, []byte("\n"))
	return b, true
}

// nonceLen is short enough for every server: DarkPlaces takes 49 bytes.
const nonceLen = 16

// appendNonce writes the nonce as hexadecimal text. This text is printable, and has no characters
// with a meaning in info strings and consoles.
func appendNonce(b []byte, nonce discovery.Nonce) []byte {
	return fmt.Appendf(b, "%0*x", nonceLen, uint64(nonce))
}

func parseNonce(b []byte) (discovery.Nonce, bool) {
	var raw [nonceLen / 2]byte
	if len(b) != nonceLen {
		return 0, false
	}
	if _, err := hex.Decode(raw[:], b); err != nil {
		return 0, false
	}
	var nonce discovery.Nonce
	for _, c := range raw {
		nonce = nonce<<8 | discovery.Nonce(c)
	}
	return nonce, true
}

const (
	// maxRequest bounds how much a server reads of a stranger's request. The longest
	// real one, getserversExt with all its filters, is far shorter.
	maxRequest = 512
	// maxChallenge is the longest challenge that ioquake3 returns.
	maxChallenge = 128
)

// commands are the requests that servers and masters answer.
var commands = []string{"getinfo", "getstatus", "getservers", "getserversExt"}

// Request is a client's request to a server or a master.
type Request struct {
	Command string
	Args    []string
}

// Challenge returns the word that the reply to getinfo or getstatus returns, or "".
func (r Request) Challenge() string {
	if len(r.Args) == 0 {
		return ""
	}
	return r.Args[0]
}

// ParseRequest reads getinfo, getstatus, getservers and getserversExt, with or without
// the line end or NUL that some clients put last. As in the games, a NUL ends the text,
// and all bytes up to the blank separate words.
func ParseRequest(b []byte) (Request, error) {
	text, ok := bytes.CutPrefix(b, []byte(oob))
	if !ok || len(b) > maxRequest {
		return Request{}, malformed("a request of %d bytes", len(b))
	}
	text, _ = bytes.CutPrefix(text, []byte(toServer))
	text, _, _ = bytes.Cut(text, []byte{0})
	words := strings.FieldsFunc(string(text), func(r rune) bool { return r <= ' ' })
	if len(words) == 0 || !slices.Contains(commands, words[0]) {
		return Request{}, malformed("no known request")
	}
	r := Request{Command: words[0], Args: words[1:]}
	if len(r.Challenge()) > maxChallenge {
		return Request{}, malformed("a challenge of %d bytes", len(r.Challenge()))
	}
	return r, nil
}

// Roll returns the protocol that asks with getstatus, which lists the players.
func (p Protocol) Roll() discovery.Protocol { return roll{botsApart: p.BotsApart} }

// Roll returns the protocol that asks with getstatus in MOHAA's form.
func (MOHAA) Roll() discovery.Protocol { return roll{direction: toServer} }

type roll struct {
	direction string
	botsApart bool
}

func (r roll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, oob+r.direction+"getstatus "...)
	return appendNonce(b, nonce)
}

// Parse reads the newest status. DarkPlaces answers without players if they do not fit.
func (r roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	var newest error
	for _, b := range slices.Backward(datagrams) {
		s, nonce, err := parseStatus(b, r.botsApart)
		if err != nil {
			newest = err
			continue
		}
		s.Info.Roster = &discovery.Roster{}
		for _, p := range s.Players {
			s.Info.Roster.Players = append(s.Info.Roster.Players, discovery.Player{Name: p.Name, Score: p.Score, Ping: p.Ping})
		}
		return discovery.Reply{Nonce: nonce, Echoed: true, Info: &s.Info}, nil
	}
	return discovery.Reply{Incomplete: newest == nil}, newest
}
