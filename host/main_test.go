package host_test

import (
	"flag"
	"os"
	"testing"

	"muster/internal/leak"
)

// TestMain lets many tests run at a time, because parallel tests mostly wait for pauses that hosts
// make on purpose.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "12")
	os.Exit(leak.Run(m))
}
