package ranges

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"
)

// version is the first number of a body.
const version = 1

// Header says what a table is. It can be read without decoding the table.
type Header struct {
	Name   string    // "country" or "asn"
	Source string    // maker of the data, where we got it, its licence; Latin-1
	Built  time.Time // when the source was made, to the second
}

// Encode writes a table. The steps must rise, from above 0. The same steps give the
// same bytes, as long as Go's compressor stays the same.
func Encode(w io.Writer, h Header, steps []Step) error {
	body, err := appendBody(nil, steps)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	z.Name, z.Comment, z.ModTime = h.Name, h.Source, h.Built
	if _, err := z.Write(body); err != nil {
		return err
	}
	return z.Close()
}

func appendBody(b []byte, steps []Step) ([]byte, error) {
	values := make([]uint32, len(steps)) // each once, rising
	for i, s := range steps {
		values[i] = s.Number
	}
	slices.Sort(values)
	values = slices.Compact(values)
	b = binary.AppendUvarint(b, version)
	b = binary.AppendUvarint(b, uint64(len(values)))
	before := uint32(0)
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(v-before))
		before = v
	}
	b = binary.AppendUvarint(b, uint64(len(steps)))
	b, err := appendStarts(b, steps)
	if err != nil {
		return nil, err
	}
	for plane := range indexBytes(len(values)) {
		for _, s := range steps {
			i, _ := slices.BinarySearch(values, s.Number)
			b = append(b, byte(i>>(8*plane)))
		}
	}
	return b, nil
}

func appendStarts(b []byte, steps []Step) ([]byte, error) {
	var mantissas []byte
	before := uint64(0)
	for i, s := range steps {
		if s.Start <= before {
			return nil, fmt.Errorf("geo: range %d starts at %#x, not above %#x", i, s.Start, before)
		}
		distance := s.Start - before
		shift := bits.TrailingZeros64(distance)
		b = append(b, byte(shift))
		mantissas = binary.AppendUvarint(mantissas, distance>>shift>>1)
		before = s.Start
	}
	return append(b, mantissas...), nil
}

// indexBytes returns how many bytes an index into this many values takes.
func indexBytes(values int) int {
	return (bits.Len(uint(max(values-1, 1))) + 7) / 8
}
