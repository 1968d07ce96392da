package leak

import (
	"strings"
	"testing"
)

// TestMarked checks that a test sees only its own goroutines and those that they started, while others run.
func TestMarked(t *testing.T) {
	for _, name := range []string{"one", `an "odd" name`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Mark(t)
			before, _ := Marked(t)
			end, begun := make(chan struct{}), make(chan struct{})
			const started = 3
			for range started {
				go func() {
					go func() { begun <- struct{}{}; <-end }()
				}()
			}
			for range started {
				<-begun
			}
			if !waits(func() bool { now, _ := Marked(t); return now == before+started }) {
				now, stacks := Marked(t)
				t.Errorf("%d goroutines before, %d with %d more\n%s", before, now, started, strings.Join(stacks, "\n\n"))
			}
			close(end)
			if !waits(func() bool { now, _ := Marked(t); return now == before }) {
				t.Error("those that have ended are still told")
			}
		})
	}
}
