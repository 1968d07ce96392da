package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// alarm sleeps to the microsecond. Go's own timers are less exact: the runtime waits in epoll,
// which counts whole milliseconds.
type alarm struct {
	event   int // eventfd, written by ring
	precise bool
}

func newAlarm() (*alarm, error) {
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("fleet: eventfd: %w", err)
	}
	return &alarm{event: event}, nil
}

// sleep returns after d, or earlier if ring is called. Only one goroutine may sleep, and it keeps
// its thread to the end. The kernel's 50 µs of timer slack are removed from that thread alone.
func (a *alarm) sleep(d time.Duration) {
	if !a.precise {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it, 50 µs worse
		a.precise = true
	}
	timeout := unix.NsecToTimespec(d.Nanoseconds())
	fds := []unix.PollFd{{Fd: int32(a.event), Events: unix.POLLIN}}
	if n, _ := unix.Ppoll(fds, &timeout, nil); n > 0 {
		var rings [8]byte
		_, _ = unix.Read(a.event, rings[:]) // only empties it
	}
}

// ring ends the current sleep, or the next one at once.
func (a *alarm) ring() {
	one := binary.NativeEndian.AppendUint64(nil, 1)
	for {
		if _, err := unix.Write(a.event, one); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (a *alarm) close() error { return unix.Close(a.event) }
