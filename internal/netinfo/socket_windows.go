package netinfo

import (
	"net"

	"golang.org/x/sys/windows"
)

// granted returns how many bytes a socket's receive buffer holds, and whether the kernel stamps arrivals.
func granted(conn *net.UDPConn) (buffer int, stamps bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	raw.Control(func(fd uintptr) {
		if n, err := windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_RCVBUF); err == nil {
			buffer = n
		}
	})
	return buffer, false
}

// FileLimit returns how many files may be open at once, 0 without a limit.
func FileLimit() uint64 { return 0 }
