package ranges

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"muster/discovery"
)

// maxBody is the longest body, in bytes, that is decoded; ours have under 3 MB. A range
// takes three bytes or more, so this bounds a table's memory to some 35 MB.
const maxBody = 8 << 20

// ReadHeader reads a table's description of itself, and no more.
func ReadHeader(r io.Reader) (Header, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return Header{}, malformed("header: %v", err)
	}
	return Header{z.Name, z.Comment, z.ModTime.UTC()}, nil
}

// Decode reads a table, and converts its numbers with value. Its errors wrap
// [discovery.ErrMalformed].
func Decode[V any](r io.Reader, value func(number uint32) V) (*Table[V], error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, malformed("header: %v", err)
	}
	body, err := io.ReadAll(io.LimitReader(z, maxBody+1))
	switch {
	case err != nil:
		return nil, malformed("body: %v", err)
	case len(body) > maxBody:
		return nil, malformed("body of more than %d bytes", maxBody)
	}
	return parse(body, value)
}

// Steps reads a table back as the encoded steps, without merging equal numbers.
func Steps(r io.Reader) ([]Step, error) {
	t, err := Decode(r, func(number uint32) uint32 { return number })
	if err != nil {
		return nil, err
	}
	steps := make([]Step, len(t.starts))
	for i, start := range t.starts {
		steps[i] = Step{start, t.values[t.index[i]]}
	}
	return steps, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("geo: table: %w: %s", discovery.ErrMalformed, fmt.Sprintf(format, args...))
}

func parse[V any](body []byte, value func(uint32) V) (*Table[V], error) {
	p := &parser{rest: body}
	if v := p.uvarint(); v != version {
		return nil, malformed("version %d, not %d", v, version)
	}
	t := &Table[V]{values: values(p, value)}
	n := p.count()
	t.starts = p.starts(n)
	t.index = p.indices(n, len(t.values))
	if p.fault == "" && len(p.rest) > 0 {
		p.fail("trailing bytes")
	}
	if p.fault != "" {
		return nil, malformed("%s", p.fault)
	}
	return t, nil
}

// parser takes a body apart from the front. After a fault it yields nothing more.
type parser struct {
	rest  []byte
	fault string // the first one
}

func (p *parser) fail(fault string) {
	p.fault = cmp.Or(p.fault, fault)
	p.rest = nil
}

func (p *parser) uvarint() uint64 {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 {
		p.fail("cut off in a number")
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

// count reads how many elements follow; each takes at least a byte.
func (p *parser) count() int {
	n := p.uvarint()
	if n > uint64(len(p.rest)) {
		p.fail("more elements than bytes")
		return 0
	}
	return int(n)
}

func (p *parser) bytes(n int) []byte {
	if n > len(p.rest) {
		p.fail("cut off in a column")
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func values[V any](p *parser, value func(uint32) V) []V {
	all := make([]V, 0, p.count())
	number := uint64(0)
	for i := range cap(all) {
		distance := p.uvarint()
		number += distance
		if distance > math.MaxUint32 || number > math.MaxUint32 || i > 0 && distance == 0 {
			p.fail("values out of order")
		}
		if p.fault != "" {
			return nil
		}
		all = append(all, value(uint32(number)))
	}
	return all
}

func (p *parser) starts(n int) []uint64 {
	shifts := p.bytes(n)
	if n > len(p.rest) {
		p.fail("more ranges than bytes")
		return nil
	}
	starts := make([]uint64, n)
	at := uint64(0)
	for i := range starts {
		mantissa, shift := p.uvarint(), shifts[i]
		if p.fault != "" {
			return nil
		}
		if bits.Len64(mantissa)+1+int(shift) > 64 {
			p.fail("a start beyond the last address")
			return nil
		}
		before := at
		at += (mantissa<<1 | 1) << shift
		if at < before {
			p.fail("a start beyond the last address")
			return nil
		}
		starts[i] = at
	}
	return starts
}

func (p *parser) indices(n, values int) []uint32 {
	planes := indexBytes(values)
	if planes*n > len(p.rest) {
		p.fail("cut off in the indices")
		return nil
	}
	index := make([]uint32, n)
	for plane := range planes {
		for i, b := range p.bytes(n) {
			index[i] |= uint32(b) << (8 * plane)
		}
	}
	for _, i := range index {
		if int(i) >= values {
			p.fail("an index beyond the values")
			return nil
		}
	}
	return index
}
