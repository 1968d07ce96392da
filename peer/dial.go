package peer

import (
	"context"
	"net"
	"time"
)

// fourAlone is how long a host has to answer over IPv4 before IPv6 is tried, too.
const fourAlone = time.Second

// dial is how a connection is made, as [net.Dialer.DialContext] does.
type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// fourFirst prefers IPv4 where a host has both, against RFC 6724's order: nearly
// all game servers are asked over IPv4, and the host knows players behind one
// address by what it sees of them. A household of which one came by IPv6 would
// count as two.
func fourFirst(d dial) dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(addr); err != nil || net.ParseIP(host) != nil {
			return d(ctx, network, addr)
		}
		first, cancel := context.WithTimeout(ctx, fourAlone)
		defer cancel()
		if conn, err := d(first, "tcp4", addr); err == nil {
			return conn, nil
		}
		return d(ctx, network, addr)
	}
}
