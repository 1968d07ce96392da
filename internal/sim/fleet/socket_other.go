//go:build !linux

package fleet

import (
	"net/netip"
	"syscall"
	"time"

	"muster/discovery"
)

// wire is empty because there are no control messages here. So each server needs a socket of its
// own.
type wire struct{}

func newWire() wire { return wire{} }

func prepareSocket(_, _ string, _ syscall.RawConn) error { return nil }

func (s *socket) read(buf []byte) (query, error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(buf)
	if err != nil {
		return query{}, err
	}
	return query{
		payload: buf[:n], from: discovery.Canonical(from),
		to: localAddr(s.conn).Addr(), received: time.Now(),
	}, nil
}

// write sends a datagram from the socket's address.
func (s *socket) write(b []byte, _ netip.Addr, to netip.AddrPort) error {
	_, err := s.conn.WriteToUDPAddrPort(b, to)
	return err
}

// prepareListener does nothing, because listeners are on loopback addresses.
func prepareListener(_, _ string, _ syscall.RawConn) error { return nil }
