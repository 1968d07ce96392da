package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes has the console take escape sequences, which old ones do
// not.
func understandsEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
