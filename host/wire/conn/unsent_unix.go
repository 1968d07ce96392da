//go:build linux || darwin

package conn

import "golang.org/x/sys/unix"

// limitUnsent makes the system take no more for a connection than it can soon send.
func limitUnsent(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
}
