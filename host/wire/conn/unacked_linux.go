package conn

import "golang.org/x/sys/unix"

// unacknowledged returns how many sent bytes the other side's system has not acknowledged, 0 if it is
// unknown.
func unacknowledged(fd uintptr) int {
	n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}
