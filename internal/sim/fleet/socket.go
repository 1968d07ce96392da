package fleet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// socket is a port that receives queries to servers of a fleet.
type socket struct {
	conn *net.UDPConn
	port uint16
	// only is the one server that listens here, or everyServer: then the queried address decides.
	only int
	// listener takes connections, for kinds that use TCP. Otherwise it is nil.
	listener net.Listener
	wire
}

const everyServer = -1

// receiveBuffer, in bytes, holds what comes while the reader is delayed.
const receiveBuffer = 4 << 20

// newSocket opens a socket on an address, with port 0 on a free port.
func newSocket(ctx context.Context, addr netip.AddrPort, only int) (*socket, error) {
	config := net.ListenConfig{Control: prepareSocket}
	conn, err := config.ListenPacket(ctx, "udp4", addr.String())
	if err != nil {
		return nil, err
	}
	s := &socket{conn: conn.(*net.UDPConn), only: only}
	s.port = localAddr(s.conn).Port()
	if only == everyServer {
		if err := s.conn.SetReadBuffer(receiveBuffer); err != nil {
			_ = s.conn.Close()
			return nil, fmt.Errorf("receive buffer: %w", err)
		}
	}
	s.wire = newWire()
	return s, nil
}
