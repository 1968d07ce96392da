package ingress

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"

	"muster/discovery/lists/lan"
	"muster/host"
	"muster/host/access"
	"muster/internal/announcing"
)

// Announce announces a room on the local network until stop is called. stop withdraws the announcement and waits for
// that. Everything in besides is constant.
func (in *Ingress) Announce(ctx context.Context, rooms *host.Host, code string, besides lan.Room, log *slog.Logger,
	warn func(...error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan lan.Room)
	besides.Fingerprint = in.Inside(netip.AddrPort{}, access.Key{}).Pin
	var work sync.WaitGroup
	work.Go(func() {
		if err := lan.Announce(ctx, news, log); err != nil {
			warn(err)
		}
		cancel() // nobody reads the snapshots any more
	})
	work.Go(func() {
		var told lan.Room
		for room := range rooms.Watch(ctx, code) {
			next := announcing.Describe(&room, besides)
			if next == told {
				continue
			}
			select {
			case news <- next:
				told = next
			case <-ctx.Done():
			}
		}
		cancel() // the room is over
	})
	return func() { cancel(); work.Wait() }
}
