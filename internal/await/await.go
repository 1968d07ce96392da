// Package await waits in tests for what others do and tell nobody: goroutines, processes,
// hosts.
package await

import (
	"testing"
	"time"
)

const (
	// patience is how long a busy machine may take.
	patience = time.Minute
	// every is the time from one look to the next.
	every = 5 * time.Millisecond
)

// Until waits until a condition holds. After a minute it fails the test with the message,
// whose arguments are formatted only then.
func Until(t testing.TB, is func() bool, message string, args ...any) {
	t.Helper()
	Within(t, patience, is, message, args...)
}

// Within waits likewise, with a patience of its own.
func Within(t testing.TB, patience time.Duration, is func() bool, message string, args ...any) {
	t.Helper()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience); !is(); <-ticks.C {
		if time.Now().After(deadline) {
			t.Fatalf(message, args...)
		}
	}
}
