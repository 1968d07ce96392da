// Package prober drives a [discovery.Plan] against the real network. One UDP
// socket per address family asks every server, however many there are, so that
// a home router sees one NAT mapping and not thousands. Protocols over TCP take a
// connection a server, of which only so many are open at a time.
//
//	plan.Next ──► bucket ──► query ──────────────────────────► server
//	                │    ▲     ▲ repeat, after a silence         │
//	    cap on servers   │     │                                 │
//	      under way      │  deadlines                            ▼
//	             allowance of each address
//	                                 kernel stamp ◄── reply, challenge, ICMP
//	plan.Observe ◄── match address and nonce ◄── inbox ◄── reader
//
// One goroutine, Run's, owns all state. What is decided (how packets are paced,
// which query a reply belongs to, when a line is congested) is decided in plain
// structs that see neither clock nor socket; [Prober] and its sockets are the
// shell around them.
//
// The RTT is always that of one packet pair, over TCP that of SYN and SYN-ACK as the
// kernel measured it, where it says. Where the protocol returns our
// nonce, the pair is certain even if queries were repeated. Where it does not,
// only the pair of a query that was the only one open counts, such as the two of an
// A2S challenge round. A server of which there is none is asked once more, at a
// moment that it cannot foresee.
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
)

// What an Options field of 0 means.
const (
	// DefaultRate keeps the connection tracking of a small home router half
	// empty: 250 entries a second, each held for 30 s, of some 16,000.
	DefaultRate = 250
	// DefaultInFlight is a bound on memory (about 10 MB), and no bound on speed:
	// at the default rate even a list of nothing but dead servers, each held for
	// 3 s, has 750 under way, and at 10,000 probes a second 30,000.
	DefaultInFlight = 32768
	DefaultRetries  = 2
	DefaultTimeout  = time.Second
)

// minSpacing is between two unasked-for queries to one server: game servers
// answer one query a second and address, and drop what is more.
const minSpacing = time.Second

// unforeseen is by how much longer, at random, a server waits that is asked once more
// for a certain pair: who knew when could answer beforehand.
const unforeseen = time.Second / 2

// fineRate is the number of probes per second above which Go's timers, exact to
// a millisecond, would send in bursts.
const fineRate = 1000

// Stats counts what a [Prober] did in all its runs. Bytes are of UDP payload.
type Stats struct {
	PacketsSent, BytesSent         int
	PacketsReceived, BytesReceived int
	// Retries are queries that were repeated after a silence.
	Retries int
	// Challenges are queries repeated because the server wanted its challenge
	// back.
	Challenges int
	// Duplicates are replies that had come already.
	Duplicates int
	// Strays are datagrams nobody had asked for: from a foreign address, with a
	// foreign nonce, late for an earlier run, or ICMP errors about queries that
	// are not ours.
	Strays int
	// Malformed are datagrams that the protocol does not allow.
	Malformed int
	// Refused are servers on whose port nobody listens, by an ICMP error.
	Refused int
	// Unreachable are servers that were lost because no packet could be sent to
	// them: no route, no socket of their family, denied by a local rule.
	Unreachable int
	// Forbidden are servers that were not asked, or not often enough to be sure,
	// because their address has been sent enough; see [Allowance].
	Forbidden int
	// RouterRoom is for how many servers at a time the router has room, if that turned
	// out to be few; else 0. They are asked more slowly then.
	RouterRoom int
	// SendErrors are failed writes, those that were repeated included.
	SendErrors int
	// InFlight is how many servers are asked and neither answered nor given up,
	// InFlightCap how many may be at present.
	InFlight, InFlightCap int
}

// Options is how a [Prober] asks.
type Options struct {
	Protocol discovery.Protocol
	// Rate is the number of new probes per second; 0 is DefaultRate, and 50,000
	// is the most that has an effect. Repeats have a budget of their own, as
	// large: dead servers add packets, not time, as long as there are no more
	// repeats than new probes (at 2 retries, while less than half are dead). A
	// connection over TCP counts as four.
	Rate float64
	// InFlight is how many servers may be asked and neither answered nor given
	// up; 0 is DefaultInFlight. It is lowered while replies get lost. Over TCP it
	// is 800 at the most, each an open file.
	InFlight int
	// Retries is how often a query is repeated; negative is never, 0 is
	// DefaultRetries.
	Retries int
	// Timeout is the silence after a query that counts as no reply; 0 is
	// DefaultTimeout. Repeats are spaced by at least a second even if it is
	// shorter: then it shortens only the wait after the last query.
	Timeout time.Duration
	// Allowance bounds what single addresses are sent; nil is one of this prober's
	// own. Probers of one program share it.
	Allowance *Allowance
	// LocalAddr is the source address. The zero Addr is any address of both
	// families; another one restricts the prober to its family.
	LocalAddr netip.Addr
	// Rests is told for how long nobody is asked, because the router first has to forget
	// those who were; nil is told nothing. It must not block.
	Rests func(time.Duration)
	// Logger gets what goes wrong, and warnings in players' words; nil is silence.
	Logger *slog.Logger
}

// ErrBlocked is wrapped by the error of a Run whose every packet the machine's
// own rules denied.
var ErrBlocked = errors.New("prober: a firewall on this machine blocks UDP")

// errBusy: two runs would share one state.
var errBusy = errors.New("prober: a run is under way already")

// network is what a run needs of the world. Tests put a virtual one in place of
// the sockets.
type network interface {
	now() time.Duration
	send(packet []byte, to netip.AddrPort) (sent time.Duration, err error)
	takeRefused() []*datagram
	received() <-chan *datagram
	giveBack(*datagram)
	// release is told when no reply of a server is waited for any more.
	release(netip.AddrPort)
}

// transport is a network that is open for several runs.
type transport interface {
	network
	// begin is before a run, and end after it.
	begin(ctx context.Context) (end func())
	addrs() []netip.AddrPort
	close() error
}

// Prober owns the sockets, and what outlives a run: pacing, the cap on servers
// under way, and the counts. Its methods may be called from several goroutines,
// but runs come one after the other.
type Prober struct {
	options Options
	sockets transport // nil in tests that have a network of their own
	closing sync.Once

	published Stats      // as of the last turn of a run
	reading   sync.Mutex // guards published

	running sync.Mutex // guards following
	network network
	nonces  *rand.ChaCha8
	stats   Stats
	router  router
	fresh   bucket // paces new probes
	again   bucket // paces repeats
	traffic congestion
}

// New opens the sockets and starts their readers. One family is enough: where
// the machine has no IPv6, IPv6 servers will be lost.
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

// spacing is between two queries to a silent server.
func (o Options) spacing() time.Duration { return max(o.Timeout, minSpacing) }

// Close ends the readers and waits for them. End a Run first, by its context.
func (p *Prober) Close() (err error) {
	p.closing.Do(func() { err = p.sockets.close() })
	return err
}

// Share says how many players ask the same servers from now on; see
// [Allowance.Share].
func (p *Prober) Share(among int) { p.options.Allowance.Share(among) }

// LocalAddrs are the bound source addresses, the IPv4 one first.
func (p *Prober) LocalAddrs() []netip.AddrPort { return p.sockets.addrs() }

// Stats is what the prober did so far, in all its runs; safe at any time.
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

// Run executes the plan over the list of servers. For every finished probe it
// calls seen (which may be nil, and should return soon) after the plan has
// observed it, from its own goroutine. It returns nil when the plan has stopped
// and nothing is under way, and the context's error when that ends first; what is
// under way then has no result. Other errors wrap [ErrBlocked], or are about a
// plan that breaks its contract.
//
// Several runs may follow each other on one prober: the socket, and with it the
// NAT mapping, stays, as do pace and cap. Replies that are late for an earlier
// run are strays.
func (p *Prober) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if !p.running.TryLock() {
		return errBusy
	}
	defer p.running.Unlock()
	if p.router.phase != narrow {
		p.router.forget() // what was going on went with the run before
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
		r.fresh.rest()
		r.again.rest()
		r.publish(0)
	}()
	return r.loop(ctx)
}
