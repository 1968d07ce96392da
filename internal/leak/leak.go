// Package leak finds the goroutines that a test leaves behind, even while other tests run in parallel.
package leak

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// label marks the goroutines of one test. Goroutines inherit it.
	label = "muster/leak"
	// patience is how long goroutines may take to end on a busy machine.
	patience = 30 * time.Second
	pause    = 10 * time.Millisecond
)

// Mark marks the calling goroutine, and all that it will start, as the test's own.
func Mark(t testing.TB) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(label, t.Name())))
}

// Check marks the test's goroutine, and fails the test if more goroutines are left at its end than exist now. Call it
// on the test's own goroutine.
func Check(t testing.TB) {
	t.Helper()
	Mark(t)
	before, _ := Marked(t)
	t.Cleanup(func() {
		var now int
		var stacks []string
		if !waits(func() bool { now, stacks = Marked(t); return now <= before }) {
			t.Errorf("%d goroutines before, %d after\n%s", before, now, strings.Join(stacks, "\n\n"))
		}
	})
}

// Run runs all tests. It fails if goroutines are left after the last one, however they started: a timer, for example,
// passes no mark on.
func Run(m *testing.M) int {
	// The goroutine that receives signals lives as long as the process. A fuzzer asks for signals; asking here first
	// counts that goroutine among the initial ones.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	before := runtime.NumGoroutine()
	code := m.Run()
	if !waits(func() bool { return runtime.NumGoroutine() <= before }) {
		fmt.Fprintf(os.Stderr, "%d goroutines before all tests, %d after:\n%s", before, runtime.NumGoroutine(), strings.Join(profile(), "\n\n"))
		return 1
	}
	return code
}

// waits reports whether a condition becomes true in time.
func waits(is func() bool) bool {
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		http.DefaultClient.CloseIdleConnections()
		if is() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

var head = regexp.MustCompile(`^(\d+) @ `)

// Marked counts a test's marked goroutines, and returns their distinct stacks.
func Marked(t testing.TB) (n int, stacks []string) {
	mark := fmt.Sprintf("# labels: {%q:%q}\n", label, t.Name())
	stacks = slices.DeleteFunc(profile(), func(stack string) bool { return !strings.Contains(stack, mark) })
	for _, stack := range stacks {
		alike, _ := strconv.Atoi(head.FindStringSubmatch(stack)[1])
		n += alike
	}
	return n, stacks
}

func profile() []string {
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 1) // a buffer never fails
	_, stacks, _ := strings.Cut(b.String(), "\n")
	return strings.Split(strings.TrimSpace(stacks), "\n\n")
}
