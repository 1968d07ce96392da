//go:build !windows

package term

// IsOwn reports whether the terminal was opened for this program alone, which only
// Windows does.
func IsOwn() bool { return false }
