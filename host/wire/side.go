package wire

import (
	"fmt"

	"github.com/gorilla/websocket"
)

// Side is which end of the conversation one is. A host takes less than a peer:
// anyone may connect to it.
type Side int

// The sides.
const (
	AtHost Side = iota
	AtPeer
)

const (
	// hostReadLimit holds a chunk of reports or infos several times over.
	hostReadLimit = 1 << 20
	// peerReadLimit holds the list of [discovery.MaxServers], all of them IPv6.
	peerReadLimit = 8 << 20
	// hostTextLimit holds the longest control message of a peer, a second look
	// at the finalists. JSON takes several times its length in memory.
	hostTextLimit = 128 << 10
)

func (s Side) readLimit() int64 {
	if s == AtHost {
		return hostReadLimit
	}
	return peerReadLimit
}

// unmarshal reads a frame that the other side may send. A host inflates
// nothing.
func (s Side) unmarshal(f Frame) (Message, error) {
	if s == AtHost {
		switch {
		case f.Type == websocket.TextMessage && len(f.Data) > hostTextLimit:
			return nil, fmt.Errorf("%w: %d bytes of text", ErrMalformed, len(f.Data))
		case f.Type == websocket.BinaryMessage && len(f.Data) > 0 && f.Data[0] == kindList:
			return nil, fmt.Errorf("%w: a list from a peer", ErrMalformed)
		}
	}
	return Unmarshal(f)
}
