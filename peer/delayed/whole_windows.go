package delayed

import "golang.org/x/sys/windows"

// keepWhole has a socket's packets marked as not to be cut in pieces.
func keepWhole(fd uintptr, isIPv6 bool) error {
	if isIPv6 {
		return windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_IPV6, windows.IPV6_MTU_DISCOVER, windows.IP_PMTUDISC_DO)
	}
	return windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_IP, windows.IP_MTU_DISCOVER, windows.IP_PMTUDISC_DO)
}
