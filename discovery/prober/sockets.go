package prober

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"muster/discovery"
)

const (
	// socketBuffer is the buffer size that the kernel is asked for, so that a reader
	// that has to wait for a processor loses nothing. With the default of some 200 KB a
	// busy machine lost up to 4 % of 30,000 replies a second.
	socketBuffer = 4 << 20
	// largestDatagram is the largest UDP datagram: Rust servers send close to 64 KB in
	// one.
	largestDatagram = 64 << 10
	// inboxLength bounds the datagrams that wait for Run; the kernel's buffer does the
	// rest.
	inboxLength = 256
	// writeTries bounds the repeats of a write: each pending ICMP error fails one.
	writeTries = 8
	// readPause keeps a reader from spinning while its socket fails.
	readPause = time.Millisecond
	// controlRoom is more than the kernel tells about a datagram, in bytes.
	controlRoom = 256
	// usualBody has room for most datagrams of game servers, in bytes; the few larger
	// bodies are not reused.
	usualBody = 2048
)

// errNoFamily: there is no socket for this kind of address.
var errNoFamily = errors.New("prober: no socket for this address family; the machine lacks it, or the local address is of the other")

// SocketError reports that the machine gives no UDP socket at all, or none at the
// requested local address.
type SocketError struct {
	Local netip.Addr // zero for any
	Err   error
}

func (e *SocketError) Error() string {
	why := e.Err
	if call := new(os.SyscallError); errors.As(e.Err, &call) {
		why = call.Err
	}
	if e.Local.IsValid() {
		return fmt.Sprintf("prober: this machine gives Muster no UDP at %v: %v", e.Local, why)
	}
	return fmt.Sprintf("prober: this machine gives Muster no UDP, and nothing can be measured without: %v", why)
}

func (e *SocketError) Unwrap() error { return e.Err }

// Hint returns advice for the user.
func (e *SocketError) Hint() string {
	if e.Local.IsValid() {
		return "is that address this machine's own?"
	}
	return "does a firewall, a security program or a sandbox forbid UDP? muster doctor says what works here"
}

// arrival is when a datagram came, on the prober's monotonic clock.
type arrival struct {
	kernel time.Duration // when the kernel took it, if known
	read   time.Duration // when the reader had it
}

// since returns the time from a query to the arrival. A kernel time before the query is
// a broken stamp: the reader's time is late, but true.
func (a arrival) since(sent time.Duration) time.Duration {
	if a.kernel < sent {
		return a.read - sent
	}
	return a.kernel - sent
}

// maxAge is the longest that a datagram can have waited for its reader.
const maxAge = 10 * time.Second

// age returns how long a datagram waited between the kernel's stamp and the reading of
// the clock (both in nanoseconds of the real-time clock, stamp 0: none).
//
// Only this short difference is taken on the clock that can be set; all else is
// monotonic. So a clock step matters only within it. It then shows as a negative or
// absurd age, and the stamp is not believed.
func age(now, stamp int64) time.Duration {
	age := time.Duration(now - stamp)
	if stamp == 0 || age < 0 || age > maxAge {
		return 0
	}
	return age
}

// datagram is one message from a reader.
type datagram struct {
	// peer is the sender, or for an ICMP error the server that we had asked.
	peer netip.AddrPort
	at   arrival
	// refused marks an ICMP error; body is then the part of our query that it quotes.
	refused bool
	body    []byte
	// spoken is the outcome of a connection, instead of a body; nil on UDP.
	spoken *spoken
}

// sockets are the one UDP socket per address family, and their readers.
//
//	        ┌─ send ◄──────────────── Run ─┐
//	socket ─┤                              │ owns all state
//	        └─► reader ──► inbox (bounded) ┘
type sockets struct {
	clock
	v4, v6  *net.UDPConn   // nil where there is none
	both    []*net.UDPConn // those that exist
	pool    sync.Pool      // of datagrams
	inbox   chan *datagram
	closed  chan struct{}
	readers sync.WaitGroup
	refused []*datagram // seen while sending; Run's goroutine only
}

// openSockets binds to local: a zero Addr means any of both families.
func openSockets(local netip.Addr) (*sockets, error) {
	s := &sockets{clock: newClock(), inbox: make(chan *datagram, inboxLength), closed: make(chan struct{})}
	local = local.Unmap()
	var err4, err6 error
	if !local.Is6() {
		s.v4, err4 = open("udp4", local)
	}
	if !local.Is4() {
		s.v6, err6 = open("udp6", local)
	}
	if s.v4 == nil && s.v6 == nil {
		return nil, &SocketError{Local: local, Err: cmp.Or(err4, err6)}
	}
	for _, conn := range []*net.UDPConn{s.v4, s.v6} {
		if conn == nil {
			continue
		}
		s.both = append(s.both, conn)
		s.readers.Go(func() { s.read(conn) })
	}
	return s, nil
}

func open(network string, local netip.Addr) (*net.UDPConn, error) {
	bind := &net.UDPAddr{}
	if local.IsValid() {
		bind = net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	}
	conn, err := net.ListenUDP(network, bind)
	if err != nil {
		return nil, err
	}
	// A smaller buffer is no reason to give up.
	conn.SetReadBuffer(socketBuffer)
	conn.SetWriteBuffer(socketBuffer)
	if err := prepare(conn, network == "udp6"); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (s *sockets) addrs() []netip.AddrPort {
	var addrs []netip.AddrPort
	for _, conn := range s.both {
		addrs = append(addrs, discovery.Canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort()))
	}
	return addrs
}

// close ends the readers and waits for them.
func (s *sockets) close() error {
	close(s.closed)
	var errs []error
	for _, conn := range s.both {
		errs = append(errs, conn.Close())
	}
	s.readers.Wait()
	return errors.Join(errs...)
}

// read hands over datagrams until the socket is closed.
func (s *sockets) read(conn *net.UDPConn) {
	body, control := make([]byte, largestDatagram), make([]byte, controlRoom)
	failures := 0
	for {
		n, controlled, _, peer, err := conn.ReadMsgUDPAddrPort(body, control)
		at := arrived(s.clock, control[:controlled])
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // an ICMP error is pending, or the network is in trouble
			refusals(conn, func(server netip.AddrPort, quoted []byte) { s.post(s.take(server, arrival{}, true, quoted)) })
			if failures++; failures > 1 {
				time.Sleep(readPause)
			}
			continue
		}
		failures = 0
		s.post(s.take(discovery.Canonical(peer), at, false, body[:n]))
	}
}

func (s *sockets) post(d *datagram) {
	select {
	case s.inbox <- d:
	case <-s.closed:
	}
}

// take fills a datagram from the pool.
func (s *sockets) take(peer netip.AddrPort, at arrival, refused bool, body []byte) *datagram {
	d, ok := s.pool.Get().(*datagram)
	if !ok {
		d = &datagram{body: make([]byte, 0, usualBody)}
	}
	*d = datagram{peer: peer, at: at, refused: refused, body: append(d.body[:0], body...)}
	return d
}

// giveBack puts a datagram into the pool.
func (s *sockets) giveBack(d *datagram) {
	if cap(d.body) == usualBody {
		s.pool.Put(d)
	}
}

// send writes one packet and returns the time. The clock is read right before the
// write. A write that fails because of an ICMP error about an earlier packet is
// repeated. takeRefused finds the error itself.
func (s *sockets) send(packet []byte, to netip.AddrPort) (sent time.Duration, err error) {
	conn := s.v6
	if to.Addr().Is4() {
		conn = s.v4
	}
	if conn == nil {
		return 0, errNoFamily
	}
	for range writeTries {
		sent = s.now()
		if _, err = conn.WriteToUDPAddrPort(packet, to); err == nil || noBuffers(err) || denied(err) {
			return sent, err
		}
		refusals(conn, func(server netip.AddrPort, quoted []byte) {
			s.refused = append(s.refused, s.take(server, arrival{}, true, quoted))
		})
	}
	return sent, err
}

// takeRefused returns the refusals that send saw since the last call.
func (s *sockets) takeRefused() []*datagram {
	refused := s.refused
	s.refused = s.refused[:0]
	return refused
}

func (s *sockets) received() <-chan *datagram { return s.inbox }

// release does nothing: one socket is for all servers.
func (s *sockets) release(netip.AddrPort) {}

// begin makes writes that wait for room return when the context ends. The returned
// function must be called before begin is called again.
func (s *sockets) begin(ctx context.Context) (end func()) {
	setDeadline := func(t time.Time) {
		for _, conn := range s.both {
			conn.SetWriteDeadline(t)
		}
	}
	setDeadline(time.Time{})
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		setDeadline(time.Unix(1, 0))
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}
