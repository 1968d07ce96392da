package lan

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"muster/discovery"
)

const (
	// broadcasts are how often everybody is asked: the first may get lost.
	broadcasts = 2
	// broadcastWait is how long replies are waited for, each time. Servers take
	// one query a second from an address (ioquake3, DarkPlaces).
	broadcastWait = 1100 * time.Millisecond
)

// Servers asks all game servers on the networks of this machine, by a query to
// everybody on each of the ports, and gives those that answer, by address. It
// takes some two seconds; a context that ends sooner cuts it short, and is no
// error. It is IPv4 alone: IPv6 knows no broadcast.
//
// The ports are those where servers of the game are found that share a machine:
// 27960 to 27963 for Quake 3 and its kin, 27015 to 27020 for A2S. A reply counts
// if it comes from one of them, out of the network that was asked, and carries
// the query's nonce where the protocol returns it.
//
// The error says why no network could be asked. Being on none is no error.
func Servers(ctx context.Context, protocol discovery.Protocol, ports []uint16, log *slog.Logger) ([]Server, error) {
	cards, err := Interfaces()
	if err != nil {
		return nil, err
	}
	var hails []hail
	for _, card := range cards {
		for _, network := range card.Broadcast {
			hails = append(hails, hail{network, card.networks()})
		}
	}
	found, err := together(hails, func(h hail) ([]Server, error) {
		c := &crowd{protocol: protocol, nonce: newNonce(), network: h.network, ports: ports}
		if err := c.gather(ctx, broadcastOf(h.network)); err != nil {
			log.Debug("cannot ask for game servers", "network", h.network, "err", err)
			return nil, fmt.Errorf("lan: cannot ask for game servers in %v: %w", h.network, err)
		}
		return c.servers(h.card), nil
	})
	slices.SortFunc(found, func(a, b Server) int { return discovery.CompareAddr(a.Server, b.Server) })
	return slices.CompactFunc(found, func(a, b Server) bool { return a.Addr == b.Addr }), err
}

// hail is a question to everybody in a network, and the networks of its card.
type hail struct {
	network netip.Prefix
	card    []netip.Prefix
}

func newNonce() discovery.Nonce {
	var b [8]byte
	rand.Read(b[:])
	return discovery.Nonce(binary.LittleEndian.Uint64(b[:]))
}

// gather asks everybody at an address, and hears them out. The socket has this
// machine's address in the network: that is the card the query leaves by.
func (c *crowd) gather(ctx context.Context, everybody netip.Addr) error {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.network.Addr(), 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	query := c.protocol.AppendQuery(nil, c.nonce, nil)
	for range broadcasts {
		for _, port := range c.ports {
			if _, err := conn.WriteToUDPAddrPort(query, netip.AddrPortFrom(everybody, port)); err != nil && ctx.Err() == nil {
				return err
			}
		}
		c.listen(conn, time.Now().Add(broadcastWait))
	}
	return nil
}

// listen takes replies until then, or until the socket is closed. Other errors
// are of single packets: Windows reports here that one was refused.
func (c *crowd) listen(conn *net.UDPConn, until time.Time) {
	buf := make([]byte, 65535)
	conn.SetReadDeadline(until)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			continue
		}
		if again := c.hear(discovery.Canonical(from), buf[:n]); again != nil {
			conn.WriteToUDPAddrPort(again, from)
		}
	}
}
