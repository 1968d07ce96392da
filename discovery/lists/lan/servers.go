package lan

import (
	"bytes"
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
	"sync"
	"time"

	"muster/discovery"
)

const (
	// broadcasts is the number of queries: the first may get lost.
	broadcasts = 2
	// broadcastWait is the time for replies to each query. Servers take one query a
	// second from an address (ioquake3, DarkPlaces).
	broadcastWait = 1100 * time.Millisecond
	// maxDatagram is the longest UDP datagram, in bytes.
	maxDatagram = 1<<16 - 1
)

// Servers broadcasts a query to each of the ports on the networks of this machine. It
// returns the game servers that answer, by address. It takes some two seconds. A
// context that ends sooner cuts it short, and is no error. It uses only IPv4, because
// IPv6 has no broadcast.
//
// The ports are the usual ones of a game's servers on one machine: 27960 to 27963 for
// Quake 3 and its kin, 27015 to 27020 for A2S. A reply counts if it comes from one of
// them, out of the network that was asked, and carries the query's nonce where the
// protocol returns it. Without ports there are no queries. Servers of a
// [discovery.Announced] are found by their announcements, too.
//
// The error explains why no network could be asked. A machine without a network is no
// error.
func Servers(ctx context.Context, protocol discovery.Protocol, ports []uint16, log *slog.Logger) ([]Server, error) {
	speaks, isAnnounced := protocol.(discovery.Announced)
	if len(ports) == 0 && !isAnnounced {
		return nil, nil
	}
	cards, err := Interfaces()
	if err != nil {
		return nil, err
	}
	if len(ports) == 0 {
		return inOrder(announced(ctx, speaks, cards, log))
	}
	var collectors []*collector
	for _, card := range cards {
		for _, network := range card.Broadcast {
			var nonce [8]byte
			rand.Read(nonce[:])
			collectors = append(collectors, &collector{protocol: protocol, nonce: discovery.Nonce(binary.LittleEndian.Uint64(nonce[:])),
				network: network, card: card.networks(), ports: ports})
		}
	}
	return inOrder(together(collectors, func(c *collector) ([]Server, error) {
		if err := c.gather(ctx, broadcastOf(c.network)); err != nil {
			log.Debug("cannot ask for game servers", "network", c.network, "err", err)
			return nil, fmt.Errorf("lan: cannot ask for game servers in %v: %w", c.network, err)
		}
		return c.servers(), nil
	}))
}

// inOrder returns servers by address, each once.
func inOrder(found []Server, err error) ([]Server, error) {
	slices.SortFunc(found, func(a, b Server) int { return discovery.CompareAddr(a.Server, b.Server) })
	return slices.CompactFunc(found, func(a, b Server) bool { return a.Addr == b.Addr }), err
}

// gather sends a query to the broadcast address, and waits for replies. The socket has
// this machine's address in the network, so the query leaves by that card.
func (c *collector) gather(ctx context.Context, everybody netip.Addr) error {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.network.Addr(), 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	query := c.protocol.AppendQuery(nil, c.nonce, nil)
	for range broadcasts {
		for _, port := range c.ports {
			if _, err := conn.WriteToUDPAddrPort(query, netip.AddrPortFrom(everybody, c.queryPort(port))); err != nil && ctx.Err() == nil {
				return err
			}
		}
		c.listen(conn, time.Now().Add(broadcastWait))
	}
	return nil
}

// listen takes replies until then, or until the socket is closed. Other errors are of
// single packets: Windows reports here that one was refused.
func (c *collector) listen(conn *net.UDPConn, until time.Time) {
	buf := make([]byte, maxDatagram)
	conn.SetReadDeadline(until)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			continue
		}
		if again := c.receive(discovery.Canonical(from), buf[:n]); again != nil {
			conn.WriteToUDPAddrPort(again, from)
		}
	}
}

// Bounds of what strangers can make Muster remember and send.
const (
	// maxServers is more than the servers in any network.
	maxServers = 256
	// maxParts and maxPartsLen bound a reply in several datagrams.
	maxParts, maxPartsLen = 32, 32 << 10
	// maxChallenges bounds the challenges of a server, and maxChallengeLen the length
	// of each: A2S demands four bytes, seldom twice.
	maxChallenges, maxChallengeLen = 3, 64
)

// collector gathers the replies to a broadcast. It opens no socket.
type collector struct {
	protocol discovery.Protocol
	nonce    discovery.Nonce
	network  netip.Prefix
	card     []netip.Prefix // the networks of its card
	ports    []uint16
	members  map[netip.AddrPort]*member
}

// member is a server that answered.
type member struct {
	parts      [][]byte
	partsLen   int
	challenges int
	info       *discovery.Info
}

// queryPort returns the port to query for a server whose players use this one.
func (c *collector) queryPort(port uint16) uint16 {
	if aside, ok := c.protocol.(discovery.Aside); ok {
		return aside.QueryPort(port)
	}
	return port
}

// playersPort returns the players' port of a server that was queried at this one, if
// one was.
func (c *collector) playersPort(asked uint16) (port uint16, ok bool) {
	for _, port := range c.ports {
		if c.queryPort(port) == asked {
			return port, true
		}
	}
	return 0, false
}

// receive takes a datagram, and returns the packet to send back, or nil.
func (c *collector) receive(from netip.AddrPort, datagram []byte) []byte {
	port, asked := c.playersPort(from.Port())
	if !c.network.Contains(from.Addr()) || !asked {
		return nil
	}
	from = netip.AddrPortFrom(from.Addr(), port)
	m := c.members[from]
	if m == nil {
		m = &member{}
	}
	if m.info != nil || len(c.members) >= maxServers && c.members[from] == nil {
		return nil
	}
	reply, err := c.protocol.Parse(append(slices.Clip(m.parts), datagram))
	if err != nil || reply.Echoed && !reply.Answers(c.nonce) {
		return nil
	}
	if c.members == nil {
		c.members = make(map[netip.AddrPort]*member)
	}
	c.members[from] = m
	switch {
	case reply.Info != nil:
		m.info, m.parts = reply.Info, nil
		return reply.Farewell
	case reply.Incomplete && len(m.parts) < maxParts && m.partsLen+len(datagram) <= maxPartsLen:
		m.parts = append(m.parts, bytes.Clone(datagram))
		m.partsLen += len(datagram)
	case len(reply.Challenge) > 0 && len(reply.Challenge) <= maxChallengeLen && m.challenges < maxChallenges:
		m.challenges++
		m.parts, m.partsLen = nil, 0
		return c.protocol.AppendQuery(nil, c.nonce, reply.Challenge)
	}
	return nil
}

// servers returns the servers that described themselves.
func (c *collector) servers() []Server {
	var list []Server
	for addr, m := range c.members {
		if m.info != nil {
			list = append(list, Server{Server: discovery.Server{Addr: addr}, Info: *m.info, Networks: c.card})
		}
	}
	return list
}

// together does the same for all at once, and returns the results in no fixed order. If
// none succeeded, the error is one of theirs.
func together[T, R any](all []T, do func(T) ([]R, error)) ([]R, error) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex // guards the variables below
		results []R
		failed  []error
	)
	for _, one := range all {
		running.Go(func() {
			got, err := do(one)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, got...)
			if err != nil {
				failed = append(failed, err)
			}
		})
	}
	running.Wait()
	if len(failed) > 0 && len(failed) == len(all) {
		return results, failed[0]
	}
	return results, nil
}
