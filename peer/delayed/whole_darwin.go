package delayed

import "golang.org/x/sys/unix"

// keepWhole has a socket's packets marked as not to be cut in pieces.
func keepWhole(fd uintptr, isIPv6 bool) error {
	if isIPv6 {
		return unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG, 1)
	}
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_DONTFRAG, 1)
}
