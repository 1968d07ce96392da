package a2s

import (
	"bytes"
	"encoding/binary"

	"muster/discovery"
)

// reader takes fields off the front of a packet. A field that is not there is
// zero, and so is all after it; short says so.
type reader struct {
	rest  []byte
	short bool
}

// take is the next n bytes, or n zeros.
func (r *reader) take(n int) []byte {
	if len(r.rest) < n {
		r.rest, r.short = nil, true
		return make([]byte, n)
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}

func (r *reader) octet() byte { return r.take(1)[0] }
func (r *reader) flag() bool  { return r.octet() != 0 }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// bytes is what stands before the next NUL.
func (r *reader) bytes() []byte {
	text, rest, found := bytes.Cut(r.rest, []byte{0})
	if !found {
		r.rest, r.short = nil, true
		return nil
	}
	r.rest = rest
	return text
}

// text is what stands before the next NUL, cleaned for display.
func (r *reader) text() string { return discovery.CleanText(string(r.bytes())) }
