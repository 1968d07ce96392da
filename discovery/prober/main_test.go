package prober

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests run at a time: they wait for connections that are late.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "12")
	os.Exit(m.Run())
}
