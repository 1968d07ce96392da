package wire

import (
	"bytes"
	"compress/flate"
	"fmt"
	"sync"
)

// A packed frame is a control message, deflated:
//
//	kind │ JSON, deflated
//
// A room's state is mostly names of fields, so it packs to a quarter. On a line of 12 kB a second
// that decides whether a player follows the room.
const (
	// worthPacking is the least size of a message that is packed, in bytes. A shorter one fits in a
	// single packet as it is.
	worthPacking = 1 << 10
	// maxPacked bounds a packed message once it is inflated.
	maxPacked = 8 << 20
)

// Packer packs messages for peers whose [Hello] says that they inflate them. The zero value is ready.
// It may be used by several goroutines at a time.
type Packer struct {
	writers sync.Pool // of *flate.Writer, which take 1 MB each
}

// Pack returns the frame packed, or as it is if it is short or binary.
func (p *Packer) Pack(f Frame) Frame {
	if f.Binary || len(f.Data) < worthPacking {
		return f
	}
	packed := bytes.NewBuffer([]byte{kindPacked})
	w, is := p.writers.Get().(*flate.Writer)
	if !is {
		w, _ = flate.NewWriter(nil, flate.BestSpeed) // cannot fail: the level is a valid constant
	}
	defer p.writers.Put(w)
	w.Reset(packed)
	w.Write(f.Data) // cannot fail: it writes to a bytes.Buffer
	w.Close()
	return BinaryFrame(packed.Bytes())
}

func parsePacked(b []byte) (Message, error) {
	plain, err := inflate(b, maxPacked)
	if err != nil {
		return nil, fmt.Errorf("%w: packed: %v", ErrMalformed, err)
	}
	return unmarshalJSON(plain)
}
