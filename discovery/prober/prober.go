// Package prober drives a [discovery.Plan] against the real network. One UDP socket per
// address family asks every server, however many there are, so that a home router sees
// one NAT mapping and not thousands. Protocols over TCP take a connection a server, and
// a limit bounds how many are open at a time.
//
//	plan.Next ──► bucket ──► query ──────────────────────────► server
//	                │    ▲     ▲ repeat, after a silence         │
//	    cap on servers   │     │                                 │
//	      under way      │  deadlines                            ▼
//	             allowance of each address
//	                                 kernel stamp ◄── reply, challenge, ICMP
//	plan.Observe ◄── match address and nonce ◄── inbox ◄── reader
//
// One goroutine, Run's, owns all state. All decisions (how packets are paced, which
// query a reply belongs to, when a line is congested) are made in plain structs that
// see neither clock nor socket; [Prober] and its sockets are the shell around them.
//
// The RTT is always that of one packet pair. Over TCP it is that of SYN and SYN-ACK as
// the kernel measured it, where it tells. If the protocol returns our nonce, the pair
// is certain even after repeats. If it does not, a pair counts only if its query was
// the only one open, such as the two of an A2S challenge round. A server without such a
// pair is asked once more, at a moment that it cannot predict, and when the answers to
// earlier queries can no longer come.
package prober

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/names"
)

// The values that an Options field of 0 means.
const (
	// DefaultRate keeps the connection tracking of a small home router half empty: 250
	// entries a second, each held for 30 s, of some 16,000.
	DefaultRate = 250
	// DefaultInFlight is a bound on memory (about 10 MB), and no bound on speed. Even a
	// list of only dead servers, each held for 3 s, has 750 under way at the default
	// rate, and 30,000 at 10,000 probes a second.
	DefaultInFlight = 32768
	DefaultRetries  = 2
	DefaultTimeout  = time.Second
)

// minSpacing separates two unasked-for queries to one server: game servers answer one
// query a second and address, and drop the rest.
const minSpacing = time.Second

// unforeseen is the longest random wait before a server is asked again so that question and answer
// certainly belong together. A server that knew the moment could answer beforehand.
const unforeseen = time.Second / 2

// fineRate is the number of probes per second above which Go's timers, exact to a
// millisecond, would send in bursts.
const fineRate = 1000

// Stats counts what a [Prober] did in all its runs. Bytes are of UDP payload.
type Stats struct {
	PacketsSent, BytesSent         int
	PacketsReceived, BytesReceived int
	// Retries are queries that were repeated after a silence.
	Retries int
	// Challenges are queries repeated because the server demanded its challenge.
	Challenges int
	// Duplicates are replies that had come already.
	Duplicates int
	// Strays are datagrams without a query: from a foreign address, with a foreign
	// nonce, late for an earlier run, or ICMP errors about queries that are not ours.
	Strays int
	// Malformed are datagrams that the protocol does not allow.
	Malformed int
	// Refused are servers with a closed port, by an ICMP error.
	Refused int
	// Unreachable are servers that were lost because no packet could be sent to them:
	// no route, no socket of their family, denied by a local rule.
	Unreachable int
	// Forbidden counts servers that were asked too seldom or never, because their address may get
	// no more packets; see [Allowance].
	Forbidden int
	// RouterCapacity is how many servers at a time the router can know, if that turned
	// out to be few; else 0. They are asked more slowly then.
	RouterCapacity int
	// SendErrors are failed writes, including those that were repeated.
	SendErrors int
	// InFlight is how many servers are asked and neither answered nor given up,
	// InFlightCap how many may be now.
	InFlight, InFlightCap int
}

// Options set how a [Prober] asks.
type Options struct {
	Protocol discovery.Protocol
	// Rate is the number of new probes per second; 0 is DefaultRate, and more than
	// 50,000 has no further effect. Repeats have an equal budget of their own. So dead
	// servers add packets, not time, as long as there are no more repeats than new
	// probes (at 2 retries, while less than half are dead). A connection over TCP
	// counts as four.
	Rate float64
	// InFlight is how many servers may be asked and neither answered nor given up; 0 is
	// DefaultInFlight. It is lowered while replies get lost. Over TCP it is at most
	// 800, each an open file.
	InFlight int
	// Retries is how often a query is repeated; negative is never, 0 is DefaultRetries.
	Retries int
	// Timeout is the silence after a query that counts as no reply; 0 is
	// DefaultTimeout. Repeats are spaced by at least a second even if it is shorter:
	// then it shortens only the wait after the last query.
	Timeout time.Duration
	// Names looks up the servers that are listed by name.
	Names names.Resolver
	// Allowance bounds the packets to single addresses; nil gives this prober its own.
	// Probers of one program share it.
	Allowance *Allowance
	// LocalAddr is the source address. The zero Addr is any address of both families;
	// another one restricts the prober to its family.
	LocalAddr netip.Addr
	// Rests, if set, is called with the length of each pause that lets the router forget the
	// servers asked. Nobody is asked meanwhile. It must not block.
	Rests func(time.Duration)
	// Logger gets errors, and warnings in players' words; nil is silence.
	Logger *slog.Logger
}

// ErrBlocked is wrapped by the error of a Run if the machine's own rules denied every
// packet.
var ErrBlocked = errors.New("prober: a firewall on this machine blocks the game")

// errBusy: two runs would share one state.
var errBusy = errors.New("prober: a run is under way already")

// network is what a run needs of the world. Tests replace the sockets by a virtual one.
type network interface {
	now() time.Duration
	send(packet []byte, to netip.AddrPort) (sent time.Duration, err error)
	takeRefused() []*datagram
	received() <-chan *datagram
	giveBack(*datagram)
	// release is called when the run no longer waits for a server's reply.
	release(netip.AddrPort)
}

// transport is a network that is open for several runs.
type transport interface {
	network
	// begin is called before a run. It returns what to call after the run.
	begin(ctx context.Context) (end func())
	addrs() []netip.AddrPort
	close() error
}

// Prober owns the sockets and the state that outlives a run: pacing, the cap on servers under way,
// and the counts. Its methods may be called from several goroutines, but only one run may be under
// way.
type Prober struct {
	options Options
	sockets transport // nil in tests that have a network of their own
	closing sync.Once

	published Stats      // as of the last turn of a run
	reading   sync.Mutex // guards published

	running sync.Mutex // guards the fields below
	network network
	nonces  *rand.ChaCha8
	stats   Stats
	// names reports whether replies name their queries, by a nonce or a connection. Otherwise
	// debts has the replies that may yet come.
	names   bool
	debts   debts
	router  router
	fresh   bucket // paces new probes
	again   bucket // paces repeats
	traffic congestion
	// answered are the addresses that names led to when a server last answered there. least is the
	// least reach of those that they may lead to.
	answered map[netip.AddrPort]netip.AddrPort
	least    discovery.Reach
}

// New opens the sockets and starts their readers. One family is enough: if the machine
// has no IPv6, IPv6 servers will be lost. The error is a [*SocketError], or says which option is
// impossible. [Prober.Close] ends what New starts.
func New(options Options) (*Prober, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	var open transport
	if stream, ok := options.Protocol.(discovery.Stream); ok {
		open = openStreams(options, stream)
	} else if open, err = openSockets(options.LocalAddr); err != nil {
		return nil, err
	}
	p := newProber(options, open)
	p.sockets = open
	_, p.names = options.Protocol.(discovery.Stream)
	return p, nil
}

func newProber(options Options, network network) *Prober {
	var seed [32]byte
	crand.Read(seed[:]) // never fails
	firstDelay := options.spacing()
	if options.Retries == 0 {
		firstDelay = options.Timeout
	}
	p := &Prober{
		options: options,
		network: network,
		nonces:  rand.NewChaCha8(seed),
		fresh:   newBucket(options.Rate),
		again:   newBucket(options.Rate),
		traffic: newCongestion(options.InFlight, firstDelay),
	}
	p.publish(0)
	return p
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Protocol == nil:
		return o, errors.New("prober: no protocol to ask in")
	case !(o.Rate >= 0):
		return o, errors.New("prober: the rate must be a positive number")
	case o.InFlight < 0:
		return o, errors.New("prober: the number of servers in flight must be positive")
	case o.Timeout < 0:
		return o, errors.New("prober: the timeout must be positive")
	}
	o.Rate = cmp.Or(o.Rate, DefaultRate)
	if _, ok := o.Protocol.(discovery.Stream); ok {
		o = o.streamLimits()
	}
	o.InFlight = cmp.Or(o.InFlight, DefaultInFlight)
	o.Retries = max(0, cmp.Or(o.Retries, DefaultRetries))
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Allowance == nil {
		o.Allowance = NewAllowance()
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o, nil
}

// spacing returns the time between two queries to a silent server.
func (o Options) spacing() time.Duration { return max(o.Timeout, minSpacing) }

// Close ends the readers and waits for them. End a Run first, by its context.
func (p *Prober) Close() (err error) {
	p.closing.Do(func() { err = p.sockets.close() })
	return err
}

// Share sets how many players ask the same servers from now on; see [Allowance.Share].
func (p *Prober) Share(among int) { p.options.Allowance.Share(among) }

// Lead sets the least distance from this machine of addresses that names may lead to. It applies to
// the runs that follow.
func (p *Prober) Lead(least discovery.Reach) {
	p.running.Lock()
	defer p.running.Unlock()
	p.least = least
}

// resolver returns how names are looked up now.
func (p *Prober) resolver() names.Resolver {
	resolver := p.options.Names
	resolver.MinReach = max(resolver.MinReach, p.least)
	return resolver
}

// LocalAddrs returns the bound source addresses, the IPv4 one first.
func (p *Prober) LocalAddrs() []netip.AddrPort { return p.sockets.addrs() }

// Stats returns the counts of all runs so far. It may be called at any time.
func (p *Prober) Stats() Stats {
	p.reading.Lock()
	defer p.reading.Unlock()
	return p.published
}

// publish makes the counts known, with how many servers are under way.
func (p *Prober) publish(underWay int) {
	p.stats.InFlight, p.stats.InFlightCap = underWay, p.traffic.cap
	p.reading.Lock()
	p.published = p.stats
	p.reading.Unlock()
}

// Run executes the plan over the list of servers. For every finished probe it calls
// seen (which may be nil, and should return soon) after the plan has observed it, from
// its own goroutine.
//
// Run returns nil when the plan has stopped and nothing is under way. If the context
// ends first, Run returns its error, and probes under way have no result. Other errors
// wrap [ErrBlocked], or are about a plan that breaks its contract.
//
// Several runs may follow each other on one prober: the socket, and with it the NAT
// mapping, stays, as do pace and cap. Replies that are late for an earlier run are
// strays. If replies do not name their queries, a server that owes some to an earlier run
// is asked again only when they can no longer come.
func (p *Prober) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if !p.running.TryLock() {
		return errBusy
	}
	defer p.running.Unlock()
	if p.router.phase != limited {
		p.router.forget() // its suspicion belonged to the last run
	}
	r := newRun(p, servers, plan, seen)
	if p.sockets != nil {
		defer p.sockets.begin(ctx)()
		if p.options.Rate > fineRate {
			nap, undo := fineSleep()
			defer undo()
			r.nap = nap
		}
	}
	defer func() {
		for _, state := range r.targets.states {
			if state.probe != nil {
				r.noteDebt(state.probe)
			}
		}
		r.fresh.rest()
		r.again.rest()
		r.publish(0)
	}()
	return r.loop(ctx)
}
