package fleet

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/discovery"
)

// With each datagram Linux tells the queried address and the time of arrival. With each reply it
// takes the address to send from.
const (
	// pktinfoFrom and pktinfoTo are the offsets in an in_pktinfo of the address to send from and of
	// the queried one.
	pktinfoFrom = 4
	pktinfoTo   = 8
	pktinfoLen  = 12
	// timestampLen is the length of a struct __kernel_timespec.
	timestampLen = 16
	// controlRoom is more than both need together, in bytes.
	controlRoom = 128
	// maxStampAge limits the effect of a step of the system's clock.
	maxStampAge = time.Second
)

// wire holds the control messages of a datagram.
type wire struct{ received, sent []byte }

func newWire() wire {
	return wire{received: make([]byte, controlRoom), sent: unix.PktInfo4(&unix.Inet4Pktinfo{})}
}

// prepareSocket asks for control messages.
func prepareSocket(_, _ string, raw syscall.RawConn) (err error) {
	control := func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		// Only this machine should be heard. Where the system does not allow that (Linux before
		// 5.7), strangers still get no answer: their queries do not go to an address of
		// 127.0.0.0/8.
		_ = unix.BindToDevice(int(fd), "lo")
		// Before Linux 5.1 the time of reading must do.
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	}
	if failed := raw.Control(control); failed != nil {
		return failed
	}
	return err
}

// prepareListener restricts connections to this machine.
func prepareListener(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) { _ = unix.BindToDevice(int(fd), "lo") })
}

func (s *socket) read(buf []byte) (query, error) {
	n, oobn, _, from, err := s.conn.ReadMsgUDPAddrPort(buf, s.received)
	if err != nil {
		return query{}, err
	}
	q := query{payload: buf[:n], from: discovery.Canonical(from), received: time.Now()}
	q.readControl(s.received[:oobn])
	return q, nil
}

func (q *query) readControl(b []byte) {
	for len(b) > 0 {
		header, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return
		}
		switch {
		case header.Type == unix.IP_PKTINFO && len(data) >= pktinfoLen:
			q.to = netip.AddrFrom4([4]byte(data[pktinfoTo:]))
		case header.Type == unix.SO_TIMESTAMPNS_NEW && len(data) >= timestampLen:
			q.received = q.received.Add(-stampAge(data, q.received))
		}
		b = rest
	}
}

// stampAge returns how long ago the kernel's stamp was set.
func stampAge(stamp []byte, now time.Time) time.Duration {
	seconds, nanos := binary.NativeEndian.Uint64(stamp), binary.NativeEndian.Uint64(stamp[8:])
	age := time.Duration(now.UnixNano() - int64(seconds)*int64(time.Second) - int64(nanos))
	return min(max(age, 0), maxStampAge)
}

// write sends a datagram from one of the socket's addresses. Only one goroutine
// may write.
func (s *socket) write(b []byte, from netip.Addr, to netip.AddrPort) error {
	addr := from.As4()
	copy(s.sent[unix.CmsgLen(0)+pktinfoFrom:], addr[:])
	_, _, err := s.conn.WriteMsgUDPAddrPort(b, s.sent, to)
	return err
}
