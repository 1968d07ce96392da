package sim

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// garbagePercent is how much memory the tests use before the collector works: sessions
// leave much behind, and a worker of two cores would spend a quarter of its time on that.
const garbagePercent = 400

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	os.Exit(m.Run())
}
