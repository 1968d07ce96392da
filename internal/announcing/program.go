package announcing

import (
	"context"
	"log/slog"
	"sync"

	"muster/discovery/lists/lan"
	"muster/peer"
)

// Program announces on this machine's networks what a [Relay] allows.
type Program struct {
	relay Relay // only See touches it
	news  chan offer
	stop  context.CancelFunc
	work  sync.WaitGroup
}

// offer is what to announce, if anything.
type offer struct {
	room lan.Room
	may  bool
}

// Begin starts a program that announces nothing yet. It ends with the context or with [Program.Stop].
func Begin(ctx context.Context, log *slog.Logger) *Program {
	p := &Program{news: make(chan offer, 1)}
	ctx, p.stop = context.WithCancel(ctx)
	p.work.Go(func() { p.follow(ctx, log) })
	return p
}

// Stop withdraws the announcement, and waits for that.
func (p *Program) Stop() {
	p.stop()
	p.work.Wait()
}

// See takes what the player's program has learned. It does not wait. One goroutine calls it.
func (p *Program) See(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		p.relay.Joined(e.Name)
	case peer.Reached:
		p.relay.Reached(e.At, e.Fingerprint)
	case peer.RoomChanged:
		p.relay.Changed(&e.Room)
	case peer.Disconnected:
		p.relay.Lost()
	default:
		return
	}
	room, may := p.relay.Room()
	select {
	case <-p.news: // the newest counts
	default:
	}
	p.news <- offer{room, may}
}

// follow announces the newest offer until the context ends.
func (p *Program) follow(ctx context.Context, log *slog.Logger) {
	var told offer
	var rooms chan lan.Room
	withdraw := func() {}
	defer func() { withdraw() }()
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-p.news:
			if next == told {
				continue
			}
			told = next
		}
		if !told.may {
			withdraw()
			rooms, withdraw = nil, func() {}
			continue
		}
		if rooms == nil {
			rooms, withdraw = announce(ctx, log)
		}
		select {
		case rooms <- told.room:
		case <-ctx.Done():
		}
	}
}

// announce returns a channel for the room to announce, and a function that withdraws it and waits. It
// takes rooms even if none can be announced here.
func announce(ctx context.Context, log *slog.Logger) (rooms chan lan.Room, withdraw func()) {
	ctx, cancel := context.WithCancel(ctx)
	rooms = make(chan lan.Room)
	var work sync.WaitGroup
	work.Go(func() {
		if err := lan.Announce(ctx, rooms, log); err != nil {
			log.Warn("cannot announce the room on this machine's networks", "err", err)
		}
		for {
			select {
			case <-rooms:
			case <-ctx.Done():
				return
			}
		}
	})
	return rooms, func() { cancel(); work.Wait() }
}
