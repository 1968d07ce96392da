package host_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"muster/internal/leak"
)

// TestMain lets many tests run at a time, because parallel tests mostly wait for pauses that hosts
// make on purpose. Every answer of a host is held against the document of its endpoints.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "12")
	if err := checkEveryAnswer(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	status := leak.Run(m)
	for _, problem := range everyAnswer.problems {
		fmt.Println("the document of the endpoints is wrong:", problem)
		status = 1
	}
	os.Exit(status)
}
