package prober

import (
	"encoding/binary"
	"net"
	"net/netip"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"muster/discovery"
)

// prepare asks the kernel to stamp arriving datagrams, and to keep ICMP errors with the
// address of their server.
func prepare(conn *net.UDPConn, v6 bool) error {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if v6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		if failed == nil {
			failed = unix.SetsockoptInt(int(fd), level, option, 1)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// handshakeTime returns the time from SYN to SYN-ACK, as the kernel has it: right after
// connecting, its smoothed RTT has no other sample. There is none if the SYN was
// repeated, because either may have been answered.
func handshakeTime(conn *net.TCPConn) (rtt time.Duration, ok bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.Rtt > 0 {
			rtt, ok = time.Duration(info.Rtt)*time.Microsecond, true
		}
	})
	return rtt, ok
}

// arrived reads the clock, and the kernel's stamp from the control messages.
func arrived(c clock, control []byte) arrival {
	t := time.Now()
	read := t.Sub(c.start)
	return arrival{kernel: read - age(t.UnixNano(), stamp(control)), read: read}
}

// stamp returns the kernel's time of arrival in nanoseconds of the real-time clock, or
// 0.
func stamp(control []byte) int64 {
	for len(control) > 0 {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return 0
		}
		if header.Level == unix.SOL_SOCKET && header.Type == unix.SO_TIMESTAMPNS && len(data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			return (*unix.Timespec)(unsafe.Pointer(&data[0])).Nano()
		}
		control = rest
	}
	return 0
}

// refusals takes ICMP errors about closed ports from the socket's error queue, with the
// part of our query that each quotes.
func refusals(conn *net.UDPConn, take func(server netip.AddrPort, quoted []byte)) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	quoted, control := make([]byte, usualBody), make([]byte, 2*controlRoom)
	raw.Control(func(fd uintptr) {
		for {
			n, controlled, _, from, err := unix.Recvmsg(int(fd), quoted, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return
			}
			if server, ok := addrPort(from); ok && portUnreachable(control[:controlled]) {
				take(server, quoted[:n])
			}
		}
	})
}

// portUnreachable reports whether the control messages contain an ICMP error that
// leaves no doubt. Other errors (no route, filtered) may pass.
func portUnreachable(control []byte) bool {
	for len(control) > 0 {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return false
		}
		isError := header.Level == unix.IPPROTO_IP && header.Type == unix.IP_RECVERR ||
			header.Level == unix.IPPROTO_IPV6 && header.Type == unix.IPV6_RECVERR
		if isError && len(data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})) {
			return isPortUnreachable(data)
		}
		control = rest
	}
	return false
}

// isPortUnreachable reads a sock_extended_err.
//
//	errno uint32 | origin uint8 | type uint8 | code uint8 | …
func isPortUnreachable(data []byte) bool {
	const (
		icmpUnreachable, icmpProtocol, icmpPort = 3, 2, 3 // RFC 792
		icmp6Unreachable, icmp6Port             = 1, 4    // RFC 4443
	)
	if binary.NativeEndian.Uint32(data) == 0 {
		return false
	}
	switch origin, kind, code := data[4], data[5], data[6]; origin {
	case unix.SO_EE_ORIGIN_ICMP:
		return kind == icmpUnreachable && (code == icmpPort || code == icmpProtocol)
	case unix.SO_EE_ORIGIN_ICMP6:
		return kind == icmp6Unreachable && code == icmp6Port
	}
	return false
}

func addrPort(sa unix.Sockaddr) (netip.AddrPort, bool) {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), true
	case *unix.SockaddrInet6:
		addr := netip.AddrFrom16(sa.Addr)
		if ifi, err := net.InterfaceByIndex(int(sa.ZoneId)); sa.ZoneId != 0 && err == nil {
			addr = addr.WithZone(ifi.Name) // as package net spells it
		}
		return discovery.Canonical(netip.AddrPortFrom(addr, uint16(sa.Port))), true
	}
	return netip.AddrPort{}, false
}

// fineSleep makes naps on this goroutine's thread exact to some microseconds, and returns a
// function that undoes this. Go's timers are exact to a millisecond.
func fineSleep() (nap func(time.Duration), undo func()) {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	nap = func(d time.Duration) {
		ts := unix.NsecToTimespec(int64(d))
		unix.Nanosleep(&ts, nil) // a signal may shorten it: the caller looks at the clock
	}
	return nap, func() {
		unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // back to the default
		runtime.UnlockOSThread()
	}
}
