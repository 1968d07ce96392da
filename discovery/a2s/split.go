package a2s

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// compressed is the bit of a split's ID that says its payload is bzip2.
const compressed = 1 << 31

// SplitSource are the datagrams in which a Source server sends a reply that is
// longer than size: pieces of up to size bytes. A shorter reply stays whole. The
// size is raised where more than 255 pieces would be needed. Information should
// stay whole, as it does with real servers: it is what tells QStat the layout of
// the pieces of all other replies.
//
//	FE FF FF FF  id[4]  total[1]  index[1]  size[2]  payload
func SplitSource(reply []byte, id uint32, size int) iter.Seq[[]byte] {
	size = max(size, (len(reply)+math.MaxUint8-1)/math.MaxUint8, 1)
	if len(reply) <= size {
		return func(yield func([]byte) bool) { yield(reply) }
	}
	total := (len(reply) + size - 1) / size
	return func(yield func([]byte) bool) {
		index := 0
		for payload := range slices.Chunk(reply, size) {
			b := binary.LittleEndian.AppendUint32([]byte(piece), id&^compressed)
			b = append(b, byte(total), byte(index))
			b = binary.LittleEndian.AppendUint16(b, uint16(size))
			if !yield(append(b, payload...)) {
				return
			}
			index++
		}
	}
}
