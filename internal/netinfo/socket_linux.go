package netinfo

import "golang.org/x/sys/unix"

// bookkeeping is 2, because Linux doubles the size asked for and reports the double (socket(7)).
const bookkeeping = 2

func canStamp(fd int) bool {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
}
