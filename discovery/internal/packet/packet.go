// Package packet takes fields off the front of what a game server said.
package packet

import (
	"bytes"

	"muster/discovery"
)

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
