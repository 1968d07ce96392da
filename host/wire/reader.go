package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"muster/discovery"
)

// reader reads numbers and texts from a frame. It keeps the first error in err, and then reads only
// zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.b = nil
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 { // nearly all numbers
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("cut off, or a number too large")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// upTo reads a number, which must not exceed limit.
func (r *reader) upTo(limit uint64) uint64 {
	v := r.uvarint()
	if v > limit {
		r.fail("%d is over %d", v, limit)
		return 0
	}
	return v
}

// server reads a server's index as the zigzag difference to another.
func (r *reader) server(last int64) int64 {
	server := last + unzigzag(r.upTo(2*discovery.MaxServers))
	if server < 0 || server >= discovery.MaxServers {
		r.fail("server %d", server)
		return 0
	}
	return server
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail("cut off")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) text(limit uint64) string {
	n := r.upTo(limit)
	if n > uint64(len(r.b)) {
		r.fail("cut off inside a text")
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// end returns the error, if any. Bytes that are left over are an error, too.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return errors.New("bytes left over")
	}
	return r.err
}
