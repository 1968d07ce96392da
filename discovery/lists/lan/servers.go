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
	// broadcasts are how often everybody is asked: the first may get lost.
	broadcasts = 2
	// broadcastWait is how long replies are waited for, each time. Servers take
	// one query a second from an address (ioquake3, DarkPlaces).
	broadcastWait = 1100 * time.Millisecond
	// maxDatagram is the longest that UDP has, in bytes.
	maxDatagram = 1<<16 - 1
)

// Servers asks all game servers on the networks of this machine, by a query to
// everybody on each of the ports, and gives those that answer, by address. It
// takes some two seconds; a context that ends sooner cuts it short, and is no
// error. It is IPv4 alone: IPv6 knows no broadcast.
//
// The ports are those where servers of the game are found that share a machine:
// 27960 to 27963 for Quake 3 and its kin, 27015 to 27020 for A2S. A reply counts
// if it comes from one of them, out of the network that was asked, and carries
// the query's nonce where the protocol returns it. Without ports nobody is asked. Servers
// of a [discovery.Announced] are heard, too.
//
// The error says why no network could be asked. Being on none is no error.
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
	var crowds []*crowd
	for _, card := range cards {
		for _, network := range card.Broadcast {
			var nonce [8]byte
			rand.Read(nonce[:])
			crowds = append(crowds, &crowd{protocol: protocol, nonce: discovery.Nonce(binary.LittleEndian.Uint64(nonce[:])),
				network: network, card: card.networks(), ports: ports})
		}
	}
	return inOrder(together(crowds, func(c *crowd) ([]Server, error) {
		if err := c.gather(ctx, broadcastOf(c.network)); err != nil {
			log.Debug("cannot ask for game servers", "network", c.network, "err", err)
			return nil, fmt.Errorf("lan: cannot ask for game servers in %v: %w", c.network, err)
		}
		return c.servers(), nil
	}))
}

// inOrder are servers by address, each once.
func inOrder(found []Server, err error) ([]Server, error) {
	slices.SortFunc(found, func(a, b Server) int { return discovery.CompareAddr(a.Server, b.Server) })
	return slices.CompactFunc(found, func(a, b Server) bool { return a.Addr == b.Addr }), err
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
			if _, err := conn.WriteToUDPAddrPort(query, netip.AddrPortFrom(everybody, c.queryPort(port))); err != nil && ctx.Err() == nil {
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
		if again := c.hear(discovery.Canonical(from), buf[:n]); again != nil {
			conn.WriteToUDPAddrPort(again, from)
		}
	}
}

// What strangers can make Muster remember and send.
const (
	// maxCrowd is more servers than a network has seats for.
	maxCrowd = 256
	// maxParts and maxPartsLen bound a reply in several datagrams.
	maxParts, maxPartsLen = 32, 32 << 10
	// maxChallenges is how often a server may ask back, and maxChallengeLen with
	// how much: A2S demands four bytes, seldom twice.
	maxChallenges, maxChallengeLen = 3, 64
)

// crowd is what a query to everybody brings in. It opens no socket.
type crowd struct {
	protocol discovery.Protocol
	nonce    discovery.Nonce
	network  netip.Prefix
	card     []netip.Prefix // the networks of its card
	ports    []uint16
	members  map[netip.AddrPort]*member
}

// member is one that answered.
type member struct {
	parts      [][]byte
	partsLen   int
	challenges int
	info       *discovery.Info
}

// queryPort is where the server that players reach at a port is asked.
func (c *crowd) queryPort(port uint16) uint16 {
	if aside, ok := c.protocol.(discovery.Aside); ok {
		return aside.QueryPort(port)
	}
	return port
}

// playersPort is where players reach the server that was asked at a port, if one was.
func (c *crowd) playersPort(asked uint16) (port uint16, ok bool) {
	for _, port := range c.ports {
		if c.queryPort(port) == asked {
			return port, true
		}
	}
	return 0, false
}

// hear takes a datagram, and gives what is to be sent back, or nil.
func (c *crowd) hear(from netip.AddrPort, datagram []byte) []byte {
	port, asked := c.playersPort(from.Port())
	if !c.network.Contains(from.Addr()) || !asked {
		return nil
	}
	from = netip.AddrPortFrom(from.Addr(), port)
	m := c.members[from]
	if m == nil {
		m = &member{}
	}
	if m.info != nil || len(c.members) >= maxCrowd && c.members[from] == nil {
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

// servers are those that described themselves.
func (c *crowd) servers() []Server {
	var list []Server
	for addr, m := range c.members {
		if m.info != nil {
			list = append(list, Server{Server: discovery.Server{Addr: addr}, Info: *m.info, Networks: c.card})
		}
	}
	return list
}

// together does the same with all at once, and gives what comes of it in no
// certain order. Its error is one of theirs if none succeeded.
func together[T, R any](all []T, do func(T) ([]R, error)) ([]R, error) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex // guards following
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
