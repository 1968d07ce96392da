package simulated

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// garbagePercent is how far the heap may grow before the collector runs. Sessions leave much
// garbage, and on two cores the collector would take a quarter of the time.
const garbagePercent = 400

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	os.Exit(m.Run())
}
