package master_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets many tests run at a time, because they wait for silent masters.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "12")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // long lists leave much garbage; collecting it took a quarter of the time
	}
	os.Exit(m.Run())
}
