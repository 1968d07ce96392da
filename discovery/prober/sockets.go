package prober

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
)

const (
	// socketBuffer is asked of the kernel: a reader that has to wait for a
	// processor loses nothing. With the default of some 200 KB a busy machine
	// lost up to 4 % of 30,000 replies a second.
	socketBuffer = 4 << 20
	// largestDatagram: Rust servers send close to 64 KB in one.
	largestDatagram = 64 << 10
	// inboxLength bounds what waits for Run; the kernel's buffer does the rest.
	inboxLength = 256
	// writeTries: each pending ICMP error fails one write, which has then to be
	// repeated.
	writeTries = 8
	// readPause keeps a reader whose socket fails for a while from spinning.
	readPause = time.Millisecond
)

// errNoFamily: there is no socket for this kind of address.
var errNoFamily = errors.New("prober: no socket for this address family; the machine lacks it, or the local address is of the other")

// sockets are the one UDP socket per address family, and their readers.
//
//	        ┌─ send ◄──────────────── Run ─┐
//	socket ─┤                              │ owns all state
//	        └─► reader ──► inbox (bounded) ┘
type sockets struct {
	clock
	v4, v6    *net.UDPConn // nil where there is none
	datagrams datagrams
	inbox     chan *datagram
	closed    chan struct{}
	readers   sync.WaitGroup
	refused   []*datagram // seen while sending; Run's goroutine only
	keep      func(netip.AddrPort, []byte)
}

// openSockets binds to local: a zero Addr means any of both families.
func openSockets(local netip.Addr) (*sockets, error) {
	s := &sockets{clock: newClock(), inbox: make(chan *datagram, inboxLength), closed: make(chan struct{})}
	s.keep = func(server netip.AddrPort, quoted []byte) {
		s.refused = append(s.refused, s.refusal(server, quoted))
	}
	local = local.Unmap()
	var err4, err6 error
	if !local.Is6() {
		s.v4, err4 = open("udp4", local)
	}
	if !local.Is4() {
		s.v6, err6 = open("udp6", local)
	}
	if s.v4 == nil && s.v6 == nil {
		return nil, fmt.Errorf("prober: no UDP socket: %w", errors.Join(err4, err6))
	}
	for _, conn := range s.both() {
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
	// A smaller buffer than asked for is no reason to give up.
	conn.SetReadBuffer(socketBuffer)
	conn.SetWriteBuffer(socketBuffer)
	if err := prepare(conn, network == "udp6"); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// both lists the sockets there are.
func (s *sockets) both() []*net.UDPConn {
	var conns []*net.UDPConn
	for _, conn := range []*net.UDPConn{s.v4, s.v6} {
		if conn != nil {
			conns = append(conns, conn)
		}
	}
	return conns
}

// of is the socket that reaches addr, or nil.
func (s *sockets) of(addr netip.Addr) *net.UDPConn {
	if addr.Is4() {
		return s.v4
	}
	return s.v6
}

func (s *sockets) addrs() []netip.AddrPort {
	var addrs []netip.AddrPort
	for _, conn := range s.both() {
		addrs = append(addrs, discovery.Canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort()))
	}
	return addrs
}

// close ends the readers and waits for them.
func (s *sockets) close() error {
	close(s.closed)
	var errs []error
	for _, conn := range s.both() {
		errs = append(errs, conn.Close())
	}
	s.readers.Wait()
	return errors.Join(errs...)
}

// read hands over what arrives until the socket is closed.
func (s *sockets) read(conn *net.UDPConn) {
	body, control := make([]byte, largestDatagram), make([]byte, 256)
	failures := 0
	for {
		n, controlled, _, peer, err := conn.ReadMsgUDPAddrPort(body, control)
		at := arrived(s.clock, control[:controlled])
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // an ICMP error is pending, or the network is in trouble
			refusals(conn, func(server netip.AddrPort, quoted []byte) { s.post(s.refusal(server, quoted)) })
			if failures++; failures > 1 {
				time.Sleep(readPause)
			}
			continue
		}
		failures = 0
		d := s.datagrams.take(body[:n])
		d.peer, d.at, d.refused = discovery.Canonical(peer), at, false
		s.post(d)
	}
}

func (s *sockets) refusal(server netip.AddrPort, quoted []byte) *datagram {
	d := s.datagrams.take(quoted)
	d.peer, d.refused = server, true
	return d
}

func (s *sockets) post(d *datagram) {
	select {
	case s.inbox <- d:
	case <-s.closed:
	}
}

// send writes one packet and says when. The clock is read right before the
// write. A write that fails because of an ICMP error about an earlier packet is
// repeated; the error itself goes where takeRefused finds it.
func (s *sockets) send(packet []byte, to netip.AddrPort) (sent time.Duration, err error) {
	conn := s.of(to.Addr())
	if conn == nil {
		return 0, errNoFamily
	}
	for range writeTries {
		sent = s.now()
		if _, err = conn.WriteToUDPAddrPort(packet, to); err == nil || noBuffers(err) || denied(err) {
			return sent, err
		}
		refusals(conn, s.keep)
	}
	return sent, err
}

// takeRefused is what send saw of refusals since the last call.
func (s *sockets) takeRefused() []*datagram {
	refused := s.refused
	s.refused = s.refused[:0]
	return refused
}

func (s *sockets) received() <-chan *datagram { return s.inbox }

func (s *sockets) giveBack(d *datagram) { s.datagrams.give(d) }

// unblockWith makes writes that wait for room return when the context ends. The
// function it returns must be called before it is called again.
func (s *sockets) unblockWith(ctx context.Context) (undo func()) {
	s.setWriteDeadline(time.Time{})
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		s.setWriteDeadline(time.Unix(1, 0))
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

func (s *sockets) setWriteDeadline(t time.Time) {
	for _, conn := range s.both() {
		conn.SetWriteDeadline(t)
	}
}
