package listing

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// List is a list of servers, with its facts about them.
type List struct {
	Servers []discovery.Server
	Said    discovery.Said
}

// Hosts pass a list to each other in this form, whose second part is deflated:
//
//	length │ the annotated list │ when it was had, s │ a frame of wire.Infos
//
// maxSaid bounds that frame, in bytes: [discovery.MaxServers] with long names each.
const maxSaid = 64 << 20

// Append appends the list to b.
func (l List) Append(b []byte) ([]byte, error) {
	servers := discovery.AppendList(nil, l.Servers)
	b = append(binary.AppendUvarint(b, uint64(len(servers))), servers...)
	var told wire.Infos
	for i, s := range l.Servers {
		if info := l.Said.Infos[s.Addr]; info != nil {
			told.Servers = append(told.Servers, wire.ServerInfo{Server: i, Info: *info})
		}
	}
	if len(told.Servers) == 0 {
		return b, nil
	}
	b = binary.AppendVarint(b, l.Said.At.Unix())
	packed := bytes.NewBuffer(b)
	w, err := flate.NewWriter(packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	w.Write(wire.AppendInfos(nil, told)) // a bytes.Buffer never fails
	err = w.Close()
	return packed.Bytes(), err
}

// ParseList reads Append's output. Its errors wrap [discovery.ErrMalformed] or [wire.ErrMalformed].
func ParseList(b []byte) (List, error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return List{}, fmt.Errorf("listing: %w: a list that breaks off", discovery.ErrMalformed)
	}
	servers, err := discovery.ParseList(b[n : n+int(size)])
	if err != nil {
		return List{}, fmt.Errorf("listing: %w", err)
	}
	l := List{Servers: servers}
	b = b[n+int(size):]
	if len(b) == 0 {
		return l, nil
	}
	at, n := binary.Varint(b)
	if n <= 0 {
		return List{}, fmt.Errorf("listing: %w: a list of no time", discovery.ErrMalformed)
	}
	frame, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[n:])), maxSaid))
	if err != nil {
		return List{}, fmt.Errorf("listing: %w: %w", discovery.ErrMalformed, err)
	}
	message, err := wire.Unmarshal(wire.BinaryFrame(frame))
	told, is := message.(wire.Infos)
	if err != nil || !is {
		return List{}, fmt.Errorf("listing: %w: what a list says: %v", discovery.ErrMalformed, err)
	}
	l.Said = discovery.Said{At: time.Unix(at, 0), Infos: make(map[netip.AddrPort]*discovery.Info, len(told.Servers))}
	for i := range told.Servers {
		s := &told.Servers[i]
		if s.Server >= len(servers) {
			return List{}, fmt.Errorf("listing: %w: server %d of %d", discovery.ErrMalformed, s.Server, len(servers))
		}
		s.Info.AsListed = true
		l.Said.Infos[servers[s.Server].Addr] = &s.Info
	}
	return l, nil
}
