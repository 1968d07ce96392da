package sim

import (
	"os"
	"testing"
)

// openFiles is how many files this process has open.
func openFiles(tb testing.TB) int {
	tb.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(entries)
}
