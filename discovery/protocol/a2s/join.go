package a2s

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"

	"muster/discovery/internal/packet"
)

// maxReply bounds a reply that comes in pieces, packed or not: no information is longer
// than a datagram could be.
const maxReply = 1 << 16

// compressed is the bit of a split's ID for a bzip2 payload.
const compressed = 1 << 31

// packedHeader is the length of the bytes before the bzip2 of a compressed split:
// size[4] checksum[4].
const packedHeader = 8

// layout is an engine's format of a piece. GoldSrc packs index and total in one byte;
// the first games on Source leave out the size.
//
//	GoldSrc   FE FF FF FF  id[4]  index, total[½ each]      payload
//	Source    FE FF FF FF  id[4]  total[1] index[1] size[2]  payload
//	2006      FE FF FF FF  id[4]  total[1] index[1]          payload
type layout struct {
	goldSrc bool
	// header is how many bytes precede the payload.
	header int
}

// A piece does not say which layout it has; see [layout.isFirst].
var (
	goldSrc    = layout{goldSrc: true, header: 9}
	source     = layout{header: 12}
	source2006 = layout{header: 10}
)

// cut takes a piece apart.
func (l layout) cut(d []byte) (index, total int, payload []byte) {
	switch {
	case len(d) < l.header:
		return 0, 0, nil
	case l.goldSrc:
		return int(d[8] >> 4), int(d[8] & 15), d[l.header:]
	}
	return int(d[9]), int(d[8]), d[l.header:]
}

// isFirst reports whether d is the first piece in this layout. The server split a whole
// packet, so its header, or that of bzip2, must be in the right place.
func (l layout) isFirst(d []byte) bool {
	index, total, payload := l.cut(d)
	if index != 0 || total == 0 {
		return false
	}
	if !l.goldSrc && isCompressed(d) {
		return len(payload) > packedHeader && bytes.HasPrefix(payload[packedHeader:], []byte("BZh"))
	}
	return bytes.HasPrefix(payload, []byte(single))
}

func pieceID(d []byte) uint32    { return binary.LittleEndian.Uint32(d[4:]) }
func isCompressed(d []byte) bool { return pieceID(d)&compressed != 0 }

// pieces are the datagrams of one split reply, in order of arrival.
type pieces [][]byte

// joined is a packet whose pieces have all arrived.
type joined struct {
	bytes []byte
	// packed means that the bytes need [unpack].
	packed bool
}

// add takes a datagram, and returns the packet that it is or completes, without its
// header. There are no bytes while pieces are missing. A piece of another split
// restarts.
func (p *pieces) add(d []byte) (joined, error) {
	if whole, ok := bytes.CutPrefix(d, []byte(single)); ok {
		return joined{bytes: whole}, nil
	}
	if !bytes.HasPrefix(d, []byte(piece)) || len(d) < goldSrc.header {
		return joined{}, malformed("neither a packet nor a piece of one")
	}
	if len(*p) > 0 && pieceID((*p)[0]) != pieceID(d) {
		*p = nil
	}
	if len(*p) == math.MaxUint8 {
		return joined{}, malformed("more pieces than a packet can have")
	}
	*p = append(*p, d)
	return p.join()
}

// join returns the packet, without its header, once all pieces are there.
func (p pieces) join() (joined, error) {
	l, first := p.first()
	_, total, _ := l.cut(first)
	parts := make([][]byte, total)
	missing, size := total, 0
	for _, d := range p {
		index, n, payload := l.cut(d)
		if n != total || index >= total || parts[index] != nil {
			continue
		}
		parts[index] = payload
		missing--
		size += len(payload)
	}
	switch {
	case total == 0 || missing > 0:
		return joined{}, nil
	case size > maxReply:
		return joined{}, malformed("a packet of %d bytes", size)
	}
	packet := slices.Concat(parts...)
	if !l.goldSrc && isCompressed(first) {
		return joined{bytes: packet, packed: true}, nil
	}
	return joined{bytes: bytes.TrimPrefix(packet, []byte(single))}, nil
}

// first returns the first piece, and its layout. Without such a piece the layout counts
// as today's: the piece has yet to come, or has no header inside.
func (p pieces) first() (layout, []byte) {
	for _, d := range p {
		for _, l := range []layout{goldSrc, source, source2006} {
			if l.isFirst(d) {
				return l, d
			}
		}
	}
	return source, p[0]
}

// smallestBlock is the block size of bzip2 with the least memory, 100,000 bytes.
// Even the worst packet of maxReply bytes fits into one such block.
const smallestBlock = '1'

// unpack returns the payload of a compressed split without its header. It claims the
// smallest block size for the data, whatever the server wrote: with the largest, 94
// bytes would make the reader take 3.7 MB.
func unpack(b []byte) ([]byte, error) {
	r := reader{packet.Reader{Rest: b}}
	size, sum := r.u32(), r.u32()
	if r.Short || size > maxReply {
		return nil, malformed("a packet of %d bytes when unpacked", size)
	}
	if level := len("BZh"); len(r.Rest) > level {
		r.Rest = bytes.Clone(r.Rest)
		r.Rest[level] = smallestBlock
	}
	packet, err := io.ReadAll(io.LimitReader(bzip2.NewReader(bytes.NewReader(r.Rest)), int64(size)+1))
	switch {
	case err != nil:
		return nil, malformed("%w", err)
	case len(packet) != int(size):
		return nil, malformed("a packet that says %d bytes, and has others", size)
	case crc32.ChecksumIEEE(packet) != sum:
		return nil, malformed("a wrong checksum")
	}
	return bytes.TrimPrefix(packet, []byte(single)), nil
}

// unpacks reports whether [parse] unpacks one of these datagrams.
func unpacks(datagrams [][]byte) bool {
	var split pieces
	for _, d := range datagrams {
		if packet, err := split.add(d); err == nil && packet.packed {
			return true
		}
	}
	return false
}

// SplitSource yields a Source server's datagrams for a reply that is longer than size:
// pieces of up to size bytes. A shorter reply stays whole. SplitSource raises the size
// if there would be more than 255 pieces. Information should stay whole, as it does
// with real servers: QStat takes from it the layout of the pieces of all other replies.
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
