package prober

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
)

const (
	// routerWeight is how many UDP packets a connection counts as. A home router keeps
	// an entry for 30 s after a packet, and for 120 s after a connection's end.
	routerWeight = 4
	// maxStreams is the most connections open at a time: most systems let a program
	// have 1,024 files or more.
	maxStreams = 800
	// maxStream bounds what a server may send, in bytes: a Minecraft server's status
	// has up to 32,767 letters, including its icon.
	maxStream = 128 << 10
	// firstRoom is more than most servers send, in bytes.
	firstRoom = 2 << 10
	// maxTurns bounds the questions of a conversation; Minecraft's has two.
	maxTurns = 4
)

// A service that protects a server from attacks may end its connections nearby and pass
// the data on. If a question with a nonce takes more than detour times as long as the
// connection, plus detourOff, players will get the question's time. The kernel does not
// time questions: detourOff is how late a busy machine may read the answer. A packet
// lost on the way looks the same. So a late server is asked again over another
// connection, and the sooner answer counts.
const (
	detour    = 1.5
	detourOff = 20 * time.Millisecond
)

// streams are a TCP connection for each server under way. To a run they look like a
// network. A query starts the connection and all that is said over it. One reply
// answers it, and its arrival is the query's time plus the time of the handshake.
//
//	      ┌─ send ──► talk: connect, ask, read, ask again ── a goroutine a server
//	Run ──┤                                          │
//	      └───────── inbox ◄── one datagram ─────────┘
type streams struct {
	clock
	protocol discovery.Stream
	dialer   net.Dialer
	// life bounds a connection with all that is said over it. patience bounds the
	// silence of a server that has already described itself.
	life, patience time.Duration
	inbox          chan *datagram
	closed         context.Context
	shut           context.CancelFunc
	running        sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	talks  map[netip.AddrPort]*talk
	nonces *rand.ChaCha8
}

// talk is one connection.
type talk struct {
	to        netip.AddrPort
	first     []byte // question
	sent      time.Duration
	connected bool // guarded by the streams' mutex
	end       context.CancelFunc
}

// spoken is the outcome of a talk.
type spoken struct {
	sent  time.Duration // when the query left
	reply discovery.Reply
	bytes int // received
	// late: the question took longer than the distance of the connection explains.
	late bool
	// err says that bytes are malformed, or why the machine denied the connection.
	err error
}

func openStreams(o Options, protocol discovery.Stream) *streams {
	var seed [32]byte
	crand.Read(seed[:]) // never fails
	s := &streams{
		clock: newClock(), protocol: protocol, life: o.spacing()*time.Duration(o.Retries) + o.Timeout, patience: o.Timeout,
		inbox: make(chan *datagram, inboxLength), talks: map[netip.AddrPort]*talk{}, nonces: rand.NewChaCha8(seed),
	}
	s.dialer.KeepAlive = -1 // no connection lasts that long
	if o.LocalAddr.IsValid() {
		s.dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(o.LocalAddr.Unmap(), 0))
	}
	s.closed, s.shut = context.WithCancel(context.Background())
	return s
}

// send begins a connection with the packet as its first question. It leaves an
// established connection alone, because TCP repeats packets itself. It replaces a
// connection that is not established yet by a new one, whose handshake has a time of
// its own.
func (s *streams) send(packet []byte, to netip.AddrPort) (sent time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent = s.now()
	if t := s.talks[to]; t != nil {
		if t.connected {
			return sent, nil
		}
		t.end()
	}
	if s.closed.Err() != nil {
		return sent, net.ErrClosed
	}
	t := &talk{to: to, first: slices.Clone(packet), sent: sent}
	var ctx context.Context
	ctx, t.end = context.WithTimeout(s.closed, s.life)
	s.talks[to] = t
	s.running.Go(func() { s.run(ctx, t) })
	return sent, nil
}

// release ends the connection to a server.
func (s *streams) release(to netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.talks[to]; t != nil {
		t.end()
		delete(s.talks, to)
	}
}

// run is a whole talk. A talk that was given up reports nothing.
func (s *streams) run(ctx context.Context, t *talk) {
	d := s.hold(ctx, t)
	over := ctx.Err() != nil
	t.end()
	s.mu.Lock()
	if s.talks[t.to] == t {
		delete(s.talks, t.to)
	}
	s.mu.Unlock()
	if d == nil || over {
		return
	}
	select {
	case s.inbox <- d:
	case <-s.closed.Done():
	}
}

// hold connects and talks, and returns the outcome; nil if there is none.
func (s *streams) hold(ctx context.Context, t *talk) *datagram {
	began := s.now()
	conn, err := s.dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(bare(t.to.Addr()), t.to.Port()).String())
	rtt := s.now() - began
	if err != nil {
		return s.failure(t, err)
	}
	defer conn.Close()
	if exact, ok := handshakeTime(conn.(*net.TCPConn)); ok {
		rtt = exact
	}
	s.mu.Lock()
	t.connected = true
	nonce := discovery.Nonce(s.nonces.Uint64())
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	said := &spoken{sent: t.sent, reply: discovery.Reply{Info: &discovery.Info{}}}
	question := append(s.protocol.AppendGreeting(nil, greeted(t.to)), t.first...)
	if len(question) > 0 {
		var asked time.Duration
		if asked, err = s.converse(conn, question, nonce, said); err != nil {
			said.err = err
		} else if asked > time.Duration(float64(rtt)*detour)+detourOff {
			rtt, said.late = asked, true
		}
	}
	return &datagram{peer: t.to, at: arrival{kernel: t.sent + rtt, read: t.sent + rtt}, spoken: said}
}

// converse asks and reads until the server has described itself, or until it ends the
// conversation. The time is that of the question whose nonce came back, else 0.
func (s *streams) converse(conn net.Conn, question []byte, nonce discovery.Nonce, said *spoken) (took time.Duration, err error) {
	heard := make([]byte, 0, firstRoom)
	known := false // the server has described itself
	for range maxTurns {
		asked := s.now()
		if _, err := conn.Write(question); err != nil {
			break
		}
		reply, at, err := s.read(conn, &heard)
		said.bytes = len(heard)
		switch {
		case err != nil && !known:
			return 0, err
		case err != nil:
			return 0, nil
		}
		said.reply, known = reply, reply.Info != nil
		if reply.Echoed && reply.Answers(nonce) {
			took = at - asked
		}
		if reply.Challenge == nil {
			return took, nil
		}
		question = s.protocol.AppendQuery(question[:0], nonce, reply.Challenge)
		if known {
			conn.SetReadDeadline(time.Now().Add(s.patience))
		}
	}
	if !known {
		return 0, fmt.Errorf("prober: %w: a conversation without end", discovery.ErrMalformed)
	}
	return took, nil
}

// read reads until the protocol can parse all bytes since the connection began.
func (s *streams) read(conn net.Conn, heard *[]byte) (reply discovery.Reply, at time.Duration, err error) {
	for {
		if len(*heard) == maxStream {
			return reply, 0, fmt.Errorf("prober: %w: more than %d bytes", discovery.ErrMalformed, maxStream)
		}
		*heard = slices.Grow(*heard, 1)
		room := (*heard)[len(*heard):min(cap(*heard), maxStream)]
		n, err := conn.Read(room)
		at = s.now()
		*heard = (*heard)[:len(*heard)+n]
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("prober: %w: the server ended the conversation", discovery.ErrMalformed)
			}
			return reply, at, err
		}
		if reply, err := s.protocol.Parse([][]byte{*heard}); err != nil || !reply.Incomplete {
			return reply, at, err
		}
	}
}

// failure returns the meaning of a failed connection: the port is closed, or the
// machine cannot send. Anything else counts as silence.
func (s *streams) failure(t *talk, err error) *datagram {
	d := &datagram{peer: t.to}
	var timeout net.Error
	switch {
	case refusedBy(err):
		d.refused = true
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil
	default:
		d.spoken = &spoken{sent: t.sent, err: err}
	}
	return d
}

// begin does nothing at the start of a run. At its end it closes the connections left.
func (s *streams) begin(context.Context) (end func()) {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for to, t := range s.talks {
			t.end()
			delete(s.talks, to)
		}
	}
}

func (s *streams) takeRefused() []*datagram   { return nil }
func (s *streams) received() <-chan *datagram { return s.inbox }
func (s *streams) giveBack(*datagram)         {}
func (s *streams) addrs() []netip.AddrPort    { return nil }

// close ends all connections and waits for them.
func (s *streams) close() error {
	s.mu.Lock()
	s.shut()
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// streamLimits returns the options of a prober that asks over TCP.
func (o Options) streamLimits() Options {
	o.Rate /= routerWeight
	o.InFlight = min(cmp.Or(o.InFlight, maxStreams), maxStreams)
	return o
}
