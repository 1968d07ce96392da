package master_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests run at a time, because they wait for silent masters.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "12")
	os.Exit(m.Run())
}
