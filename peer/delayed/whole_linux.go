package delayed

import "golang.org/x/sys/unix"

// keepWhole has a socket's packets marked as not to be cut in pieces.
func keepWhole(fd uintptr, isIPv6 bool) error {
	if isIPv6 {
		return unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO)
	}
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
}
