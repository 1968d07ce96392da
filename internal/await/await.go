// Package await makes tests wait for goroutines, processes and hosts that do not announce what they do.
package await

import (
	"testing"
	"time"
)

const (
	// patience is how long a busy machine may take.
	patience = time.Minute
	// every is the time between two checks.
	every = 5 * time.Millisecond
)

// Until waits until a condition holds. After a minute it fails the test with the message, whose arguments are formatted
// only then.
func Until(t testing.TB, is func() bool, message string, args ...any) {
	t.Helper()
	Within(t, patience, is, message, args...)
}

// Within is Until with a patience of its own.
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
