package cli

import (
	"cmp"
	"context"
	"net/netip"
	"sync"

	"muster/discovery/lan"
	"muster/host"
	"muster/host/wire"
)

// announce tells the local network of the room until stop is called, which takes
// it back and waits for that. A host that only this machine reaches is not
// announced.
func (h *hosting) announce(ctx context.Context, rooms *host.Host, code string, at netip.AddrPort) (stop func()) {
	if h.noMDNS || at.Addr().IsLoopback() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan lan.Room)
	var work sync.WaitGroup
	work.Go(func() {
		if err := lan.Announce(ctx, news, h.logger()); err != nil {
			h.screen.warn([]error{err})
		}
		cancel() // nobody takes the news any more
	})
	work.Go(func() {
		var told lan.Room
		for room := range rooms.Watch(ctx, code) {
			next := announced(room, h.name)
			next.Port, next.Version, next.Fingerprint = at.Port(), version(), h.doors.inside(invitation{}).pin
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

// announced is what everybody on the network may know of a room: not its code.
func announced(room wire.Room, organiser string) lan.Room {
	for _, m := range room.Members {
		if m.Organiser {
			organiser = m.Name
		}
	}
	return lan.Room{
		Name: cmp.Or(room.Name, organiser+"'s room"), Game: room.Game, Organiser: organiser,
		Players: len(room.Members), Seats: room.Seats, Open: room.Open,
	}
}
