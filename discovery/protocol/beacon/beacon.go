// Package beacon speaks the question and the answer by which a place is measured where no
// game server runs: muster beacon answers there. Bytes in, bytes out, for both sides: it
// opens no socket and reads no clock.
//
//	asker                                             beacon
//	"Muster?1"  nonce[8]  padding[48]   ──▶
//	                                    ◀──  "Muster!1"  nonce[8]  name[0 to 48]
//
// The nonce is eight bytes that the asker draws, big-endian, and comes back as it was: an
// answer counts only with one of the asker's. The padding is zeros, and makes the question
// as long as the longest answer: who forges its sender gets no byte more sent to somebody
// than they sent themselves. An answer begins otherwise than a question, so that two beacons
// never keep each other busy, and says nothing of who asked. The name is what the beacon's
// owner calls the place, in UTF-8.
//
// The last byte of the mark is the version. A beacon is silent to versions that it does
// not know, and takes a question that is longer than this one.
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
	// headLen is the mark and the nonce, in bytes.
	headLen = len(asks) + 8
	// MaxName is the longest name that an answer tells, in bytes.
	MaxName = 48
	// QuestionLen is the length of a question, in bytes, and of the longest answer.
	QuestionLen = headLen + MaxName
	// Port is where a beacon listens unless it is told otherwise.
	Port = 7787
)

// Protocol asks beacons. It is a [discovery.Protocol].
type Protocol struct{}

// AppendQuery appends the datagram that asks a beacon.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, asks...), uint64(nonce))
	return append(b, make([]byte, MaxName)...)
}

var errNoAnswer = fmt.Errorf("beacon: %w: no answer of a beacon", discovery.ErrMalformed)

// Parse reads the newest datagram that is an answer.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoAnswer, func(b []byte) (reply discovery.Reply, ok bool) {
		if len(b) < headLen || len(b) > QuestionLen || !bytes.HasPrefix(b, []byte(answers)) {
			return reply, false
		}
		return discovery.Reply{
			Nonce: discovery.Nonce(binary.BigEndian.Uint64(b[len(answers):])), Echoed: true,
			Info: &discovery.Info{Name: discovery.CleanText(string(b[headLen:]))},
		}, true
	})
}

// AppendAnswer appends what a beacon of a name says to a question; nothing if it is none.
func AppendAnswer(b, question []byte, name string) []byte {
	if len(question) < QuestionLen || !bytes.HasPrefix(question, []byte(asks)) {
		return b
	}
	b = append(append(b, answers...), question[len(asks):headLen]...)
	return append(b, name[:min(len(name), MaxName)]...)
}

// Name is a name as answers tell it: clean, and no longer than they can be.
func Name(text string) string {
	text = discovery.CleanText(text)
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), MaxName)], ""))
}
