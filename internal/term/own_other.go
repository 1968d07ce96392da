//go:build !windows

package term

// IsOwn reports whether the terminal was opened for this program alone. Only Windows does that.
func IsOwn() bool { return false }
