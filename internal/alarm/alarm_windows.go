package alarm

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel      = windows.NewLazySystemDLL("kernel32.dll")
	createTimer = kernel.NewProc("CreateWaitableTimerExW")
	setTimer    = kernel.NewProc("SetWaitableTimerEx")
)

// Flags and rights of a waitable timer (synchapi.h). Windows has the high resolution since version 1803 of Windows 10.
const (
	highResolution = 0x2
	allAccess      = 0x1f0003
)

// Alarm sleeps to half a millisecond, in a timer of high resolution. Windows before 10 has only
// timers as exact as its clock's ticks.
type Alarm struct{ timer, event windows.Handle }

// New returns an alarm, which holds two handles of the system until Close.
func New() (*Alarm, error) {
	event, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("alarm: event: %w", err)
	}
	for _, flags := range []uintptr{highResolution, 0} {
		var timer uintptr
		if timer, _, err = createTimer.Call(0, 0, flags, allAccess); timer != 0 {
			return &Alarm{windows.Handle(timer), event}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("alarm: timer: %w", err), windows.CloseHandle(event))
}

// Sleep returns after d, or earlier if Ring is called. Only one goroutine may sleep.
func (a *Alarm) Sleep(d time.Duration) {
	due := -max(1, d.Nanoseconds()/100) // negative: from now on, in units of 100 ns
	_, _, _ = setTimer.Call(uintptr(a.timer), uintptr(unsafe.Pointer(&due)), 0, 0, 0, 0, 0)
	_, _ = windows.WaitForMultipleObjects([]windows.Handle{a.timer, a.event}, false, windows.INFINITE)
}

// Ring ends the current sleep, or the next one at once.
func (a *Alarm) Ring() { _ = windows.SetEvent(a.event) }

// Close ends the alarm. Nobody may sleep or ring any more.
func (a *Alarm) Close() error {
	return errors.Join(windows.CloseHandle(a.timer), windows.CloseHandle(a.event))
}
