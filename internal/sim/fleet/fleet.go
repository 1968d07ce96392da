// Package fleet is a loopback internet to test against: game servers of a
// synthetic world, and their master, on real sockets of this machine. What they
// say is what the protocols' packages write; when they say it is the world's
// affair: each reply leaves one round trip after its query came in.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

// Options says which servers a fleet stands for, and how they talk.
type Options struct {
	// World has the servers, and their distances from the places.
	World *sim.World
	// Kind is the protocol of the servers.
	Kind Kind
	// Game is what they play.
	Game Game
	// Port is the first of the ports that servers listen on, and MasterPort the
	// master's; the system chooses where they are 0.
	Port, MasterPort uint16
	// Home is the place of whoever asks from an address without a seat.
	Home int
	// OneAddress puts all servers on 127.0.0.1, each on a port and a socket of
	// its own. It is so in any case on systems without the rest of 127.0.0.0/8.
	OneAddress bool
	// Gap, if not 0, is how long each server leaves an address unanswered once it has
	// answered it, whatever the port: a second with DarkPlaces' servers.
	Gap time.Duration
	// NoChallenge lets A2S servers describe themselves without a challenge,
	// as old ones do; players and rules need one still.
	NoChallenge bool
	// Sent, if not nil, hears of each reply right after it was sent. It must
	// return at once: it holds up the replies behind it.
	Sent func(Exchange)
	// Logger hears of what goes wrong; nil is silence.
	Logger *slog.Logger
}

// Exchange is a query that was answered.
type Exchange struct {
	Server, Place int
	Source        netip.AddrPort
	// RTT is what the world has for this packet pair.
	RTT time.Duration
	// Held is how long the reply was held back in fact, from the arrival of the
	// query, as stamped by the kernel where it does that, to the sending.
	Held time.Duration
}

func (o Options) check() error {
	switch w := o.World; {
	case w == nil || len(w.Servers) == 0 || len(w.Places) == 0 || len(w.Places) > maxPlaces:
		return fmt.Errorf("fleet: needs a world with servers and 1 to %d places", maxPlaces)
	case o.Home < 0 || o.Home >= len(w.Places):
		return fmt.Errorf("fleet: the world has no place %d", o.Home)
	case !o.Kind.known():
		return fmt.Errorf("fleet: unknown kind of servers %q", o.Kind)
	}
	return nil
}

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

	cancel context.CancelFunc
	done   chan struct{} // closed when all goroutines have ended

	mu      sync.Mutex // guards following
	counts  counts
	world   sim.World // with servers of its own, which Update changes
	seats   seating
	limits  *limiter
	gaps    *gaps
	sampled map[pair]uint64
}

// pair is a place that asks a server.
type pair struct{ place, server int }

// counts are of the queries that came to a server and the replies that left, of
// queries without a reply by reason, and of questions to the master.
type counts struct{ queries, replies, lost, limited, malformed, strays, lists int }

// Start opens the sockets of a fleet, which answers until ctx ends or it is
// closed.
func Start(ctx context.Context, options Options) (*Fleet, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	w := options.World
	f := &Fleet{
		options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		speaks: options.speaker(), world: *w, byAddr: map[netip.AddrPort]int{},
		started: time.Now(), done: make(chan struct{}),
		seats:  seating{places: len(w.Places), home: options.Home, taken: map[netip.AddrPort]int{}},
		limits: newLimiter(), gaps: newGaps(options.Gap), sampled: map[pair]uint64{},
	}
	f.world.Servers = slices.Clone(w.Servers)
	for i := range f.world.Servers {
		options.sign(&f.world.Servers[i].Info)
	}
	ctx, f.cancel = context.WithCancel(ctx)
	if err := f.open(ctx); err != nil {
		f.cancel()
		return nil, errors.Join(err, f.closeSockets())
	}
	go f.run(ctx)
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
	f.seats.taken[discovery.Canonical(source)] = place
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

// The lengths of the prefixes that all places have together, and each.
const seatsBits, seatBits = 13, 24

// seatsPrefix holds the source addresses of players. Each place has a /24 of
// it, so that several players of one place can differ by address, as two
// households do, or share one, as behind a NAT.
var seatsPrefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{127, 200}), seatsBits)

// maxPlaces is how many places have source addresses of their own.
const maxPlaces = 1 << (seatBits - seatsBits)

// sourceOf is the first of a place's source addresses.
func sourceOf(place int) netip.Addr {
	base := seatsPrefix.Addr().As4()
	return netip.AddrFrom4([4]byte{127, base[1] + byte(place>>8), byte(place), 1})
}

// placeOfSource is the place whose source address that is.
func placeOfSource(addr netip.Addr) (place int, ok bool) {
	if !seatsPrefix.Contains(addr) {
		return 0, false
	}
	a, base := addr.As4(), seatsPrefix.Addr().As4()
	return int(a[1]-base[1])<<8 | int(a[2]), true
}

// seating is where in the world the senders of queries sit.
type seating struct {
	places int
	home   int                    // of senders that nobody has seated
	taken  map[netip.AddrPort]int // port 0 stands for every port of the address
}

func (s *seating) placeOf(source netip.AddrPort) int {
	if place, ok := s.taken[source]; ok {
		return place
	}
	if place, ok := s.taken[netip.AddrPortFrom(source.Addr(), 0)]; ok {
		return place
	}
	if place, ok := placeOfSource(source.Addr()); ok && place < s.places {
		return place
	}
	return s.home
}
