package lan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"muster/discovery"
)

// announceWait is how long Muster waits for announcements: as long as for replies to
// broadcasts. Minecraft's come every 1.5 s.
const announceWait = broadcasts * broadcastWait

// announced returns the servers that announce themselves on the networks of some cards.
func announced(ctx context.Context, protocol discovery.Announced, cards []Interface, log *slog.Logger) ([]Server, error) {
	return together(used(cards), func(card Interface) ([]Server, error) {
		l := listener{protocol: protocol, card: card.networks()}
		if err := l.gather(ctx, &card.card); err != nil {
			log.Debug("cannot hear game servers tell of themselves", "card", card.Name, "err", err)
			return nil, fmt.Errorf("lan: cannot hear game servers on %s: %w", card.Name, err)
		}
		return l.servers, nil
	})
}

// listener collects the announcements on one card. A sender must be in one of the
// card's networks: the system may give every listener the packets of any card.
type listener struct {
	protocol discovery.Announced
	card     []netip.Prefix
	servers  []Server
}

// gather listens on a card for [announceWait]. Games may listen on the port, too.
func (l *listener) gather(ctx context.Context, card *net.Interface) error {
	conn, err := net.ListenMulticastUDP("udp4", card, net.UDPAddrFromAddrPort(l.protocol.Group()))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetReadDeadline(time.Now().Add(announceWait))
	buf := make([]byte, maxDatagram)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return nil
		case err == nil:
			l.receive(discovery.Canonical(from).Addr(), buf[:n])
		}
	}
}

// receive takes a datagram. The first announcement of a server counts.
func (l *listener) receive(from netip.Addr, datagram []byte) {
	isNear := false
	for _, network := range l.card {
		isNear = isNear || network.Contains(from)
	}
	if !isNear || len(l.servers) >= maxServers {
		return
	}
	port, info, err := l.protocol.ParseAnnouncement(datagram)
	if err != nil {
		return
	}
	at := netip.AddrPortFrom(from, port)
	for i := range l.servers {
		if l.servers[i].Addr == at {
			return
		}
	}
	l.servers = append(l.servers, Server{Server: discovery.Server{Addr: at}, Info: info, Networks: l.card})
}
