package prober

import (
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// clock is monotonic and starts near zero. Go's own clock moves in steps of up
// to 15 ms on Windows (golang/go#67066); the performance counter does not.
type clock struct {
	counter   *windows.LazyProc
	start     int64
	frequency int64 // counts per second
}

func newClock() clock {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	c := clock{counter: kernel.NewProc("QueryPerformanceCounter")}
	c.frequency = c.read(kernel.NewProc("QueryPerformanceFrequency"))
	c.start = c.read(c.counter)
	return c
}

func (c clock) now() time.Duration {
	counts := c.read(c.counter) - c.start
	whole, rest := counts/c.frequency, counts%c.frequency
	return time.Duration(whole)*time.Second + time.Duration(rest)*time.Second/time.Duration(c.frequency)
}

// read cannot fail: Microsoft promises both calls since Windows XP.
func (c clock) read(proc *windows.LazyProc) int64 {
	var value int64
	proc.Call(uintptr(unsafe.Pointer(&value)))
	return value
}

// noBuffers reports whether the machine, not the network, has no room for a packet.
func noBuffers(err error) bool { return errors.Is(err, windows.WSAENOBUFS) }

// reset reports whether the other side broke a connection off.
func reset(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// refusedBy reports whether the port of a connection was closed.
func refusedBy(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// denied reports whether the machine's own rules forbid a packet.
func denied(err error) bool { return errors.Is(err, windows.WSAEACCES) }
