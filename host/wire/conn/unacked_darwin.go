package conn

import "golang.org/x/sys/unix"

// unacknowledged returns how many sent bytes the other side's system has not acknowledged, 0 if it is
// unknown.
func unacknowledged(fd uintptr) int {
	n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NWRITE)
	if err != nil {
		return 0
	}
	return n
}
