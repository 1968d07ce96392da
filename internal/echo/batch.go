package echo

import (
	"net"
	"runtime"

	"golang.org/x/net/ipv4"
)

// atOnce is how many datagrams one system call reads or writes on Linux. Elsewhere it is one.
const atOnce = 64

// batch is datagrams that are read or written together. It serves sockets of IPv6, too.
type batch struct {
	conn     *net.UDPConn
	calls    *ipv4.PacketConn
	messages []ipv4.Message
}

// newBatch returns a batch of datagrams of a size in bytes.
func newBatch(conn *net.UDPConn, size int) *batch {
	b := &batch{conn, ipv4.NewPacketConn(conn), make([]ipv4.Message, atOnce)}
	for i := range b.messages {
		b.messages[i].Buffers = [][]byte{make([]byte, size)}
	}
	return b
}

// read waits for datagrams, and returns how many have come.
func (b *batch) read() (n int, err error) {
	if runtime.GOOS == "linux" {
		return b.calls.ReadBatch(b.messages, 0)
	}
	m := &b.messages[0]
	m.N, m.Addr, err = b.conn.ReadFrom(m.Buffers[0])
	return 1, err
}

// write writes the first n messages, and returns how many of them went out.
func (b *batch) write(n int) (out int) {
	for rest := b.messages[:n]; len(rest) > 0; {
		written, err := 1, error(nil)
		if runtime.GOOS == "linux" {
			written, err = b.calls.WriteBatch(rest, 0)
		} else {
			_, err = b.conn.WriteTo(rest[0].Buffers[0], rest[0].Addr)
		}
		if err != nil { // about the first of them
			rest = rest[1:]
			continue
		}
		out += written
		rest = rest[written:]
	}
	return out
}
