//go:build !windows

package prober

import "syscall"

// noBuffers says that the machine, not the network, has no room for a packet.
func noBuffers(err error) bool { return isErrno(err, syscall.ENOBUFS, syscall.ENOMEM) }

// denied says that the machine's own rules forbid a packet.
func denied(err error) bool { return isErrno(err, syscall.EPERM, syscall.EACCES) }
