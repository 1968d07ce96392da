package prober

import "golang.org/x/sys/windows"

// noBuffers reports whether the machine, not the network, has no room for a packet.
func noBuffers(err error) bool { return isErrno(err, windows.WSAENOBUFS) }

// denied reports whether the machine's own rules forbid a packet.
func denied(err error) bool { return isErrno(err, windows.WSAEACCES) }
