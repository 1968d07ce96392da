// Package packet finds the reply among what a game server said, and takes fields off its
// front.
package packet

import (
	"bytes"
	"slices"
	"strconv"

	"muster/discovery"
)

// Newest is what the newest of the datagrams means that read makes a reply of. If there
// are datagrams, and none is one, the error is none.
func Newest(datagrams [][]byte, none error, read func(b []byte) (reply discovery.Reply, ok bool)) (discovery.Reply, error) {
	for _, b := range slices.Backward(datagrams) {
		if reply, ok := read(b); ok {
			return reply, nil
		}
	}
	if len(datagrams) == 0 {
		return discovery.Reply{Incomplete: true}, nil
	}
	return discovery.Reply{}, none
}

// MaxCount is above any true number of players or seats. A server that says more
// tells none: it would win every wish for free seats.
const MaxCount = 1<<16 - 1

// Count is a number of players or seats, 0 if no server can mean it.
func Count(n int) int {
	if n < 0 || n > MaxCount {
		return 0
	}
	return n
}

// ParseCount is such a number in decimal digits, 0 if it is none.
func ParseCount(text string) int { return Count(ParseNumber(text)) }

// ParseNumber is a number in decimal digits, 0 if it is none or below 0. What is too
// large is the largest, [discovery.MaxProtocol].
func ParseNumber(text string) int {
	n, _ := strconv.ParseInt(text, 10, 32)
	return max(0, int(n))
}

// Reader takes fields off the front of a packet. A field that is not there is 0 or
// empty, and so is all after it; Short says so.
type Reader struct {
	Rest  []byte
	Short bool
}

// Take is the next n bytes, or n zeros.
func (r *Reader) Take(n int) []byte {
	if len(r.Rest) < n {
		r.Rest, r.Short = nil, true
		return make([]byte, n)
	}
	field := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return field
}

// Octet is the next byte.
func (r *Reader) Octet() byte { return r.Take(1)[0] }

// Bytes is what stands before the next NUL.
func (r *Reader) Bytes() []byte {
	text, rest, found := bytes.Cut(r.Rest, []byte{0})
	if !found {
		r.Rest, r.Short = nil, true
		return nil
	}
	r.Rest = rest
	return text
}

// Text is what stands before the next NUL, cleaned for display.
func (r *Reader) Text() string { return discovery.CleanText(string(r.Bytes())) }
