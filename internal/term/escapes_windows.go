package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes switches the console to escape sequences, and reports whether that worked. Old
// consoles cannot.
func understandsEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
