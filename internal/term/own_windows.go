package term

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// IsOwn reports whether the console is this program's alone: the system has opened it for
// a program that something without one has started, and it closes at the end.
func IsOwn() bool {
	var programs [2]uint32
	n, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList").
		Call(uintptr(unsafe.Pointer(&programs[0])), uintptr(len(programs)))
	return n == 1
}
