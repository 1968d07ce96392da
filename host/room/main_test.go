package room_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// garbagePercent is how much memory the tests use before the collector works. Each test
// makes many short-lived rooms, and the collector would take two fifths of the time.
const garbagePercent = 400

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	os.Exit(m.Run())
}
