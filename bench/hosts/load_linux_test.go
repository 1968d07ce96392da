package hosts

import (
	"context"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

func heapNow() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}

// watch watches the memory in use. The returned function stops it, and returns the most that it
// saw, in bytes.
func watch(t *testing.T, now func() float64) (most func() float64) {
	ctx, stop := context.WithCancel(t.Context())
	peak := make(chan float64)
	go func() {
		most := 0.0
		for ctx.Err() == nil {
			most = max(most, now())
			time.Sleep(20 * time.Millisecond)
		}
		peak <- most
	}()
	return func() float64 { stop(); return <-peak }
}

// maxResident returns the most memory that this process has used, in bytes.
func maxResident(t *testing.T) float64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return float64(usage.Maxrss) * 1024 // Linux counts in KiB
}
