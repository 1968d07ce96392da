//go:build !windows

package prober

import "syscall"

// noBuffers reports whether the machine, not the network, has no room for a packet.
func noBuffers(err error) bool { return isErrno(err, syscall.ENOBUFS, syscall.ENOMEM) }

// denied reports whether the machine's own rules forbid a packet.
func denied(err error) bool { return isErrno(err, syscall.EPERM, syscall.EACCES) }
