package peer_test

import (
	"flag"
	"os"
	"testing"

	"muster/internal/leak"
)

// TestMain lets many tests run in parallel, since they wait for hosts that are away.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "12")
	os.Exit(leak.Run(m))
}
