// Package fleet is a loopback internet for tests: game servers of a synthetic world, and their
// master, on real sockets of this machine. The protocols' packages write what the servers say. The
// world decides when they say it: each reply leaves one round trip after its query came in.
package fleet

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/term"
)

// Options says which servers a fleet plays, and how they talk.
type Options struct {
	// World has the servers, and their distances from the places.
	World *sim.World
	// Kind is the protocol of the servers.
	Kind Kind
	// Game is the servers' game.
	Game Game
	// Port is the first of the ports that servers listen on, and MasterPort is the master's. The
	// system chooses those that are 0.
	Port, MasterPort uint16
	// Home is the place of clients at addresses without a seat.
	Home int
	// OneAddress puts all servers on 127.0.0.1, each on a port and a socket of its own. Systems
	// without the rest of 127.0.0.0/8 always do so.
	OneAddress bool
	// Gap, if not 0, is how long each server leaves an address unanswered once it has answered it,
	// whatever the port: a second with DarkPlaces' servers.
	Gap time.Duration
	// NoChallenge lets A2S servers describe themselves without a challenge, as old ones do. Queries
	// for players and rules still need one.
	NoChallenge bool
	// Sent, if not nil, hears of each reply right after it was sent. It must
	// return at once: it holds up the replies behind it.
	Sent func(Exchange)
	// Logger receives errors. nil is silence.
	Logger *slog.Logger
}

// Exchange is a query that was answered.
type Exchange struct {
	Server, Place int
	Source        netip.AddrPort
	// RTT is the world's RTT for this packet pair.
	RTT time.Duration
	// Held is how long the reply was really held back. It begins when the query arrives, by the
	// kernel's stamp where there is one, and ends when the reply is sent.
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

// Fleet is a loopback internet. The servers of a world answer on real sockets, each after its round
// trip to the asker's place. A master lists them.
//
//	asker at 127.200.3.1 ──query──▶ socket ─▶ which server? which place? ─▶ reply
//	                                                                         │
//	                ◀──reply── sender ◀── delay line, until arrival + RTT ◀──┘
//
// On Linux one socket a port answers for every address of 127.0.0.0/8, so that more servers cost no
// more files. On Windows each server has a socket on its own address, on other systems one on
// 127.0.0.1.
type Fleet struct {
	options Options
	log     *slog.Logger
	servers []discovery.Server
	sockets []*socket
	holds   []*net.UDPConn // ports where nobody answers
	master  *net.UDPConn
	byAddr  map[netip.AddrPort]int
	speaks  speaker
	line    delayLine
	started time.Time

	cancel context.CancelFunc
	done   chan struct{} // closed when all goroutines have ended

	mu      sync.Mutex // guards the fields below
	counts  counts
	world   sim.World // with servers of its own, which Update changes
	seats   seating
	limits  *limiter
	gaps    *gaps
	sampled map[pair]uint64
}

// pair is a place and the server that it queries.
type pair struct{ place, server int }

// counts are the queries that came to a server, the replies that left, the queries without a reply
// by reason, and the questions to the master.
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

// Servers returns the servers as the master lists them, in its order: loopback addresses, with the
// country and the origin AS that they have in the world.
func (f *Fleet) Servers() []discovery.Server { return slices.Clone(f.servers) }

// Players returns the names of a server's players, bots last.
func (f *Fleet) Players(server int) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seed := f.world.Seed
	if f.options.Kind.small() != nil {
		seed = 0 // they know no other
	}
	for c := range castOf(seed, server, &f.world.Servers[server].Info) {
		names = append(names, c.name)
	}
	return names
}

// Master returns the UDP master that lists the servers. It answers getservers and getserversExt,
// whatever the servers speak.
func (f *Fleet) Master() netip.AddrPort { return localAddr(f.master) }

// Source returns the address of peers at a place. Any other address of its /24 works, too. Where
// 127.0.0.1 is the only address, Source returns that, and the peer needs a [Fleet.Seat].
func (f *Fleet) Source(place int) netip.Addr {
	if !wholeLoopback {
		return loopback
	}
	return sourceOf(place)
}

// Seat puts a source address at a place. Port 0 stands for all of its ports.
func (f *Fleet) Seat(source netip.AddrPort, place int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seats.taken[discovery.Canonical(source)] = place
}

// Update changes a server while it runs: its players, its map, or whether it is silent. Its
// address, and whether it refuses, stay as they were.
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

// These are the lengths of the prefixes for all places together, and for each place.
const seatsBits, seatBits = 13, 24

// seatsPrefix holds the source addresses of players. Each place has a /24 of it. So several players
// of one place can have different addresses, as two households do, or share one, as behind a NAT.
var seatsPrefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{127, 200}), seatsBits)

// maxPlaces is how many places have source addresses of their own.
const maxPlaces = 1 << (seatBits - seatsBits)

// sourceOf returns the first of a place's source addresses.
func sourceOf(place int) netip.Addr {
	base := seatsPrefix.Addr().As4()
	return netip.AddrFrom4([4]byte{127, base[1] + byte(place>>8), byte(place), 1})
}

func placeOfSource(addr netip.Addr) (place int, ok bool) {
	if !seatsPrefix.Contains(addr) {
		return 0, false
	}
	a, base := addr.As4(), seatsPrefix.Addr().As4()
	return int(a[1]-base[1])<<8 | int(a[2]), true
}

// seating maps the senders of queries to places in the world.
type seating struct {
	places int
	home   int                    // of senders without a seat
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

// Playing returns the options of a fleet whose servers play a game in a world.
func Playing(g game.Game, world *sim.World) Options {
	plays := Game{Name: g.MasterGame, Protocol: slices.Max(append(g.MasterProtocols, 0)), AppID: uint64(g.AppID)}
	if aside, ok := g.Protocol().(discovery.Aside); ok {
		plays.QueryAbove = aside.QueryPort(0)
	}
	return Options{World: world, Kind: Kind(g.ProtocolName), Game: plays}
}

// Describe prints what answers where, and how to look at it. list is the file with the servers, empty for none: a game
// without masters needs one.
func (f *Fleet) Describe(out term.Terminal, g game.Game, list string) {
	master, from := "", "--servers "+cmp.Or(list, "FILE")
	if _, err := g.Queries(f.Master().String()); err == nil {
		master, from = fmt.Sprintf("; master at %v", f.Master()), fmt.Sprintf("--master %v", f.Master())
	}
	fmt.Fprintf(out, "%s, the first at %v%s\n\n", term.Count(len(f.servers), g.Name+" server"), f.servers[0].Addr, master)
	t := term.Table{Columns: []term.Column{term.Left("PLACE"), term.Whole("ASK FROM")}}
	for i, place := range f.options.World.Places {
		t.Add(place.Name, f.Source(i))
	}
	t.Write(out)
	fmt.Fprintf(out, "\ntry   muster discover --game %s %s --listen-addr %v\n", g.ID, from, f.Source(0))
	if master == "" && list == "" {
		fmt.Fprintf(out, "no master lists %s: start the fleet with --write FILE\n", g.Name)
	}
}

// serveMaster answers like dpmaster, with all datagrams of a list at once.
func (f *Fleet) serveMaster() {
	buf := make([]byte, maxQuery)
	f.untilClosed("the master", func() error {
		n, from, err := f.master.ReadFromUDPAddrPort(buf)
		if err == nil {
			f.list(buf[:n], from)
		}
		return err
	})
}

func (f *Fleet) list(request []byte, to netip.AddrPort) {
	q, err := quake3.ParseMasterQuery(request)
	f.mu.Lock()
	var listed []netip.AddrPort
	if err != nil {
		f.counts.malformed++
	} else {
		f.counts.lists++
		listed = f.listed(q)
	}
	f.mu.Unlock()
	if err != nil {
		return
	}
	for datagram := range quake3.MasterReplies(listed, q.Extended) {
		if _, err := f.master.WriteToUDPAddrPort(datagram, to); err != nil {
			f.log.Debug("fleet: master: send", "to", to, "err", err)
			return
		}
	}
}

// listed returns the servers that a query asks for: of the fleet's game, if it names one, and its
// protocol. For IPv4 that is all of them, without those that have no player or no seat unless it
// wants them.
func (f *Fleet) listed(q quake3.MasterQuery) []netip.AddrPort {
	game := f.options.Game
	if q.Game != "" && q.Game != game.Name || q.Protocol != game.Protocol || q.IPv6 && !q.IPv4 {
		return nil
	}
	var addrs []netip.AddrPort
	for i, s := range f.servers {
		info := &f.world.Servers[i].Info
		if (q.Empty || info.Players > 0) && (q.Full || info.Free() > 0) {
			addrs = append(addrs, s.Addr)
		}
	}
	return addrs
}

// WriteServers writes the servers as a CSV file with a header, as the commands read it.
func (f *Fleet) WriteServers(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"addr", "country", "asn"}) // Error returns the errors
	for _, s := range f.servers {
		_ = out.Write([]string{s.Addr.String(), s.Country, strconv.FormatUint(uint64(s.ASN), 10)})
	}
	out.Flush()
	return out.Error()
}
