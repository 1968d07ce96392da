//go:build unix

package netinfo

import (
	"math"
	"net"

	"golang.org/x/sys/unix"
)

// granted returns how many bytes a socket's receive buffer holds, and whether the kernel stamps arrivals.
func granted(conn *net.UDPConn) (buffer int, stamps bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	raw.Control(func(fd uintptr) {
		if n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil {
			buffer = n / bookkeeping
		}
		stamps = canStamp(int(fd))
	})
	return buffer, stamps
}

// FileLimit returns how many files may be open at once, 0 without a limit.
func FileLimit() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= math.MaxInt64 {
		return 0
	}
	return uint64(limit.Cur)
}
