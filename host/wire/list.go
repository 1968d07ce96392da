package wire

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"

	"muster/discovery"
)

// A list frame is the annotated list of [discovery.AppendList], deflated:
//
//	kind │ round │ records of 6 bytes, deflated
//
// Neighbours in a list share most of their bytes, so it compresses well.
const (
	// maxListBytes bounds an inflated list, in which every server may be IPv6 with its own markers.
	maxListBytes = discovery.MaxServers * 6 * 6
	// maxInflation bounds how much a list grows when it is inflated. Servers differ, so deflate
	// needs a byte or two for each.
	maxInflation = 16
	// maxNameBytes is what the names may add to that: those of one domain are much alike.
	maxNameBytes = discovery.MaxNames * 44 * 6
)

// AppendList appends a list frame to b.
func AppendList(b []byte, l List) []byte {
	b = append(b, kindList)
	b = binary.AppendUvarint(b, uint64(l.Round))
	packed := bytes.NewBuffer(b)
	w, err := flate.NewWriter(packed, flate.DefaultCompression)
	if err != nil {
		panic(err) // cannot happen: the level is a valid constant
	}
	w.Write(discovery.AppendList(nil, l.Servers)) // cannot fail: it writes to a bytes.Buffer
	w.Close()
	return packed.Bytes()
}

func parseList(b []byte) (Message, error) {
	r := reader{b: b}
	l := List{Round: int(r.upTo(MaxRound))}
	if r.err != nil {
		return nil, fmt.Errorf("%w: list: %v", ErrMalformed, r.err)
	}
	plain, err := inflate(r.b, min(maxListBytes, maxInflation*(len(r.b)+16)+maxNameBytes))
	if err == nil {
		l.Servers, err = discovery.ParseList(plain)
	}
	if err == nil && len(l.Servers) > discovery.MaxServers {
		err = fmt.Errorf("%d servers", len(l.Servers))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: list: %v", ErrMalformed, err)
	}
	return l, nil
}

// inflate returns what was deflated, if it is at most limit bytes.
func inflate(packed []byte, limit int) ([]byte, error) {
	source := bytes.NewReader(packed)
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(source), int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(plain) > limit:
		return nil, fmt.Errorf("%d bytes inflate to over %d", len(packed), limit)
	case source.Len() > 0:
		return nil, fmt.Errorf("%d bytes left over", source.Len())
	}
	return plain, nil
}
