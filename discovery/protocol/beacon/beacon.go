// Package beacon measures a place without a game server: muster beacon answers there.
// Bytes in, bytes out, for both sides: it opens no socket and reads no clock.
//
//	asker                                             beacon
//	"Muster?1"  nonce[8]  padding[48]   ──▶
//	                                    ◀──  "Muster!1"  nonce[8]  name[0 to 48]
//
// The asker draws a nonce of eight bytes, big-endian, and the beacon returns it
// unchanged: an answer counts only with one of the asker's. The padding is zeros, and
// makes the question as long as the longest answer. So an attacker who forges the
// sender sends the victim no more bytes than without the beacon. An answer begins with
// other bytes than a question, so that two beacons never answer each other for ever. It
// says nothing about the asker. The name is the owner's name for the place, in UTF-8.
//
// A machine that returns any datagram, such as the ping beacons of Amazon GameLift at UDP
// port 7770 (a payload under 300 bytes comes back; at most 3 a second of one source), is asked
// by the same question: its own question, returned unchanged, is an answer without a name.
// Beacons do not answer so.
//
// The last byte of the mark is the version. A beacon ignores versions that it does not
// know, and accepts a question that is longer than this one.
//
// A browser cannot send such a question. It asks as WebRTC does before a connection, by
// a connectivity check of ICE (RFC 8445), a STUN message (RFC 8489):
//
//	browser                                           beacon
//	binding request, 100 bytes          ──▶
//	USERNAME "muster:…"
//	MESSAGE-INTEGRITY, FINGERPRINT
//	                                    ◀──  binding success, 64 bytes (IPv6: 76)
//	                                         XOR-MAPPED-ADDRESS
//	                                         MESSAGE-INTEGRITY, FINGERPRINT
//
// To the browser a beacon is an agent with the ufrag [Ufrag] and the password [Password].
// All beacons share them: they tell the checks of beacons from other datagrams, and are
// no secret. No connection ever comes of it. The answer holds the address that the check
// came from, and is never longer than the check.
package beacon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

const (
	asks, answers = "Muster?1", "Muster!1"
	// headLen is the length of the mark and the nonce, in bytes.
	headLen = len(asks) + 8
	// MaxName is the longest name in an answer, in bytes.
	MaxName = 48
	// QuestionLen is the length of a question, in bytes, and of the longest answer.
	QuestionLen = headLen + MaxName
	// Port is a beacon's default port.
	Port = 7787
	// Ufrag and Password are those of every beacon in ICE.
	Ufrag, Password = "muster", "musterAnswersEverybody00"
)

// Protocol asks beacons. It is a [discovery.Protocol].
type Protocol struct{}

// AppendQuery appends the datagram that asks a beacon.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, asks...), uint64(nonce))
	return append(b, make([]byte, MaxName)...)
}

var errNoAnswer = fmt.Errorf("beacon: %w: no answer of a beacon", discovery.ErrMalformed)

// Parse reads the newest datagram that is an answer, or a question that an echo returned.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoAnswer, func(b []byte) (reply discovery.Reply, ok bool) {
		if isEcho(b) {
			b = b[:headLen]
		} else if len(b) < headLen || len(b) > QuestionLen || !bytes.HasPrefix(b, []byte(answers)) {
			return reply, false
		}
		return discovery.Reply{
			Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[len(answers):])), Echoed: true,
			Info: &discovery.Info{Name: packet.Text(b[headLen:])},
		}, true
	})
}

// isEcho reports whether a datagram is a question as [Protocol.AppendQuery] writes it.
func isEcho(b []byte) bool {
	return len(b) == QuestionLen && bytes.HasPrefix(b, []byte(asks)) && bytes.Count(b[headLen:], []byte{0}) == MaxName
}

// AppendAnswer appends the answer of a beacon with this name; nothing if it was no
// question.
func AppendAnswer(b, question []byte, name string) []byte {
	if len(question) < QuestionLen || !bytes.HasPrefix(question, []byte(asks)) {
		return b
	}
	b = append(append(b, answers...), question[len(asks):headLen]...)
	return append(b, name[:min(len(name), MaxName)]...)
}

// Name returns a name as answers have it: clean, and short enough.
func Name(text string) string {
	text = discovery.CleanText(text)
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), MaxName)], ""))
}
