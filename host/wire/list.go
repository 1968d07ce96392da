package wire

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"

	"muster/discovery"
)

// maxListBytes bounds an inflated list: every server with markers and IPv6.
const maxListBytes = 8 << 20

// appendList appends the round and the deflated annotated list. Neighbours in a
// list share most of their bytes, which deflate finds better than we would.
func appendList(b []byte, l List) []byte {
	b = binary.AppendUvarint(b, uint64(l.Round))
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is a constant that flate knows
	}
	w.Write(discovery.AppendList(nil, l.Servers)) // a bytes.Buffer takes everything
	w.Close()
	return append(b, packed.Bytes()...)
}

func parseList(b []byte) (Message, error) {
	r := reader{b: b}
	l := List{Round: int(r.upTo(maxServers))}
	if r.err != nil {
		return nil, fmt.Errorf("%w: list: %v", ErrMalformed, r.err)
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(r.b)), maxListBytes+1))
	if err != nil || len(plain) > maxListBytes {
		return nil, fmt.Errorf("%w: list of %d bytes or more: %v", ErrMalformed, len(plain), err)
	}
	l.Servers, err = discovery.ParseList(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return l, nil
}
