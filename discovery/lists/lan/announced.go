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

// announceWait is how long announcements are waited for: as long as everybody is asked
// for answers. Minecraft's come every 1.5 s.
const announceWait = broadcasts * broadcastWait

// announced are the servers that tell of themselves on the networks of some cards.
func announced(ctx context.Context, protocol discovery.Announced, cards []Interface, log *slog.Logger) ([]Server, error) {
	return together(used(cards), func(card Interface) ([]Server, error) {
		h := hearsay{protocol: protocol, card: card.networks()}
		if err := h.gather(ctx, &card.card); err != nil {
			log.Debug("cannot hear game servers tell of themselves", "card", card.Name, "err", err)
			return nil, fmt.Errorf("lan: cannot hear game servers on %s: %w", card.Name, err)
		}
		return h.servers, nil
	})
}

// hearsay is what is told on one card. It is the card's own networks that count: the
// system may give every listener what comes in by any card.
type hearsay struct {
	protocol discovery.Announced
	card     []netip.Prefix
	servers  []Server
}

// gather listens on a card for [announceWait]. The port is shared with games that listen
// there, too.
func (h *hearsay) gather(ctx context.Context, card *net.Interface) error {
	conn, err := net.ListenMulticastUDP("udp4", card, net.UDPAddrFromAddrPort(h.protocol.Group()))
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
			h.hear(discovery.Canonical(from).Addr(), buf[:n])
		}
	}
}

// hear takes a datagram. The first word on a server counts.
func (h *hearsay) hear(from netip.Addr, datagram []byte) {
	isNear := false
	for _, network := range h.card {
		isNear = isNear || network.Contains(from)
	}
	if !isNear || len(h.servers) >= maxCrowd {
		return
	}
	port, info, err := h.protocol.ParseAnnouncement(datagram)
	if err != nil {
		return
	}
	at := netip.AddrPortFrom(from, port)
	for i := range h.servers {
		if h.servers[i].Addr == at {
			return
		}
	}
	h.servers = append(h.servers, Server{Server: discovery.Server{Addr: at}, Info: info, Networks: h.card})
}
