//go:build !windows

package prober

import (
	"errors"
	"syscall"
	"time"
)

// clock is monotonic and starts near zero.
type clock struct{ start time.Time }

func newClock() clock { return clock{start: time.Now()} }

func (c clock) now() time.Duration { return time.Since(c.start) }

// noBuffers reports whether the machine, not the network, has no room for a packet or a
// connection.
func noBuffers(err error) bool {
	return errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE)
}

// reset reports whether the other side broke a connection off.
func reset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// refusedBy reports whether the port of a connection was closed.
func refusedBy(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// denied reports whether the machine's own rules forbid a packet.
func denied(err error) bool { return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) }
