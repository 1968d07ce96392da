// Package fleet is a loopback internet to test against: game servers of a
// synthetic world, and their master, on real sockets of this machine. What they
// say is what the protocols' packages write; when they say it is the world's
// affair: each reply leaves one round trip after its query came in.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

// Fleet is a loopback internet: real sockets on which the servers of a world
// answer, each after the round trip it has from where the asker sits, and a
// master that lists them.
//
//	asker at 127.200.3.1 ──query──▶ socket ─▶ which server? which place? ─▶ reply
//	                                                                         │
//	                ◀──reply── sender ◀── delay line, until arrival + RTT ◀──┘
//
// On Linux one socket a port answers for every address of 127.0.0.0/8, so that
// the number of servers costs no files. On Windows each server has a socket on
// its own address, on other systems one on 127.0.0.1.
type Fleet struct {
	options Options
	log     *slog.Logger
	servers []discovery.Server
	sockets []*socket
	holds   []*net.UDPConn // ports on which nobody answers
	master  *net.UDPConn
	byAddr  map[netip.AddrPort]int
	speaks  speaker
	line    delayLine
	started time.Time
	stats   tally

	cancel context.CancelFunc
	done   chan struct{} // closed when all goroutines have ended

	mu      sync.Mutex // guards following
	world   sim.World  // with servers of its own, which Update changes
	seats   seating
	limits  *limiter
	sampled map[pair]uint64
}

// pair is a place that asks a server.
type pair struct{ place, server int }

// Start opens the sockets of a fleet, which answers until ctx ends or it is
// closed.
func Start(ctx context.Context, options Options) (*Fleet, error) {
	f, err := newFleet(options)
	if err != nil {
		return nil, err
	}
	ctx, f.cancel = context.WithCancel(ctx)
	if err := f.open(ctx); err != nil {
		f.cancel()
		return nil, errors.Join(err, f.closeSockets())
	}
	go f.run(ctx)
	return f, nil
}

func newFleet(options Options) (*Fleet, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	w := options.World
	f := &Fleet{
		options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		speaks: options.speaker(), world: *w, byAddr: map[netip.AddrPort]int{},
		started: time.Now(), done: make(chan struct{}),
		seats:  seating{places: len(w.Places), home: options.Home, taken: map[netip.AddrPort]int{}},
		limits: newLimiter(), sampled: map[pair]uint64{},
	}
	f.world.Servers = slices.Clone(w.Servers)
	for i := range f.world.Servers {
		options.sign(&f.world.Servers[i].Info)
	}
	return f, nil
}

// Servers are the servers as the master lists them, in its order: loopback
// addresses, with the country and the origin AS that they have in the world.
func (f *Fleet) Servers() []discovery.Server { return slices.Clone(f.servers) }

// Master is the UDP master that lists the servers: it answers getservers and
// getserversExt, whatever the servers speak.
func (f *Fleet) Master() netip.AddrPort { return localAddr(f.master) }

// Source is the address from which a peer is taken to sit at a place. Any other
// address of its /24 will do as well. Where 127.0.0.1 is the only address, that
// is what it is, and the peer needs a [Fleet.Seat].
func (f *Fleet) Source(place int) netip.Addr {
	if !wholeLoopback {
		return loopback
	}
	return sourceOf(place)
}

// Seat puts a source address at a place; port 0 stands for all of its ports.
func (f *Fleet) Seat(source netip.AddrPort, place int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seats.seat(discovery.Canonical(source), place)
}

// Update changes a server while it runs: who plays, which map, whether it is
// silent. Where it listens, and whether it refuses, stays as it was.
func (f *Fleet) Update(server int, change func(*sim.Server)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.world.Servers[server]
	addr, refusing := s.Addr, s.Refusing
	change(s)
	s.Addr, s.Refusing = addr, refusing
}

// Close ends the fleet and returns when all of it has ended.
func (f *Fleet) Close() error {
	f.cancel()
	<-f.done
	return nil
}
