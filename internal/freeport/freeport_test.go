package freeport

import (
	"net"
	"testing"
)

// TestFree checks that ports are free, never the same, and never one where somebody listens.
func TestFree(t *testing.T) {
	taken, err := net.Listen("tcp", TCP(t))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	chosen.Add(-1) // the same port is next
	seen := map[string]bool{}
	for range 50 {
		for _, free := range []func(testing.TB) string{TCP, UDP} {
			at := free(t)
			if seen[at] || at == taken.Addr().String() {
				t.Errorf("%s is given away twice", at)
			}
			seen[at] = true
		}
	}
}
