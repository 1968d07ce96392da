package a2s

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzPieces delivers datagrams in any order, twice, and mixed with others. It checks
// that a reply comes out unchanged, and that nothing grows beyond its bounds.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("a reply of a server, long enough for a few pieces"), uint8(10), []byte{2, 0, 1, 1, 4, 3})
	f.Add([]byte(piece+"\x01\x00\x00\x80\x02\x00\x00\x00"), uint8(4), []byte{0})
	f.Fuzz(func(t *testing.T, reply []byte, size uint8, order []byte) {
		var hostile pieces
		for chunk := range slices.Chunk(reply, int(size)+1) {
			whole, err := hostile.add(chunk)
			if err == nil && whole.packed {
				whole.bytes, err = unpack(whole.bytes)
			}
			if err == nil && len(whole.bytes) > maxReply {
				t.Fatalf("a packet of %d bytes", len(whole.bytes))
			}
		}
		if bytes.Contains(reply, []byte("\xff\xff")) {
			return // a piece could pass for a first one, of another layout
		}
		whole := append([]byte(single), reply...)
		datagrams := slices.Collect(SplitSource(whole, 7, int(size)))
		for i, at := range order {
			j := int(at) % len(datagrams)
			i %= len(datagrams)
			datagrams[i], datagrams[j] = datagrams[j], datagrams[i]
		}
		var p pieces
		var got []byte
		for _, d := range datagrams {
			joined, err := p.add(d)
			if err != nil {
				return // more than a reply may have
			}
			if joined.bytes != nil {
				got = joined.bytes
			}
		}
		if len(datagrams) > 1 && len(whole) <= maxReply && got != nil && !bytes.Equal(got, reply) {
			t.Errorf("%d bytes in %d pieces are %d bytes again", len(reply), len(datagrams), len(got))
		}
	})
}
