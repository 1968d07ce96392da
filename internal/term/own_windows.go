package term

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// IsOwn reports whether this program is the only one in its console. Windows opened that console
// because the program was started without one, and closes it when the program ends.
func IsOwn() bool {
	var programs [2]uint32
	n, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList").
		Call(uintptr(unsafe.Pointer(&programs[0])), uintptr(len(programs)))
	return n == 1
}
